"""What a fit gives, what it is made of, and what a session keeps of it for the next one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from holdfast.formats.values import is_list, is_object
from holdfast.result import CompressionResult

from .past import Recalled


@dataclass(frozen=True, slots=True)
class View:
    """What the model is to be sent, and why it is that."""

    messages: list[Any]
    tokens: int
    limit: int
    reason: str
    """``everything_fits``, ``grown`` (as before, with what came since), ``recalled`` or ``compacted``.

    What was compacted was made smaller to have room; where recent turns left it for that, ``history`` tells which.
    """

    since: int = 0
    """The position from which on messages stand in the view as they are."""

    recalled: tuple[Recalled, ...] = ()
    result: CompressionResult | None = field(default=None, repr=False)
    """How the recent turns were last made smaller: ``holdfast.restore`` gives them as they stand in the thread.

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
    """The part of a view that is not recalled."""

    messages: list[Any]
    tokens: int
    places: tuple[int | None, ...]
    """Of each message its position in the thread; of a digest None."""

    head: int
    """How many of its messages stand before the recent turns."""

    end: int
    """Where the thread ended when it was made."""

    result: CompressionResult | None
    """How its messages were made smaller, where that was needed."""


Key = tuple[int, ...]
"""From where on messages are recent, and whatever else decides what stands in a view beside them."""


@dataclass(frozen=True, slots=True)
class Recent:
    """How many tokens the recent turns have as they were said, of the messages before ``end``."""

    key: Key
    end: int
    tokens: int


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

    recent: Recent | None = None
    telling: Telling | None = None
    looked: int = 0
    """How long the thread was when it was last asked whether the work has turned to something else."""


def copied(value: Any) -> Any:
    """The message, or a part of it, for a caller, who may change it."""
    if is_object(value):
        return {name: part if type(part) is str else copied(part) for name, part in value.items()}
    return [copied(part) for part in value] if is_list(value) else value
