"""The vocabularies of rs-bpe, compiled in; a fork awaits what a module of this package imports."""

from importlib import import_module
from typing import Any

VOCABULARIES: Any = import_module("rs_bpe.bpe").openai  # it has no types of its own
