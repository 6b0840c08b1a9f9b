"""Documented names that modules and functions had; they work for one more release and warn."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from warnings import warn

_MOVED = """
    agent.functions agent.tools
    agent.loop agent
    cache calls.cache
    cache.compression_cache calls.cache
    cache.lru calls.cache
    calling.embedding calls.caller
    compressors.arguments compressors.tool_outputs
    compressors.blocks compressors.digest
    compressors.cuts kernel.transcript
    compressors.dedupe.leaders compressors.dedupe
    compressors.describing kernel.compressor
    compressors.knobs kernel.compressor
    compressors.message_summaries compressors.writer
    compressors.prompting compressors.writer
    compressors.prose_rules compressors.rules
    compressors.rank.condensing compressors.rank
    compressors.rank.scores compressors.rank
    compressors.rules.examples compressors.rules
    compressors.rules.fillers compressors.rules
    compressors.rules.phrases compressors.rules
    compressors.rules.prose compressors.rules
    compressors.rules.repeats compressors.rules
    compressors.rules.verbose compressors.rules
    compressors.size_classes designs.llm4s
    compressors.structured_info compressors.digest
    compressors.summarize.envelope compressors.summary_memory
    compressors.summarize.memory compressors.summary_memory
    compressors.summarize.retention compressors.summarize
    compressors.summarize.sections compressors.summary_memory
    compressors.summarize.telling compressors.summarize
    compressors.summary_keys compressors.summaries
    compressors.summary_text compressors.summary_memory
    compressors.verification compressors.writer
    compressors.writing compressors.writer
    content.llm4s_outputs designs.llm4s
    content.prose content.lossy
    content.structured.cleaned designs.llm4s
    content.structured.keys_once content.structured
    content.structured.shapes content.structured
    conversation result
    designs.tunacode designs
    fitting engine
    kernel.flow kernel.compressor
    memory.by_model session.forms
    memory.candidates memory.relevance
    memory.changing memory.tiers
    memory.condensing memory.forms
    memory.packing memory.excerpts
    memory.segments memory.tiers
    metrics result
    session.session session
    stores.artifacts.store stores.artifacts
    stores.capabilities stores.protocols
    text.scoring text.importance
    tracing trace
    waiting calls.event_loop
"""
# two words a line
_PAIRS = [line.split() for line in _MOVED.strip().splitlines()]
MOVED = {pair[0]: pair[1] for pair in _PAIRS}
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
