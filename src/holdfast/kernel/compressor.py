"""What a strategy is, what it plans, and how it describes itself."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from .apply import Applied
from .budget import Allowance
from .edits import Edit
from .ports import Ask
from .transcript import Transcript

Status = Literal["compacted", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The edits of a strategy; of a pipeline, the plans of its steps in order.

    ``reason`` is a short code (``within_budget``, ``strategy_failed``), ``detail`` a sentence for
    people.
    """

    edits: tuple[Edit, ...] = ()
    status: Status = "compacted"
    reason: str = ""
    detail: str = ""
    steps: tuple[tuple[str, Plan], ...] = ()
    fault: Exception | None = field(default=None, compare=False, repr=False)
    applied: Applied | None = field(default=None, compare=False, repr=False)
    """What became of the edits, where whoever asked for the plan has applied it already."""

    @classmethod
    def skip(cls, reason: str, detail: str = "") -> Plan:
        """Nothing to do, and why."""
        return cls(status="skipped", reason=reason, detail=detail)

    @classmethod
    def fail(cls, fault: Exception) -> Plan:
        """Nothing done, because of a fault."""
        detail = " ".join(f"{type(fault).__name__}: {fault}".split()).removesuffix(":")
        return cls(status="failed", reason="strategy_failed", detail=detail, fault=fault)


Flow = Generator[Ask[object], Any, Plan]
"""A plan in the making: yields asks, is sent the answers, returns the plan."""


class Compressor(Protocol):
    """A strategy returns edits for a transcript and an allowance; it changes nothing itself."""

    @property
    def name(self) -> str:
        """The name in results and logs, such as ``sliding_window``."""
        ...

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan | Flow:
        """What should go. A strategy that needs no outside world returns the plan itself."""
        ...


@dataclass(frozen=True, slots=True)
class Attempt(Ask[Plan]):
    """A strategy asks for another one's plan; a fault of that one comes back as a failed plan."""

    compressor: Compressor
    transcript: Transcript
    allowance: Allowance
