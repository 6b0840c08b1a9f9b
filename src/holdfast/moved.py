"""Documented names that modules and functions had; they work for one more release and warn."""

import sys
from importlib import import_module
from types import ModuleType
from warnings import warn

_MOVED = """
    agent agent.loop
    agent.tools agent.functions
    calls.cache cache cache.compression_cache cache.lru
    calls.caller calling.embedding
    calls.event_loop waiting
    compressors.dedupe compressors.dedupe.leaders
    compressors.digest compressors.blocks compressors.structured_info
    compressors.rank compressors.rank.condensing compressors.rank.scores
    compressors.rules compressors.prose_rules compressors.rules.examples compressors.rules.fillers
    compressors.rules compressors.rules.phrases compressors.rules.prose compressors.rules.repeats
    compressors.rules compressors.rules.verbose
    compressors.summaries compressors.summary_keys
    compressors.summarize compressors.summarize.retention compressors.summarize.telling
    compressors.summary_memory compressors.summarize.envelope compressors.summarize.memory
    compressors.summary_memory compressors.summarize.sections compressors.summary_text
    compressors.tool_outputs compressors.arguments
    compressors.writer compressors.message_summaries compressors.prompting compressors.verification
    compressors.writer compressors.writing
    content.lossy content.prose
    content.structured content.structured.keys_once content.structured.shapes
    designs designs.tunacode
    designs.llm4s compressors.size_classes content.llm4s_outputs content.structured.cleaned
    engine fitting
    kernel.compressor compressors.describing compressors.knobs kernel.flow
    kernel.transcript compressors.cuts
    memory.excerpts memory.packing
    memory.forms memory.condensing
    memory.relevance memory.candidates
    memory.tiers memory.changing memory.segments
    result conversation metrics
    session session.session
    session.forms memory.by_model
    stores.artifacts stores.artifacts.store
    stores.protocols stores.capabilities
    text.importance text.scoring
    telemetry trace tracing
"""
_ROWS = [line.split() for line in _MOVED.strip().splitlines()]
MOVED = {old: new for new, *olds in _ROWS for old in olds}
"""Old name -> new name, both relative to ``holdfast``."""


RENAMED = {"forget": "delete_summaries"}
"""Old name in ``holdfast`` -> new name."""


class _OldModule(ModuleType):
    """Stands for a module under its old name, and gives the attributes of the new one."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        new = f"holdfast.{MOVED[self.__name__.removeprefix('holdfast.')]}"
        warn(f"{self.__name__} is now {new}", DeprecationWarning, stacklevel=2)
        return getattr(import_module(new), name)


class _OldNames:
    """Adds the old names within a package when it is imported: until then none seems loaded."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Find nothing: the names are added to the loaded modules."""
        del path, target
        if name.startswith("holdfast."):
            for old in MOVED:
                if f"holdfast.{old}".startswith(f"{name}."):
                    _add(old)


def keep_old_names() -> None:
    """Make the old names importable; the new modules are imported on first use."""
    sys.meta_path.insert(0, _OldNames)
    packages = {new.partition(".")[0] for new in MOVED.values()}
    for old in MOVED:
        if old.partition(".")[0] not in packages:
            _add(old)


def _add(old: str) -> None:
    sys.modules.setdefault(f"holdfast.{old}", _OldModule(f"holdfast.{old}"))
