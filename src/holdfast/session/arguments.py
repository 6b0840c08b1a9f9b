"""What callers may give a session.

Whatever else they give is refused in one line that says what to give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import nan
from os import PathLike
from typing import TYPE_CHECKING, TypedDict

from holdfast import options as compression
from holdfast.calls.lineup import CallLimits, Lineup
from holdfast.cost import Costs
from holdfast.engine import chosen, costs_of
from holdfast.formats.values import is_list, is_object
from holdfast.kernel.budget import Budget, Meter, Share
from holdfast.kernel.errors import ConfigError
from holdfast.memory.forms import AskingCondenser, Condenser
from holdfast.memory.tiers import TierSizes
from holdfast.meter import Counter, meter_for
from holdfast.names import ProfileName
from holdfast.options import Strategy
from holdfast.profiles import Profile
from holdfast.providers import EmbedderSpec, ModelSpec
from holdfast.text.visible import amount
from holdfast.tokens import window_of

from .forms import ModelCondenser
from .state import Event
from .turns import TurnCondenser

if TYPE_CHECKING:
    from holdfast.calls.cache import CompressionCache


_FIRST, _END = (
    -62_135_510_400,
    253_402_214_400,
)  # within the years 1 to 9999, wherever on earth that is told

Which = int | str
"""A message: its position (negative from the end), or the id that it was appended with."""


def text(place: str, value: object) -> str:
    """The text that was given."""
    if not isinstance(value, str):
        raise _refused(place, value, "is not text", "give text")
    return value


def words(place: str, value: object) -> str:
    """The text that was given, which says something."""
    given = text(place, value)
    if not given.strip():
        raise ConfigError("it is empty", place=place, advice="give text")
    return given


def thread(value: object) -> str:
    """The name of a thread."""
    if not isinstance(value, str) or not value:
        raise _refused("thread", value, "names no conversation", "give a name as text")
    return value


def messages(given: Sequence[object]) -> None:
    """Raises ConfigError for a list of messages, or a request, in the place of a message."""
    for i, each in enumerate(given):
        place = f"messages[{i}]"
        if isinstance(each, list | tuple):
            advice = "give its messages one by one, as append(*messages)"
            raise ConfigError("a list of messages is no message", place=place, advice=advice)
        if is_object(each) and "role" not in each and is_list(each.get("messages")):
            advice = 'give its messages one by one, as append(*body["messages"])'
            raise ConfigError("the body of a request is no message", place=place, advice=advice)


def maybe_text(place: str, value: object) -> None:
    """Raises ConfigError unless the value is text or left out."""
    if value is not None:
        text(place, value)


def which(value: object) -> Which:
    """A position or an id."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise _refused(
            "message",
            value,
            "names no message",
            "give its position, or the id that it was appended with",
        )
    return value


def event(value: object) -> int:
    """The number of an event."""
    number: object = value.number if isinstance(value, Event) else value
    if isinstance(number, bool) or not isinstance(number, int):
        raise _refused("event", value, "is no event", "give one of history(), or its number")
    return number


def one_of(place: str, value: object, choices: Sequence[object]) -> None:
    """Raises ConfigError unless the value is one of these, of the same type: 1 is not True."""
    if not any(value == choice and type(value) is type(choice) for choice in choices):
        known = ", ".join(repr(choice) for choice in choices)
        raise _refused(place, value, "is not a choice", f"known are {known}")


def positive(place: str, value: object, unit: str) -> int:
    """A whole number above 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _refused(place, value, f"is not a positive number of {unit}", "")
    return value


def moment(value: object) -> float | None:
    """Seconds since 1970 UTC; None where none is given."""
    return (
        None
        if value is None
        else _seconds("at", value, "give a datetime, or seconds since 1970 UTC")
    )


def clock(tells: Callable[[], object]) -> Callable[[], float]:
    """The clock, whose answers are looked at."""
    return lambda: _seconds(
        "clock", tells(), "let it tell seconds since 1970 UTC, as time.time does"
    )


def _seconds(place: str, value: object, advice: str) -> float:
    try:
        seconds: object = value.timestamp() if isinstance(value, datetime) else value
    except (
        ValueError,
        OverflowError,
        OSError,
    ):  # a datetime of the year 1, which lies outside of some time zones
        seconds = nan
    if (
        isinstance(seconds, bool)
        or not isinstance(seconds, int | float)
        or not _FIRST < seconds < _END
    ):
        raise _refused(place, value, "is no time", advice)
    return float(seconds)


def names(value: Sequence[object], number: int) -> list[str]:
    """An id for each of so many messages."""
    given = (
        [each for each in value if isinstance(each, str)] if isinstance(value, list | tuple) else []
    )
    if not given or len(given) != len(value):
        raise _refused("ids", value, "are no ids", "give a list of texts, one for each message")
    if len(given) != number:
        raise ConfigError(
            f"{amount(len(given), 'id')} for {amount(number, 'message')}",
            place="ids",
            advice="give one for each message",
        )
    return given


def an(kind: type, place: str, value: object, advice: str) -> None:
    """Raises ConfigError unless the value is of the kind."""
    if not isinstance(value, kind):
        raise _refused(place, value, f"is no {kind.__name__}", advice)


def able(method: str, place: str, value: object, advice: str) -> None:
    """Raises ConfigError unless the value is an object that has the method."""
    if isinstance(value, type) or not callable(getattr(value, method, None)):
        raise _refused(place, value, f"is no {place}", advice)


def _refused(place: str, value: object, problem: str, advice: str) -> ConfigError:
    return ConfigError(f"{value!r:.60} {problem}", place=place, advice=advice)


class ThreadOptions(TypedDict, total=False):
    """What a session may be told beside its thread, its store and its budget, as ``Session`` says."""

    model: str | None
    format: compression.Provider
    profile: ProfileName | PathLike[str] | Profile
    strategy: compression.Strategy
    counter: Counter
    redact: bool | None
    tiers: TierSizes | None
    vectors: bool | None
    condenser: Condenser | None
    llm: ModelSpec | None
    embedder: EmbedderSpec | None
    cache: CompressionCache | None
    limits: CallLimits | None
    costs: Costs | None
    background: bool
    clock: Callable[[], float]


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """The options of a session, as ``Session`` takes them. Raises ConfigError for what is none."""

    budget: Budget | None = None
    model: str | None = None
    profile: ProfileName | PathLike[str] | Profile = "balanced"
    strategy: Strategy = None
    counter: Counter = None
    redact: bool | None = None
    tiers: TierSizes = field(default_factory=TierSizes)
    vectors: bool | None = None
    """Whether messages are found by what they mean too; None: where the extra ``local`` is
    installed."""

    condenser: Condenser = field(default_factory=TurnCondenser)
    llm: ModelSpec | None = None
    embedder: EmbedderSpec | None = None
    cache: CompressionCache | None = None
    limits: CallLimits | None = None
    costs: Costs | None = None
    background: bool = False
    meter: Meter = field(init=False)
    window: int | None = field(init=False)
    """The model's own, in tokens, where it is known."""

    lineup: Lineup = field(init=False)
    """Who is asked for the forms of segments, and for what they mean."""

    redacts: bool = field(init=False)
    """Whether secrets are masked before a model sees them, as the profile or the caller says."""

    trigger: Share = field(init=False)
    """What starts a compaction where the budget says nothing: the profile's."""

    known: Costs | None = field(init=False)
    """By what a compaction is decided between trigger and limit, its price known."""

    def __post_init__(self) -> None:
        self._check()
        asked = compression.Options(
            model=self.model,
            profile=self.profile,
            strategy=self.strategy,
            redact=self.redact,
            cache=self.cache,
            limits=self.limits,
            costs=self.costs,
        )
        compression.check(asked)
        meter = meter_for(self.model, self.counter)
        lineup = Lineup.of(
            meter.text, self.llm, self.embedder, cache=self.cache, limits=self.limits, opens=True
        )
        window = window_of(self.model) if self.model else None
        if self.budget is not None:
            self.budget.tokens(
                window
            )  # one that says nothing is refused here, not at the first fit
        object.__setattr__(self, "meter", meter)
        object.__setattr__(self, "window", window)
        object.__setattr__(self, "lineup", lineup)
        choice = chosen(asked)
        object.__setattr__(self, "redacts", choice.redact)
        object.__setattr__(self, "trigger", choice.trigger)
        object.__setattr__(self, "known", costs_of(asked, choice, self.model))

    @property
    def asking(self) -> AskingCondenser | None:
        """The condenser whose forms are asked for; None where there is no model."""
        if self.llm is None:
            return None
        return (
            self.condenser
            if isinstance(self.condenser, AskingCondenser)
            else ModelCondenser(self.condenser)
        )

    def _check(self) -> None:
        an(TierSizes, "tiers", self.tiers, "give holdfast.memory.tiers.TierSizes(hot=..., ...)")
        one_of("vectors", self.vectors, (True, False, None))
        one_of("background", self.background, (True, False))
        advice = "give an object with condense(text, level, count)"
        able("condense", "condenser", self.condenser, advice)
        if self.llm is None and isinstance(self.condenser, AskingCondenser):
            raise ConfigError(
                "it asks a model, and there is none", place="condenser", advice="give llm="
            )
