"""The protocol of a strategy, and the plans that it returns."""

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
    """The edits of a strategy, or the plans of a pipeline's steps in order.

    ``reason`` is a short code (``within_budget``, ``strategy_failed``), ``detail`` a sentence.
    """

    edits: tuple[Edit, ...] = ()
    status: Status = "compacted"
    reason: str = ""
    detail: str = ""
    steps: tuple[tuple[str, Plan], ...] = ()
    fault: Exception | None = field(default=None, compare=False, repr=False)
    applied: Applied | None = field(default=None, compare=False, repr=False)
    """The result of applying the edits, if the caller of the strategy has applied them."""

    @classmethod
    def skip(cls, reason: str, detail: str = "") -> Plan:
        """A plan without edits, and why."""
        return cls(status="skipped", reason=reason, detail=detail)

    @classmethod
    def fail(cls, fault: Exception) -> Plan:
        """A plan without edits, because of an error."""
        detail = " ".join(f"{type(fault).__name__}: {fault}".split()).removesuffix(":")
        return cls(status="failed", reason="strategy_failed", detail=detail, fault=fault)


Flow = Generator[Ask[object], Any, Plan]
"""A generator that yields requests, is sent the answers, and returns a plan."""


class Compressor(Protocol):
    """A strategy: returns edits for a transcript and an allowance, and changes nothing itself."""

    @property
    def name(self) -> str:
        """The name in results and logs, such as ``sliding_window``."""
        ...

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan | Flow:
        """Return the plan, or a generator that returns it if a store or a model is needed."""
        ...


@dataclass(frozen=True, slots=True)
class Attempt(Ask[Plan]):
    """A request for the plan of another strategy; its failure comes back as a failed plan."""

    compressor: Compressor
    transcript: Transcript
    allowance: Allowance
