"""What comes of a compression: pure data that survives JSON, and can be undone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from html import escape
from math import ceil, inf
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Generic, Literal, cast
from warnings import warn

from holdfast.files import read_whole, write_all
from holdfast.kernel.apply import restored
from holdfast.kernel.compressor import Status
from holdfast.kernel.edits import Drop, Edit, Insert, Offload, Replace
from holdfast.kernel.errors import InputError
from holdfast.kernel.ports import Accuracy
from holdfast.kernel.registry import Registry
from holdfast.names import ReportForm

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    M = TypeVar("M", default=Any)
    """What the messages came as: a list, a tuple, a request body, a Conversation."""
else:
    from typing import TypeVar

    M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request to a model or an embedder, its retries included.

    ``items`` are the prompts or texts that it was for, ``cached`` those that needed no call.
    ``counted``: the vendor did not tell the tokens, so they were counted here. ``cost`` is in US
    dollars, None where the price is not known. ``fault`` says why there was no answer.
    """

    kind: Literal["complete", "embed"]
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    counted: bool = False
    items: int = 1
    cached: int = 0
    attempts: int = 0
    seconds: float = 0.0
    cost: float | None = 0.0
    fault: str = ""


@dataclass(frozen=True, slots=True)
class CacheFigures:
    """One of the two caches: what it holds and may hold, and how often it was asked and knew."""

    size: int
    capacity: int
    hits: int
    misses: int


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """Both caches at one moment."""

    embeddings: CacheFigures
    summaries: CacheFigures


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """Every call of a compression, and the caches after it.

    ``cache`` is None where none was given.
    """

    calls: tuple[ModelCall, ...] = ()
    cache: CacheStatistics | None = None

    @property
    def requests(self) -> int:
        """How many requests went out, retries included."""
        return sum(call.attempts for call in self.calls)

    @property
    def failures(self) -> int:
        """How many calls had no answer in the end."""
        return sum(bool(call.fault) for call in self.calls)

    @property
    def cached(self) -> int:
        """How many prompts and texts needed no call."""
        return sum(call.cached for call in self.calls)

    @property
    def input_tokens(self) -> int:
        """Tokens that were sent."""
        return sum(call.input_tokens for call in self.calls)

    @property
    def output_tokens(self) -> int:
        """Tokens that came back."""
        return sum(call.output_tokens for call in self.calls)

    @property
    def seconds(self) -> float:
        """The time of all calls, one after another.

        Calls at the same time take less on the clock.
        """
        return sum(call.seconds for call in self.calls)

    @property
    def cost(self) -> float | None:
        """US dollars, or None if the price of any call is not known."""
        costs = [call.cost for call in self.calls]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    def to_dict(self) -> dict[str, object]:
        """Every figure, for JSON."""
        return {
            "calls": [asdict(call) for call in self.calls],
            "cache": None if self.cache is None else asdict(self.cache),
            **{name: getattr(self, name) for name in _TOTALS},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ModelUsage:
        """What ``to_dict`` described."""
        calls = tuple(
            ModelCall(**{f.name: call[f.name] for f in fields(ModelCall)}) for call in data["calls"]
        )
        if data["cache"] is None:
            return cls(calls)
        return cls(
            calls,
            CacheStatistics(**{kind: CacheFigures(**told) for kind, told in data["cache"].items()}),
        )


_TOTALS = ("requests", "failures", "cached", "input_tokens", "output_tokens", "seconds", "cost")
NO_CALLS = ModelUsage()


@dataclass(slots=True)
class CallRecords:
    """The records of one compression as they come, and the moment by which its calls must end."""

    calls: list[ModelCall] = field(default_factory=list[ModelCall])
    until: float | None = None
    """On the clock of ``time.monotonic``; set when the first call begins."""
    pledged: float = 0.0
    """US dollars that the calls under way may come to."""

    @property
    def spent(self) -> float:
        """US dollars so far, with what is under way."""
        return self.pledged + sum(call.cost or 0.0 for call in self.calls)


@dataclass(frozen=True, slots=True)
class CompressionMetrics:
    """Sizes before and after, by one counter.

    What is derived from them follows MoFA's definitions.
    """

    tokens_before: int
    tokens_after: int
    messages_before: int
    messages_after: int

    @property
    def compression_ratio(self) -> float:
        """After divided by before; 1.0 where there was nothing."""
        return self.tokens_after / self.tokens_before if self.tokens_before else 1.0

    @property
    def compression_factor(self) -> float:
        """Before divided by after, as in "3 to 1"; infinite where nothing is left."""
        ratio = self.compression_ratio
        return 1 / ratio if ratio else float("inf")

    @property
    def token_reduction_percent(self) -> float:
        """100 (1 - ratio); negative where the result is larger."""
        return 100.0 * (1 - self.compression_ratio)

    @property
    def reduction_percent(self) -> float:
        """The shorter name of ``token_reduction_percent``."""
        return self.token_reduction_percent

    @property
    def message_reduction_percent(self) -> float:
        """Share of messages that are gone, in percent; 0.0 where there was none."""
        if not self.messages_before:
            return 0.0
        return 100.0 * (1 - self.messages_after / self.messages_before)

    @property
    def was_compressed(self) -> bool:
        """Whether it is smaller than before."""
        return self.tokens_after < self.tokens_before

    @property
    def tokens_saved(self) -> int:
        """Never negative."""
        return max(0, self.tokens_before - self.tokens_after)

    def to_dict(self) -> dict[str, float | bool]:
        """Every figure, derived ones included.

        An infinite factor is left out, for JSON has none.
        """
        derived = (
            "compression_ratio",
            "token_reduction_percent",
            "reduction_percent",
            "message_reduction_percent",
            "was_compressed",
            "tokens_saved",
        )
        factor = {"compression_factor": self.compression_factor} if self.tokens_after else {}
        return asdict(self) | {name: getattr(self, name) for name in derived} | factor

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CompressionMetrics:
        """The metrics that ``to_dict`` described."""
        return cls(**{f.name: data[f.name] for f in fields(cls)})


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """How much of the budget the result takes."""

    tokens: int
    limit: int

    @property
    def within(self) -> bool:
        """Whether it fits."""
        return self.tokens <= self.limit

    @property
    def utilization(self) -> int:
        """Share of the budget in percent, rounded; 0 for a budget of 0."""
        return round(100 * self.tokens / self.limit) if self.limit else 0


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one thread.

    The id stands here and never in a message; ``metadata`` is carried along.
    """

    thread_id: str
    messages: Sequence[Any]
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        if not isinstance(cast("object", self.thread_id), str) or not self.thread_id:
            advice = "give the id of the thread as text"
            raise InputError(
                f"{self.thread_id!r} is no id", place="Conversation.thread_id", advice=advice
            )

    def holding(self, messages: Sequence[Any]) -> Conversation:
        """The same conversation with these messages."""
        return replace(self, messages=messages)


def wrap(
    messages: Sequence[Any], thread_id: str, metadata: Mapping[str, Any] | None = None
) -> Conversation:
    """The messages as a conversation."""
    return Conversation(thread_id, messages, metadata or {})


def unwrap(conversation: Conversation) -> Sequence[Any]:
    """The messages of a conversation: the very object that was wrapped."""
    return conversation.messages


UNKNOWN = Accuracy("unknown")
_EDITS: dict[str, type[Edit]] = {
    cls.__name__.lower(): cls for cls in (Drop, Replace, Offload, Insert)
}


@dataclass(frozen=True, slots=True)
class Step:
    """One strategy of the run.

    Tokens before and after, whether it changed something, and why not if not.

    ``edits`` and what they took out (``taken``: position before -> the caller's message) undo the
    step; ``messages`` are the messages as they stood after it.
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
        """The messages as they stood before the step."""
        return restored(after, self.edits, self.taken)

    def to_dict(self) -> dict[str, object]:
        """The record as JSON has it; messages are left out, since the edits give them back."""
        return {
            "name": self.name,
            "before": self.before,
            "after": self.after,
            "applied": self.applied,
            "status": self.status,
            "reason": self.reason,
            "detail": self.detail,
            "edits": [{"edit": type(edit).__name__.lower(), **asdict(edit)} for edit in self.edits],
            "taken": {str(i): original for i, original in self.taken.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Step:
        """The record that ``to_dict`` described, without its messages."""
        return cls(
            name=data["name"],
            before=data["before"],
            after=data["after"],
            status=data["status"],
            reason=data["reason"],
            detail=data["detail"],
            edits=tuple(_edit(edit) for edit in data["edits"]),
            taken={int(i): original for i, original in data["taken"].items()},
        )


def _edit(data: Mapping[str, Any]) -> Edit:
    kind = _EDITS[data["edit"]]
    values = {f.name: _tupled(data[f.name]) for f in fields(kind)}
    return cast("Edit", cast("Any", kind)(**values))


def _tupled(value: object) -> object:
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


_SHOWN = Registry("view of a result", "views", {"report": "holdfast.reports:report"})
"""What draws a result stands above it, and is loaded when it is asked for."""


@dataclass(frozen=True, slots=True)
class Net:
    """What one call costs less for a compaction, in US dollars; ``spent`` is paid once."""

    saved: float
    """Tokens that are not sent, at the price of input."""

    lost: float
    """The discount on tokens that the prompt cache held and the changed beginning loses."""

    spent: float
    """What models and embedders were paid for it."""

    each: float
    """What every later call saves, when all of it is in the prompt cache."""

    @property
    def net(self) -> float:
        """Of the first call: saved, less lost and spent."""
        return self.saved - self.lost - self.spent

    @property
    def calls(self) -> float:
        """How many calls it takes until the compaction has paid for itself; infinite if never."""
        if self.net >= 0:
            return 1
        return 1 + ceil(-self.net / self.each) if self.each > 0 else inf

    def over(self, calls: int) -> float:
        """Of so many calls together."""
        return self.net + max(0, calls - 1) * self.each


@dataclass(frozen=True, slots=True, repr=False)
class CompressionResult(Generic[M]):
    """The messages in the form in which they came, and everything that was done to them.

    ``messages`` has the type of what was given; objects of a vendor's package are dictionaries in it.

    ``status``: ``skipped`` (they fit, or nothing could be done), ``compacted`` or ``failed``;
    ``reason`` is a short code, ``detail`` a sentence. ``degraded``: a step failed and cheaper ones
    took over. ``smallest`` is the least budget that would do, where this one could not be met:
    exact where a trim comes last; a strategy whose shares grow with the budget may leave a little
    more in a larger one. ``redacted`` counts masked secrets by kind; ``masked``: positions of
    original messages that ``restore`` gives back masked, all others being exact.
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
    """What counted it, by name."""
    strategy: Mapping[str, object] = field(default_factory=dict[str, object], repr=False)
    key: str = ""
    """The field of a request body under which its messages stand; empty for a bare list."""
    masked: tuple[int, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict[str, int])
    model_usage: ModelUsage = field(default=NO_CALLS, compare=False)
    """What models and embedders were asked for it, and what that took."""
    net: Net | None = None
    """What it is worth, where that was asked for: by ``costs``, or by a profile that goes by cost."""

    @property
    def tokens(self) -> int:
        """The size of ``messages`` in tokens, with everything that is sent beside them."""
        return self.spent.tokens

    @property
    def limit(self) -> int:
        """The budget in tokens, less reserve and headroom."""
        return self.spent.limit

    @property
    def utilization(self) -> int:
        """Share of the budget that is used, in percent."""
        return self.spent.utilization

    @property
    def usage(self) -> TokenUsage:
        """The old name of ``tokens``, ``limit`` and ``utilization``, beside ``model_usage``."""
        advice = "use result.tokens, result.limit or result.utilization"
        warn(f"result.usage is deprecated: {advice}", DeprecationWarning, stacklevel=2)
        return self.spent

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits of all steps; positions are those before their own step."""
        return tuple(edit for step in self.steps for edit in step.edits)

    @property
    def budget_met(self) -> bool:
        """Whether the result fits the budget; what could not be read has no result that could."""
        return self.spent.within and self.reason != "invalid_input"

    @property
    def removed_messages(self) -> int:
        """How many messages left the view."""
        return sum(len(edit.indices) for edit in self.edits if isinstance(edit, Drop))

    @property
    def trimmed(self) -> bool:
        """Whether any message left the view."""
        return self.removed_messages > 0

    def __repr__(self) -> str:
        """One line of sizes: the messages would fill the screen."""
        sizes = self.metrics
        return (
            f"<{type(self).__name__}: {sizes.tokens_before:,} -> {self.tokens:,} of {self.limit:,} tokens,"
            f" {sizes.messages_before} -> {sizes.messages_after} messages,"
            f" {self.reason or self.status}>"
        )

    def _repr_html_(self) -> str:
        """The report as a notebook shows it, in a frame of its own."""
        page = escape(self.report(form="html"), quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="600" style="border:0"></iframe>'

    def restore(self) -> M:
        """The original messages in the form in which they came."""
        return restore(self)

    def report(
        self, path: str | PathLike[str] | None = None, *, form: ReportForm | None = None
    ) -> str:
        """What was done to each message and why; written to the file too, where a path is given.

        ``form`` is ``text`` or ``html``, by default what the name of the file ends with. Raises
        InputError for a file that cannot be written.
        """
        file = "" if path is None else fspath(path)
        chosen = form or ("html" if file.lower().endswith((".html", ".htm")) else "text")
        told = cast("Callable[..., str]", _SHOWN.load("report"))(self, form=chosen)
        if file:
            write_all({file: told.encode("utf-8", "backslashreplace")})
        return told

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole result to a file, with all that was taken out, whole or not at all.

        Raises InputError for messages that JSON cannot hold, and for a file that cannot be written.
        """
        write_all({fspath(path): self.to_json().encode()})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> CompressionResult[Any]:
        """The result in a file of ``save``, or of the command line's ``--result``.

        Raises InputError for a file that cannot be read, or holds something else.
        """
        try:
            return cls.from_json(read_whole(path))
        except InputError as fault:
            place = fault.place or fspath(path)
            raise InputError(fault.problem, place=place, advice=fault.advice) from fault

    def to_json(self, indent: int | None = None) -> str:
        """The whole result, with all that was taken out.

        Raises InputError for messages that JSON cannot hold.
        """
        data = {
            "holdfast": 1,
            "format": self.format,
            "key": self.key,
            "strategy_name": self.strategy_name,
            "strategy": dict(self.strategy),
            "status": self.status,
            "reason": self.reason,
            "detail": self.detail,
            "degraded": self.degraded,
            "budget_met": self.budget_met,
            "smallest": self.smallest,
            "trimmed": self.trimmed,
            "removed_messages": self.removed_messages,
            "masked": list(self.masked),
            "redacted": dict(self.redacted),
            "accuracy": asdict(self.accuracy),
            "counter": self.counter,
            "usage": asdict(self.spent)
            | {"within": self.spent.within, "utilization": self.spent.utilization},
            "model_usage": self.model_usage.to_dict(),
            "net": self.net and asdict(self.net),
            "metrics": self.metrics.to_dict(),
            "steps": [step.to_dict() for step in self.steps],
            "conversation": _identity(self.messages),
            "messages": bare(self.messages),
        }
        try:
            return json.dumps(data, indent=indent, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as fault:
            advice = "give messages made of dictionaries, lists, texts and finite numbers"
            raise InputError(
                f"a message cannot be written as JSON: {fault}", advice=advice
            ) from fault

    @classmethod
    def from_json(cls, text: str | bytes) -> CompressionResult[Any]:
        """The result that ``to_json`` wrote. Raises InputError for anything else."""
        try:
            return cls._from_dict(json.loads(text))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as fault:
            advice = "give a file that --result or CompressionResult.to_json wrote"
            said = f"it has no {fault}" if isinstance(fault, KeyError) else fault
            raise InputError(f"this is not the JSON of a result ({said})", advice=advice) from fault

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> CompressionResult[Any]:
        if data["holdfast"] != 1:
            raise ValueError(f"version {data['holdfast']!r} is not known")
        talk, messages = data["conversation"], data["messages"]
        plain: CompressionResult[Any] = cls(
            messages=cast("M", Conversation(messages=messages, **talk) if talk else messages),
            metrics=CompressionMetrics.from_dict(data["metrics"]),
            spent=TokenUsage(data["usage"]["tokens"], data["usage"]["limit"]),
            strategy_name=data["strategy_name"],
            format=data["format"],
            status=data["status"],
            reason=data["reason"],
            detail=data["detail"],
            degraded=data["degraded"],
            smallest=data["smallest"],
            accuracy=Accuracy(data["accuracy"]["kind"], data["accuracy"]["error"]),
            counter=data["counter"],
            strategy=data["strategy"],
            key=data["key"],
            masked=tuple(data["masked"]),
            redacted=data["redacted"],
            model_usage=ModelUsage.from_dict(data["model_usage"]),
            net=Net(**data["net"]) if data.get("net") else None,
        )
        steps: list[Step] = []
        after = message_list(plain)
        for record in reversed([Step.from_dict(step) for step in data["steps"]]):
            steps.append(replace(record, messages=tuple(after)))
            after = record.undone(after)
        return replace(plain, steps=tuple(reversed(steps)))


def bare(messages: Any) -> Any:
    """The messages of a conversation, or what is none as it is."""
    payload: Any = messages.messages if isinstance(messages, Conversation) else messages
    return payload


def _identity(messages: object) -> dict[str, object] | None:
    """What a conversation is beside its messages."""
    if not isinstance(messages, Conversation):
        return None
    return {"thread_id": messages.thread_id, "metadata": dict(messages.metadata)}


def message_list(result: CompressionResult[Any]) -> list[object]:
    """The messages of the result without the body or the conversation around them."""
    payload = bare(result.messages)
    return listed(payload[result.key] if result.key else payload)


def listed(given: Sequence[object] | str) -> list[object]:
    """The messages of a list; a text alone, as a body may have it, is a user's message."""
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given)


def as_given(given: object, messages: list[object]) -> object:
    """The messages in the form that was given: a text for a text if only one message is left."""
    only: Any = messages[0] if len(messages) == 1 else None
    return only["content"] if isinstance(given, str) and only else messages


def restore(result: CompressionResult[M]) -> M:
    """The original messages in the form in which they came: every step undone, last one first."""
    if not isinstance(cast("object", result), CompressionResult):
        raise InputError(
            f"{type(result).__name__} is no result", advice="give what compress returned"
        )
    messages = message_list(result)
    for step in reversed(result.steps):
        if step.applied:
            messages = step.undone(messages)
    payload = bare(result.messages)
    if result.key:
        original: Any = {**payload, result.key: as_given(payload[result.key], messages)}
    else:
        original = tuple(messages) if isinstance(payload, tuple) else messages
    if isinstance(result.messages, Conversation):
        original = result.messages.holding(original)
    return cast("M", original)
