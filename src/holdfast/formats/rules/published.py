"""Rules on what a vendor publishes about messages: fields, kinds, roles and limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from holdfast.formats.payloads import is_list, is_object
from holdfast.formats.schemas import Problem, Schema, published
from holdfast.kernel.integrity import Rule, Violation
from holdfast.kernel.messages import Message

from .call_ids import ShortCallIds
from .changes import MessageByMessage, RewritingRule, made, original, with_fields


def published_rules(
    wire: str, kind: Callable[[Mapping[str, Any]], object] = itemgetter("role")
) -> tuple[Rule, ...]:
    """The rules on published fields, and on the length of call ids if the vendor limits it."""
    most = published(wire).limits.get("call_id")
    return (AsPublished(wire, kind=kind), *([ShortCallIds(most)] if most else ()))


REQUEST = -1
"""The index of a violation outside the messages."""
_CACHED = "cache_control"


class AsPublished(MessageByMessage):
    """Every message has only fields, kinds of parts and lengths that the vendor publishes.

    ``wire`` is the name of the published schema, ``system`` the system prompt beside the messages,
    and ``kind`` returns the name of a message's schema. Unknown roles are left to another rule.
    """

    name = "as_published"

    def __init__(
        self,
        wire: str,
        system: object = None,
        kind: Callable[[Mapping[str, Any]], object] = itemgetter("role"),
    ) -> None:
        self._wire, self._system, self._kind = wire, system, kind

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """One for the system prompt and one for each message, with all its problems."""
        if self._system is not None:
            schema = published(self._wire)
            content = schema.roles["user"]["properties"]["content"]
            if problem := _described(schema.problems(self._system, content, "system")):
                yield Violation(self.name, REQUEST, problem)
        yield from super().violations(messages)

    def problem(self, message: Message) -> str:
        """The differences from the schema."""
        schema = self._schema_of(message)
        if not schema:
            return ""
        return _described(published(self._wire).problems(original(message), schema, ""))

    def mended(self, message: Message) -> Message:
        """The message with every unambiguous repair made."""
        value = original(message)
        now = published(self._wire).mended(value, self._schema_of(message))
        return message if now == value else made(message.wire, now, message)

    def _schema_of(self, message: Message) -> Schema:
        roles = published(self._wire).roles
        return roles.get(str(self._kind(original(message))), roles.get("other", {}))


def _described(problems: Iterable[Problem]) -> str:
    """The problems on one line, each once."""
    told = (": ".join(filter(None, (place.lstrip("."), why))) for place, why in problems)
    return "; ".join(dict.fromkeys(told))


class CacheControls(RewritingRule):
    """A request has a limited number of blocks that are marked for the cache.

    ``beside`` are fields of the request besides its messages, whose marks count too.
    """

    name = "cache_controls_limited"

    def __init__(self, wire: str, *beside: object) -> None:
        self._wire, self._beside = wire, sum(map(_marks, beside))

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """The message with the first mark above the limit."""
        most, marks = published(self._wire).limits[_CACHED], self._beside
        for i, message in enumerate(messages):
            marks += _marks(original(message))
            if marks > most:
                problem = f"more than {most} blocks of the request have {_CACHED}"
                yield Violation(self.name, i, problem)
                return

    def rewritten(self, messages: Sequence[Message]) -> Iterable[Message]:
        """The messages with only the newest marks, since all before a mark is cached with it."""
        left = published(self._wire).limits[_CACHED] - self._beside
        after: list[Message] = []
        for message in reversed(messages):
            marks = _marks(original(message))
            if marks > left:
                content = _kept(original(message)["content"], max(0, left))
                after.append(with_fields(message, content=content))
            else:
                after.append(message)
            left -= marks
        return after[::-1]


def _marks(value: object) -> int:
    """The number of marks on the value and its content; tool inputs are not searched."""
    if is_list(value):
        return sum(map(_marks, value))
    if not is_object(value):
        return 0
    return bool(value.get(_CACHED)) + _marks(value.get("content"))


def _kept(content: Any, left: int) -> Any:
    """The content with only its last ``left`` marks."""
    if not is_list(content):
        return content
    now: list[Any] = []
    for block in reversed(content):
        marks = _marks(block)
        kept = block
        if marks > left:
            kept = {field: value for field, value in block.items() if field != _CACHED or left > 0}
            if "content" in kept:
                kept["content"] = _kept(kept["content"], max(0, left - bool(kept.get(_CACHED))))
        now.append(kept)
        left = max(0, left - marks)
    return now[::-1]
