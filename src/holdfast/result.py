"""The results of a compression: pure data that can be written as JSON and undone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import ceil, inf
from os import PathLike
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Generic, cast
from warnings import warn

from holdfast.files import name_of, read_whole, write_all
from holdfast.kernel.apply import dropped_by, undo
from holdfast.kernel.compressor import Status
from holdfast.kernel.edits import Drop, Edit, Insert, Offload, Replace
from holdfast.kernel.errors import BudgetError, ConfigError, InputError
from holdfast.kernel.ports import Accuracy
from holdfast.kernel.registry import imported
from holdfast.kernel.stored_json import decoded, encoded, tagged
from holdfast.kernel.typed import Only, attributes, check_type, typed
from holdfast.model_usage import NO_CALLS, ModelUsage
from holdfast.names import ReportForm

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    M = TypeVar("M", default=Any)
    """The type of the messages: a list, a tuple, a request body or a Conversation."""
else:
    from typing import TypeVar

    M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class CompressionMetrics:
    """Tokens and messages before and after.

    The derived figures are defined as in MoFA.
    """

    tokens_before: int
    tokens_after: int
    messages_before: int
    messages_after: int

    @property
    def compression_ratio(self) -> float:
        """Tokens after divided by tokens before; 1.0 for an empty conversation."""
        return self.tokens_after / self.tokens_before if self.tokens_before else 1.0

    @property
    def compression_factor(self) -> float:
        """Tokens before divided by tokens after; infinite if nothing is left."""
        ratio = self.compression_ratio
        return 1 / ratio if ratio else inf

    @property
    def token_reduction_percent(self) -> float:
        """100 (1 - ratio); negative if the result is larger."""
        return 100.0 * (1 - self.compression_ratio)

    @property
    def reduction_percent(self) -> float:
        """A shorter name of ``token_reduction_percent``."""
        return self.token_reduction_percent

    @property
    def message_reduction_percent(self) -> float:
        """The share of messages that were removed, in percent; 0.0 for an empty conversation."""
        if not self.messages_before:
            return 0.0
        return 100.0 * (1 - self.messages_after / self.messages_before)

    @property
    def was_compressed(self) -> bool:
        """Whether the result has fewer tokens."""
        return self.tokens_after < self.tokens_before

    @property
    def tokens_saved(self) -> int:
        """The number of tokens removed, at least 0."""
        return max(0, self.tokens_before - self.tokens_after)

    def to_dict(self) -> dict[str, float | bool]:
        """All figures, derived ones included; an infinite factor is left out."""
        derived = attributes(
            self,
            "compression_ratio token_reduction_percent reduction_percent message_reduction_percent"
            " was_compressed tokens_saved",
        )
        factor = {"compression_factor": self.compression_factor} if self.tokens_after else {}
        return asdict(self) | derived | factor

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CompressionMetrics:
        """The inverse of ``to_dict``."""
        found: CompressionMetrics = typed(data, cls)
        return found


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """The size of the result and the budget, in tokens."""

    tokens: int
    limit: int

    @property
    def within(self) -> bool:
        """Whether the result fits the budget."""
        return self.tokens <= self.limit

    @property
    def utilization(self) -> int:
        """Share of the budget that is used, in percent, rounded; 0 for a budget of 0."""
        return round(100 * self.tokens / self.limit) if self.limit else 0

    def to_dict(self) -> dict[str, int]:
        """All figures, derived ones included."""
        return asdict(self) | {"within": self.within, "utilization": self.utilization}


ThreadId = Annotated[str, Only("the id of the thread as text", bool)]
"""Text that is not empty."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of a thread, with its id and metadata of your own."""

    thread_id: str
    messages: Sequence[Any]
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        check_type(self.thread_id, ThreadId, "Conversation.thread_id")

    def holding(self, messages: Sequence[Any]) -> Conversation:
        """A copy with other messages."""
        return replace(self, messages=messages)


def wrap(
    messages: Sequence[Any], thread_id: str, metadata: Mapping[str, Any] | None = None
) -> Conversation:
    """Make a ``Conversation``."""
    return Conversation(thread_id, messages, metadata or {})


def unwrap(conversation: Conversation) -> Sequence[Any]:
    """The messages of a ``Conversation``, the same object that was wrapped."""
    return conversation.messages


UNKNOWN = Accuracy("unknown")
INVALID = "invalid_input"
"""The reason of a result whose messages could not be read; they are as they were given."""
_EDITS: dict[str, type[Edit]] = {
    cls.__name__.lower(): cls for cls in (Drop, Replace, Offload, Insert)
}


def too_large(result: CompressionResult) -> BudgetError:
    """The error for a result that does not fit its budget."""
    return BudgetError(
        limit=result.limit,
        tokens=result.metrics.tokens_before,
        smallest=result.smallest or result.tokens,
        reason=result.detail,
    )


def touched(edit: Drop | Replace | Offload) -> tuple[int, ...]:
    """The positions of the messages that the edit drops or changes."""
    return edit.indices if isinstance(edit, Drop) else (edit.index,)


@dataclass(frozen=True, slots=True)
class Step:
    """What one strategy did: its name, tokens before and after, status, reason and edits.

    ``taken`` maps positions before the step to the caller's messages that the edits removed or
    changed. ``messages`` are the messages after the step.
    """

    name: str
    before: int
    after: int
    status: Status
    reason: str = ""
    detail: str = ""
    edits: tuple[Edit, ...] = ()
    taken: Mapping[int, object] = field(default_factory=dict[int, object], repr=False)
    messages: Sequence[object] = field(default=(), repr=False)

    @property
    def applied(self) -> bool:
        """Whether the step changed something."""
        return bool(self.edits)

    def undone(self, after: Sequence[object]) -> list[object]:
        """The messages before the step, given those after it."""
        return undo(after, self.edits, self.taken)

    def check(self, before: int) -> None:
        """Raise ValueError if its edits do not fit the number of messages before the step."""
        inserts = {edit.at for edit in self.edits if isinstance(edit, Insert)}
        others = {i for edit in self.edits if not isinstance(edit, Insert) for i in touched(edit)}
        places = set(range(before))
        known = others == set(self.taken) and others <= places
        if not known or not inserts <= places | {before}:
            raise ValueError(f"the edits of the step {self.name!r} do not fit its messages")

    def to_dict(self) -> dict[str, object]:
        """The step as JSON has it, without ``messages``, which the edits give back."""
        return {
            **attributes(self, "name before after status reason detail"),
            "applied": self.applied,
            "edits": [{"edit": type(edit).__name__.lower(), **asdict(edit)} for edit in self.edits],
            "taken": {str(i): original for i, original in self.taken.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], messages: Sequence[object] = ()) -> Step:
        """The inverse of ``to_dict``, with the ``messages`` after the step."""
        now = {
            "messages": tuple(messages),
            "edits": [typed(e, _EDITS[e["edit"]]) for e in data["edits"]],
            "taken": {int(i): original for i, original in data["taken"].items()},
        }
        found: Step = typed({**data, **now}, cls)
        return found


_FORMS: Mapping[str, ReportForm] = {".html": "html", ".htm": "html", ".txt": "text"}


def report_form(file: str | None, option: str = "") -> ReportForm:
    """The form of a report by the name of its file. Raises ConfigError for an unknown ending."""
    suffix = PurePath(file).suffix.lower() if file else ".txt"
    if suffix not in _FORMS:
        raise ConfigError(
            "its name does not say the form of the report",
            place=f"{option} {file}".strip(),
            advice=f"let it end in {' or '.join(_FORMS)}",
        )
    return _FORMS[suffix]


@dataclass(frozen=True, slots=True)
class Net:
    """What a compression saves in one call, in US dollars."""

    saved: float
    """The price of the tokens that are no longer sent."""

    lost: float
    """The lost cache discount on tokens that must be sent again, since the beginning changed."""

    spent: float
    """The cost of models and embedders for the compression, paid once."""

    each: float
    """What every later call saves, when the prompt cache holds all of it."""

    @property
    def net(self) -> float:
        """What the first call gains: ``saved`` less ``lost`` and ``spent``, in US dollars."""
        return self.saved - self.lost - self.spent

    @property
    def calls(self) -> float:
        """The number of calls until the compression has paid for itself; infinite if never."""
        if self.net >= 0:
            return 1
        return 1 + ceil(-self.net / self.each) if self.each > 0 else inf

    def over(self, calls: int) -> float:
        """What this many calls gain together, in US dollars."""
        return self.net + max(0, calls - 1) * self.each


@dataclass(frozen=True, slots=True, repr=False)
class CompressionResult(Generic[M]):
    """The fitted messages, and everything that was done to them.

    ``messages`` has the type of the input. ``status`` is ``skipped`` (it fits, or nothing may be
    removed), ``compacted`` or ``failed``; ``reason`` is a short code and ``detail`` a sentence.
    ``degraded`` is true if a step failed and others took its place.

    ``smallest`` is set if the budget was not met: the smallest budget that can be. ``masked`` holds
    the positions of original messages that ``restore`` returns with their secrets masked, and
    ``redacted`` the number of masked secrets by kind.
    """

    messages: M
    metrics: CompressionMetrics
    spent: TokenUsage
    strategy_name: str
    format: str
    steps: tuple[Step, ...] = ()
    status: Status = "skipped"
    reason: str = ""
    detail: str = ""
    degraded: bool = False
    smallest: int | None = None
    accuracy: Accuracy = UNKNOWN
    counter: str = ""
    """The name of the token counter."""
    strategy: Mapping[str, object] = field(default_factory=dict[str, object])
    key: str = ""
    """The field of a request body that holds the messages; empty for a list."""
    masked: tuple[int, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict[str, int])
    model_usage: ModelUsage = field(default=NO_CALLS, compare=False)
    """The calls of models and embedders."""
    net: Net | None = None
    """What the compression gains, if ``costs`` or the profile asked for it."""

    @property
    def tokens(self) -> int:
        """The size of ``messages`` in tokens, with what is sent beside them."""
        return self.spent.tokens

    @property
    def limit(self) -> int:
        """The budget in tokens, after reserve and headroom."""
        return self.spent.limit

    @property
    def utilization(self) -> int:
        """Share of the budget that is used, in percent."""
        return self.spent.utilization

    @property
    def usage(self) -> TokenUsage:
        """The old name of ``tokens``, ``limit`` and ``utilization``."""
        advice = "use result.tokens, result.limit or result.utilization"
        warn(f"result.usage is deprecated: {advice}", DeprecationWarning, stacklevel=2)
        return self.spent

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits of all steps; the positions of each refer to the messages before its step."""
        return tuple(edit for step in self.steps for edit in step.edits)

    @property
    def budget_met(self) -> bool:
        """Whether the result fits the budget; false for messages that could not be read."""
        return self.spent.within and self.reason != INVALID

    @property
    def removed_messages(self) -> int:
        """The number of messages that were removed."""
        return sum(len(edit.indices) for edit in self.edits if isinstance(edit, Drop))

    @property
    def trimmed(self) -> bool:
        """Whether any message was removed."""
        return self.removed_messages > 0

    def __repr__(self) -> str:
        """Sizes on one line."""
        sizes = self.metrics
        return (
            f"<{type(self).__name__}: {sizes.tokens_before:,} -> {self.tokens:,}"
            f" of {self.limit:,} tokens,"
            f" {sizes.messages_before} -> {sizes.messages_after} messages,"
            f" {self.reason or self.status}>"
        )

    def _repr_html_(self) -> str | None:
        """The report, for a notebook; None if there is none."""
        if self.reason == INVALID:
            return None
        page = imported("html:escape")(self.report(form="html"), quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="600" style="border:0"></iframe>'

    def restore(self) -> M:
        """Return the original messages in their original form."""
        return restore(self)

    def report(
        self, path: str | PathLike[str] | None = None, *, form: ReportForm | None = None
    ) -> str:
        """Return a report of what was done to each message, and write it to ``path`` if given.

        ``form`` is ``text`` or ``html``; by default the ending of ``path`` decides: .html, .htm
        or .txt. Raises ConfigError for another ending, and InputError for a file that cannot be
        written.
        """
        file = None if path is None else name_of(path)
        chosen = form or report_form(file)
        told: str = imported("holdfast.reports:report")(self, form=chosen)  # it imports this file
        if file:
            write_all({file: told.encode("utf-8", "backslashreplace")})
        return told

    def save(self, path: str | PathLike[str]) -> None:
        """Write the result to a file, with everything that was removed.

        Raises InputError for messages that JSON cannot hold, and for a file that cannot be written.
        """
        write_all({name_of(path): self.to_json().encode()})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> CompressionResult[Any]:
        """Read a result that ``save`` or ``holdfast compress --result`` wrote.

        Raises InputError for a file that cannot be read or holds something else.
        """
        file = name_of(path)
        try:
            return cls.from_json(read_whole(file))
        except InputError as fault:
            raise fault.at(fault.place or file) from fault

    def to_json(self, indent: int | None = None) -> str:
        """The result as JSON, with everything that was removed.

        Raises InputError for messages that JSON cannot hold.
        """
        talk, identity = self.messages, None
        if isinstance(talk, Conversation):
            identity = {"thread_id": talk.thread_id, "metadata": dict(talk.metadata)}
        data = {
            "holdfast": 1,
            **attributes(self, "strategy_name counter key"),
            **facts(self),
            "strategy": dict(self.strategy),
            **attributes(self, "trimmed removed_messages"),
            "steps": [step.to_dict() for step in self.steps],
            "conversation": identity,
            "messages": bare(talk),
        }
        try:
            return encoded(data, json.JSONEncoder(indent=indent, allow_nan=False, default=tagged))
        except (TypeError, ValueError, RecursionError) as fault:
            raise InputError(
                f"a message cannot be written as JSON: {fault}",
                advice="give messages made of dictionaries, lists, texts, bytes and finite numbers",
            ) from fault

    @classmethod
    def from_json(cls, text: str | bytes) -> CompressionResult[Any]:
        """The inverse of ``to_json``. Raises InputError for other texts."""
        try:
            return cls._from_dict(decoded(text))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as fault:
            said = f"it has no {fault}" if isinstance(fault, KeyError) else fault
            raise InputError(
                f"this is not the JSON of a result ({said})",
                advice="give a file that --result or CompressionResult.to_json wrote",
            ) from fault

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> CompressionResult[Any]:
        if data["holdfast"] != 1:
            raise ValueError(f"version {data['holdfast']!r} is not known")
        talk, messages = data["conversation"], data["messages"]
        held = Conversation(messages=messages, **talk) if talk else messages
        now = {"messages": held, "spent": data["usage"], "steps": ()}
        result: CompressionResult[Any] = typed({**data, **now}, cls)
        after = message_list(result) if data["steps"] else []  # else they may be no list
        for step in reversed(data["steps"]):
            record = Step.from_dict(step, after)
            after = record.undone(after)
            record.check(len(after))
            result = replace(result, steps=(record, *result.steps))
        return result


def facts(result: CompressionResult[Any]) -> dict[str, object]:
    """Status and sizes of a result as JSON has them."""
    net = result.net
    return {
        **attributes(result, "status reason detail budget_met smallest degraded format"),
        "masked": list(result.masked),
        "redacted": dict(result.redacted),
        "accuracy": asdict(result.accuracy),
        "usage": result.spent.to_dict(),
        "metrics": result.metrics.to_dict(),
        "model_usage": result.model_usage.to_dict(),
        "net": net and asdict(net) | {"net": net.net},
    }


def bare(messages: Any) -> Any:
    """The messages of a Conversation; anything else as it is."""
    payload: Any = messages.messages if isinstance(messages, Conversation) else messages
    return payload


def message_list(result: CompressionResult[Any]) -> list[object]:
    """The messages of a result as a list, without the body or Conversation around them."""
    payload = bare(result.messages)
    return listed(payload[result.key] if result.key else payload)


def listed(given: Sequence[object] | str) -> list[object]:
    """The messages as a list; a text, as a request body may hold, is one user message."""
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given)


def contained(payload: Any, key: str, messages: list[object]) -> Any:
    """The messages as ``payload`` holds them: in a list, a tuple, or a request body under ``key``.

    Each may be in a Conversation. Where a body had a text, one message that is left is a text
    again.
    """
    if isinstance(payload, Conversation):
        return payload.holding(contained(payload.messages, key, messages))
    if not key:
        return tuple(messages) if isinstance(payload, tuple) else messages
    only: Any = messages[0] if len(messages) == 1 else None
    held = only["content"] if isinstance(payload[key], str) and only else messages
    return {**payload, key: held}


def check_result(given: object) -> None:
    """Raise InputError for anything but a result."""
    if not isinstance(given, CompressionResult):
        raise InputError(
            f"{type(given).__name__} is not a result", advice="give what compress returned"
        )


def sources(result: CompressionResult) -> list[int | None]:
    """The original position of each message of the result, None for an inserted one."""
    left = len(result.steps[-1].messages) if result.steps else result.metrics.messages_before
    places: list[Any] = list(range(left))
    for step in reversed(result.steps):
        places = undo(places, step.edits, dict.fromkeys(dropped_by(step.edits)))
    origins = {place: origin for origin, place in enumerate(places)}
    return [origins.get(place) for place in range(left)]


def restore(result: CompressionResult[M]) -> M:
    """Return the original messages in their original form, by undoing every step of the result."""
    check_result(result)
    if result.reason == INVALID:
        return result.messages
    messages = message_list(result)
    for step in reversed(result.steps):
        if step.applied:
            messages = step.undone(messages)
    return cast("M", contained(result.messages, result.key, messages))
