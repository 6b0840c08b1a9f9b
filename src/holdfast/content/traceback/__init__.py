"""Stack traces: the chain of causes, then the frames nearest to the failure."""

from .kind import Traceback
from .llm4s import llm4s_error

__all__ = ["Traceback", "llm4s_error"]
