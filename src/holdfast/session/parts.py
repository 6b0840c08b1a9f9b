"""What a fit gives, what it is made of, and what a session keeps of it for the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.formats.values import is_list, is_object
from holdfast.kernel.budget import Budget
from holdfast.result import CompressionResult

from .lines import Kept
from .options import Options
from .past import Recalled
from .thread import Thread


@dataclass(frozen=True, slots=True)
class View:
    """What the model is to be sent, and why it is that."""

    messages: list[Any]
    tokens: int
    limit: int
    reason: str
    """``everything_fits``, ``grown`` (as before, with what came since), ``recalled`` or ``compacted``.

    What was compacted was made smaller to have room; ``history`` tells what left it for that.
    """

    since: int = 0
    """The position from which on every message stands in the view; an output may be told in part."""

    recalled: tuple[Recalled, ...] = ()
    result: CompressionResult | None = field(default=None, repr=False)
    """How the messages were last made smaller: ``holdfast.restore`` gives them as they stand in the thread.

    ``Session.restore`` gives everything as it was appended.
    """

    smallest: int | None = None
    """Where the budget is not met, tokens of one that would be."""

    @property
    def budget_met(self) -> bool:
        """Whether the view is within the budget."""
        return self.tokens <= self.limit


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a view that no question brings back."""

    messages: list[Any]
    tokens: int
    places: tuple[int | None, ...]
    """Of each message its position in the thread; of notes None."""

    head: int
    """How many of its messages stand before what the past has to say."""

    end: int
    """Where the thread ended when it was made."""

    since: int
    """The position from which on it holds every message."""

    result: CompressionResult | None = None
    """How its messages were made smaller, where that was needed."""


Key = tuple[int, ...]
"""What decides what stands in a view, beside what is recalled."""


@dataclass(frozen=True, slots=True)
class Telling:
    """The message in which the past speaks, on which wire, and its tokens."""

    wire: str
    text: str
    message: Any
    tokens: int


@dataclass(slots=True)
class Desk:
    """What a session keeps of its last fit, so that the next one costs what is new; and what that depended on."""

    key: Key = ()
    part: Part | None = None
    overhead: int = 0
    """Tokens of the request beside its messages that are counted in the part."""

    telling: Telling | None = None
    heard: int | None = None
    """The input of the user that the past was last asked about, whether or not it had something to say."""

    grows: bool = False
    """Whether there was a view before, so that there will be another one."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What one fit has to go by. Tokens are those of the session's meter."""

    thread: Thread
    desk: Desk
    options: Options
    query: str | None
    tools: object
    limit: int
    overhead: int
    """Tokens of the request beside its messages."""

    fixed: Mapping[int, Kept]
    """What is always in the view: the system's messages and the pins."""

    room: int
    """What is left of the limit for everything else."""

    @classmethod
    def of(
        cls,
        thread: Thread,
        desk: Desk,
        options: Options,
        budget: Budget,
        query: str | None,
        tools: object,
    ) -> Frame:
        """The frame of a fit that begins now."""
        limit = budget.tokens(options.window)
        overhead = options.meter.overhead(thread.wire.read([], tools).envelope)
        fixed = dict(sorted(thread.read([*thread.state.system, *thread.state.pins]).items()))
        taken = sum(options.meter.message(kept.message) for kept in fixed.values())
        room = limit - overhead - taken
        return cls(thread, desk, options, query, tools, limit, overhead, fixed, room)

    def size(self, kept: Kept) -> int:
        """Tokens of the message."""
        return self.options.meter.message(kept.message)

    @property
    def key(self) -> Key:
        """What decides what stands in the view, beside what is recalled."""
        state = self.thread.state
        return (state.since, state.rewordings, *self.fixed)


def copied(value: Any) -> Any:
    """The message, or a part of it, for a caller, who may change it."""
    if is_object(value):
        return {name: part if type(part) is str else copied(part) for name, part in value.items()}
    return [copied(part) for part in value] if is_list(value) else value
