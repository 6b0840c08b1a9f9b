"""Checks of a session's arguments; each error says in one line what to give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from time import time
from typing import TYPE_CHECKING, Annotated, Any, Unpack, cast

from holdfast.engine import lineup_of
from holdfast.formats.payloads import is_list, is_object
from holdfast.kernel.budget import Budget, is_whole
from holdfast.kernel.errors import ConfigError, problem_of
from holdfast.kernel.registry import imported
from holdfast.kernel.typed import Fraction, Only, Positive, check_fields, check_type
from holdfast.memory.forms import AskingCondenser, Condenser
from holdfast.memory.relevance import Relevance
from holdfast.memory.tiers import Segmentation, TierSizes
from holdfast.options import (
    USUAL_PROFILE,
    Options,
    Provider,
    SharedOptions,
    check,
    chosen,
    costs_of,
    meter_of,
)
from holdfast.redact import concealing
from holdfast.text.visible import amount
from holdfast.tokens import window_of

from .state import Event
from .turns import TurnCondenser

if TYPE_CHECKING:
    from .forms import FormRequests

_FIRST, _END = -62_135_510_400, 253_402_214_400
"""Seconds since 1970 UTC: the first and the last midnight with a year that ``datetime`` has, 1 to
9999, in every time zone.
"""

Which = int | str
"""A message: its position (negative from the end), or the id with which it was appended."""


def _names_a_message(value: object) -> bool:
    return isinstance(value, str) or is_whole(value)


def _has_words(text: str) -> bool:
    return bool(text.strip())


Position = Annotated[
    object, Only("its position, or the id that it was appended with", _names_a_message)
]
Words = Annotated[str, Only("text that is not empty", _has_words)]
Name = Annotated[str, Only("a name as text", bool)]
_Number = Annotated[object, Only("one of history(), or its number", is_whole)]


def messages(given: Sequence[object]) -> None:
    """Raise ConfigError for a list of messages, or a request, instead of a message."""
    for i, each in enumerate(given):
        if isinstance(each, list | tuple):
            what, inside = "a list of messages", "messages"
        elif is_object(each) and "role" not in each and is_list(each.get("messages")):
            what, inside = "the body of a request", 'body["messages"]'
        else:
            continue
        raise ConfigError(
            f"{what} is not a message",
            place=f"messages[{i}]",
            advice=f"give its messages one by one, as append(*{inside})",
        )


def event(value: Any) -> int:
    """The number of an event."""
    number: int = value.number if isinstance(value, Event) else value
    check_type(number, _Number, "event")
    return number


def moment(value: object) -> float | None:
    """The time in seconds since 1970 UTC, from a datetime or a number; None for None."""
    if value is None:
        return None
    return _seconds("at", value, "give a datetime, or seconds since 1970 UTC")


def clock(tells: Callable[[], object]) -> Callable[[], float]:
    """The clock, with a check of each value that it returns if it is not the system's."""
    if tells is time:
        return time
    advice = "let it tell seconds since 1970 UTC, as time.time does"

    def checked() -> float:
        try:
            return _seconds("clock", tells(), advice)
        except ConfigError:
            raise
        except Exception as fault:
            problem = f"it failed: {problem_of(fault)}"
            raise ConfigError(problem, place="clock", advice=advice) from fault

    return checked


def _seconds(place: str, value: object, advice: str) -> float:
    seconds: object = value
    if isinstance(value, datetime):
        # a datetime of the year 1 may be out of range in some time zones
        with suppress(ValueError, OverflowError, OSError):
            seconds = value.timestamp()
    is_flag = isinstance(seconds, bool)
    if isinstance(seconds, int | float) and not is_flag and _FIRST < seconds < _END:
        return float(seconds)
    raise ConfigError(f"{value!r:.60} is not a time", place=place, advice=advice)


def names(value: Sequence[str], messages: Sequence[object]) -> list[str]:
    """The given ids, one for each message; by default those in the messages' field ``id``."""
    if not value:
        found = (
            each.get("id") if is_object(each) else getattr(each, "id", None) for each in messages
        )
        return [name if isinstance(name, str) else "" for name in found]
    check_type(value, tuple[str, ...], "ids")
    if len(value) != len(messages):
        raise ConfigError(
            f"{amount(len(value), 'id')} for {amount(len(messages), 'message')}",
            place="ids",
            advice="give one for each message",
        )
    return list(value)


def _condenses(given: object) -> bool:
    return callable(getattr(given, "condense", None))


Condensing = Annotated[Condenser, Only("an object with condense(text, level, count)", _condenses)]
Clock = Annotated[
    Callable[[], float], Only("a function that tells seconds since 1970 UTC", callable)
]


@dataclass(frozen=True)
class OwnOptions:
    """The options of ``Session`` that ``compress`` does not have; see there.

    Raises ConfigError for a wrong value.
    """

    tiers: TierSizes = field(default_factory=TierSizes)
    vectors: bool | None = None
    condenser: Condensing = field(default_factory=TurnCondenser)
    relevance: Relevance | None = None
    segmentation: Segmentation = "turns"
    recall_score: Fraction | None = None
    recall_messages: Positive | None = None
    background: bool = False
    clock: Clock = time

    def __post_init__(self) -> None:
        check_fields(self, bare=True)


class ThreadOptions(SharedOptions, total=False):
    """The options of ``Session`` besides thread, store and budget; see there."""

    tiers: TierSizes | None
    vectors: bool | None
    condenser: Condenser | None
    relevance: Relevance | None
    segmentation: Segmentation
    recall_score: float | None
    recall_messages: int | None
    background: bool
    clock: Callable[[], float]


DEFAULTS: Mapping[str, object] = {"profile": USUAL_PROFILE, **vars(OwnOptions())}
"""The defaults of the options, for the signature."""


def own_options(given: Mapping[str, Any]) -> OwnOptions:
    """Those of the options that only a session has. Raises ConfigError for a wrong value."""
    names = given.keys() & OwnOptions.__annotations__.keys()
    return OwnOptions(**{name: given[name] for name in names})


_PASSED_ON = frozenset({"format", "llm", "costs"})
"""Shared options that a session passes on in its own way."""


class SessionOptions:
    """The checked options of a session, and values derived from them.

    Raises TypeError for an unknown option, and ConfigError for a wrong value.
    """

    def __init__(self, budget: Budget | None = None, **options: Unpack[ThreadOptions]) -> None:
        if unknown := options.keys() - ThreadOptions.__annotations__:
            known = ", ".join(ThreadOptions.__annotations__)
            raise TypeError(f"a session has no option {min(unknown)!r}; known are {known}")
        given: dict[str, Any] = {
            name: value for name, value in options.items() if value is not None
        }
        self.budget = budget
        self.format: Provider = given.get("format")
        self.own = own_options(given)
        llm, condenser = given.get("llm"), self.own.condenser
        if llm is None and isinstance(condenser, AskingCondenser):
            raise ConfigError(
                "it asks a model, and there is none", place="condenser", advice="give llm="
            )
        shared = SharedOptions.__annotations__.keys() - _PASSED_ON
        self.of_compress = cast("Options", {name: given[name] for name in given.keys() & shared})
        """The options of ``compress`` that were given to the session."""
        asked: Options = {**self.of_compress, "costs": given.get("costs")}
        check(asked)
        model = asked.get("model")
        _, profile = chosen(asked)
        self.meter = meter_of(asked, profile, model)
        self.lineup = lineup_of({**asked, "llm": llm}, self.meter)
        """The model that writes forms of segments, and the embedder that compares segments."""
        self.window = window_of(model)
        """The context window of the model in tokens, if it is known."""
        # a budget without a limit is refused before any fit
        self.limit = None if budget is None else budget.tokens(self.window)
        """The limit of the budget in tokens; None without a budget."""
        self.redacts = profile.redact
        """Whether secrets are masked before a model sees them, as the profile or the caller says.
        """
        self.forming: FormRequests | None = None
        """Asks the model for forms; None without a model."""
        if llm is not None:
            forms = imported("holdfast.session.forms")
            if not isinstance(condenser, AskingCondenser):
                condenser = forms.ModelCondenser(condenser)
            self.forming = forms.FormRequests(condenser, self.lineup, self.redacts)
        self.mask = concealing(redacts=profile.redact)
        """Masks them in what is repeated from the thread."""
        self.trigger = profile.trigger
        """The profile's trigger of a compaction, for a budget without one."""
        self.costs = costs_of(asked, profile, model)
        """The costs that decide on a compaction between trigger and limit, with the model's price.
        """
