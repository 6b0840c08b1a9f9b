"""What comes of a compression: pure data that survives JSON, and can be undone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, cast

from holdfast.conversation import Conversation
from holdfast.kernel.apply import restored
from holdfast.kernel.compressor import Status
from holdfast.kernel.edits import Drop, Edit, Insert, Offload, Replace
from holdfast.kernel.errors import InputError
from holdfast.kernel.ports import Accuracy
from holdfast.metrics import CompressionMetrics, TokenUsage
from holdfast.usage import NO_CALLS, ModelUsage

__all__ = ["CompressionMetrics", "CompressionResult", "Step", "TokenUsage", "bare", "message_list", "restore"]

UNKNOWN = Accuracy("unknown")
_EDITS: dict[str, type[Edit]] = {cls.__name__.lower(): cls for cls in (Drop, Replace, Offload, Insert)}


@dataclass(frozen=True, slots=True)
class Step:
    """One strategy of the run: tokens before and after, whether it changed something, and why not if not.

    ``edits`` and what they took out (``taken``: position before -> the caller's message) undo the step;
    ``messages`` are the messages as they stood after it.
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


@dataclass(frozen=True, slots=True)
class CompressionResult:
    """The messages in the form in which they came, and everything that was done to them.

    ``status``: ``skipped`` (they fit, or nothing could be done), ``compacted`` or ``failed``; ``reason`` is a
    short code, ``detail`` a sentence. ``degraded``: a step failed and cheaper ones took over. ``smallest`` is
    the least budget that would do, where this one could not be met: exact where a trim comes last; a strategy
    whose shares grow with the budget may leave a little more in a larger one. ``redacted`` counts masked secrets
    by kind; ``masked``: positions of original messages that ``restore`` gives back masked, all others being exact.
    """

    messages: Any
    metrics: CompressionMetrics
    usage: TokenUsage
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

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits of all steps; positions are those before their own step."""
        return tuple(edit for step in self.steps for edit in step.edits)

    @property
    def budget_met(self) -> bool:
        """Whether the result fits the budget; what could not be read has no result that could."""
        return self.usage.within and self.reason != "invalid_input"

    @property
    def removed_messages(self) -> int:
        """How many messages left the view."""
        return sum(len(edit.indices) for edit in self.edits if isinstance(edit, Drop))

    @property
    def trimmed(self) -> bool:
        """Whether any message left the view."""
        return self.removed_messages > 0

    def to_json(self, indent: int | None = None) -> str:
        """The whole result, with all that was taken out. Raises InputError for messages that JSON cannot hold."""
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
            "usage": asdict(self.usage) | {"within": self.usage.within, "utilization": self.usage.utilization},
            "model_usage": self.model_usage.to_dict(),
            "metrics": self.metrics.to_dict(),
            "steps": [step.to_dict() for step in self.steps],
            "conversation": _identity(self.messages),
            "messages": bare(self.messages),
        }
        try:
            return json.dumps(data, indent=indent, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as fault:
            advice = "give messages made of dictionaries, lists, texts and finite numbers"
            raise InputError(f"a message cannot be written as JSON: {fault}", advice=advice) from fault

    @classmethod
    def from_json(cls, text: str | bytes) -> CompressionResult:
        """The result that ``to_json`` wrote. Raises InputError for anything else."""
        try:
            return cls._from_dict(json.loads(text))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as fault:
            advice = "give a file that --result or CompressionResult.to_json wrote"
            said = f"it has no {fault}" if isinstance(fault, KeyError) else fault
            raise InputError(f"this is not the JSON of a result ({said})", advice=advice) from fault

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> CompressionResult:
        if data["holdfast"] != 1:
            raise ValueError(f"version {data['holdfast']!r} is not known")
        talk = data["conversation"]
        plain = cls(
            messages=Conversation(messages=data["messages"], **talk) if talk else data["messages"],
            metrics=CompressionMetrics.from_dict(data["metrics"]),
            usage=TokenUsage(data["usage"]["tokens"], data["usage"]["limit"]),
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


def message_list(result: CompressionResult) -> list[object]:
    """The messages of the result without the body or the conversation around them."""
    payload = bare(result.messages)
    return list(payload[result.key] if result.key else payload)


def restore(result: CompressionResult) -> Any:
    """The original messages in the form in which they came: every step undone, last one first."""
    if not isinstance(cast("object", result), CompressionResult):
        raise InputError(f"{type(result).__name__} is no result", advice="give what compress returned")
    messages = message_list(result)
    for step in reversed(result.steps):
        if step.applied:
            messages = step.undone(messages)
    payload = bare(result.messages)
    if result.key:
        original: Any = {**payload, result.key: messages}
    else:
        original = tuple(messages) if isinstance(payload, tuple) else messages
    return result.messages.holding(original) if isinstance(result.messages, Conversation) else original
