"""Fit LLM conversations to a token budget, keep them valid, and keep what is removed.

::

    result = holdfast.compress(messages, budget="8k")
    result.messages  # what to send
    result.restore()  # what was given

``compress`` fits a list of messages or a request body, ``Session`` and ``open`` store conversations
and fit them, ``AgentLoop`` and ``tool`` run an agent, and ``holdfast.http`` fits what a vendor's
package sends.

Names are imported on first use, so that ``import holdfast`` stays fast.
"""

from importlib import import_module
from warnings import warn

from holdfast.moved import RENAMED, keep_old_names

TYPE_CHECKING = False  # as in ``typing``, which is not loaded for it: the command line starts here
if TYPE_CHECKING:
    # as one writes holdfast.http.client
    from holdfast import agent, cost, http  # noqa: F401 # pyright: ignore[reportUnusedImport]
    from holdfast.agent import AgentLoop, remember_tool, search_tool, tool
    from holdfast.api import (
        ContextCompressor,
        TokenBreakdown,
        acompress,
        acompress_many,
        compress,
        compress_many,
        count,
        sample,
    )
    from holdfast.calls.cache import CompressionCache
    from holdfast.calls.lineup import CallLimits
    from holdfast.config import Config, load_config
    from holdfast.evaluation import Evaluation, Probe, evaluate
    from holdfast.in_place import Pruned, prune_old_tool_outputs
    from holdfast.kernel.budget import Budget
    from holdfast.kernel.errors import (
        BudgetError,
        ConfigError,
        ContextOverflowError,
        CorruptError,
        FormatError,
        HoldfastError,
        InputError,
        IntegrityError,
        LockedError,
        MissingExtraError,
        ModelError,
        NotFoundError,
        StoreError,
        StrategyError,
    )
    from holdfast.kernel.integrity import Violation
    from holdfast.model_usage import ModelCall, ModelUsage
    from holdfast.recovery import RecallTool, delete_summaries, recall, recall_tool
    from holdfast.reports import report
    from holdfast.result import CompressionMetrics, CompressionResult, Conversation, Step, restore
    from holdfast.session import Session, View
    from holdfast.single_text import ShrunkText, shrink
    from holdfast.threads import ThreadStore, open  # noqa: A004 - as one opens a file
    from holdfast.validity import repair, validate

__version__ = "0.1.0"

__all__ = [
    "AgentLoop",
    "Budget",
    "BudgetError",
    "CallLimits",
    "CompressionCache",
    "CompressionMetrics",
    "CompressionResult",
    "Config",
    "ConfigError",
    "ContextCompressor",
    "ContextOverflowError",
    "Conversation",
    "CorruptError",
    "Evaluation",
    "FormatError",
    "HoldfastError",
    "InputError",
    "IntegrityError",
    "LockedError",
    "MissingExtraError",
    "ModelCall",
    "ModelError",
    "ModelUsage",
    "NotFoundError",
    "Probe",
    "Pruned",
    "RecallTool",
    "Session",
    "ShrunkText",
    "Step",
    "StoreError",
    "StrategyError",
    "ThreadStore",
    "TokenBreakdown",
    "View",
    "Violation",
    "acompress",
    "acompress_many",
    "compress",
    "compress_many",
    "count",
    "delete_summaries",
    "evaluate",
    "load_config",
    "open",
    "prune_old_tool_outputs",
    "recall",
    "recall_tool",
    "remember_tool",
    "repair",
    "report",
    "restore",
    "sample",
    "search_tool",
    "shrink",
    "tool",
    "validate",
]

_HOMES = """
    agent AgentLoop remember_tool search_tool tool
    api ContextCompressor TokenBreakdown acompress acompress_many compress compress_many count
    api sample
    calls.cache CompressionCache
    calls.lineup CallLimits
    config Config load_config
    evaluation Evaluation Probe evaluate
    in_place Pruned prune_old_tool_outputs
    kernel.budget Budget
    kernel.integrity Violation
    model_usage ModelCall ModelUsage
    result CompressionMetrics CompressionResult Conversation Step restore
    recovery RecallTool delete_summaries recall recall_tool
    reports report
    session Session View
    threads ThreadStore open
    single_text ShrunkText shrink
    validity repair validate
"""
"""Modules, each with the public names in it; the others are errors."""

_DOORS = ("agent", "cost", "http")


def __getattr__(name: str) -> object:
    """Import the public name from its module, or a module that is public itself."""
    if name in _DOORS:
        return import_module(f"holdfast.{name}")
    if name in RENAMED:
        problem = f"holdfast.{name} is deprecated: use holdfast.{RENAMED[name]}"
        warn(problem, DeprecationWarning, stacklevel=2)
        return __getattr__(RENAMED[name])
    if name not in __all__:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    _imports.before_first_use()
    homes = (line.split() for line in _HOMES.splitlines())
    home = next((words[0] for words in homes if name in words[1:]), "kernel.errors")
    value: object = getattr(import_module(f"holdfast.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, *_DOORS, "__version__"]


keep_old_names()
# a package is imported after its old names
_imports = import_module("holdfast.kernel.imports")
_imports.ImportsAtFork(last=True)
