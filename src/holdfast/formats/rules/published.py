"""What a vendor publishes about single messages: fields, kinds, roles and limits, as ``schemas`` reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from holdfast.formats.schemas import Problem, WireSchema, published
from holdfast.formats.values import is_list, is_object
from holdfast.kernel.edits import Edit
from holdfast.kernel.integrity import Rule, Violation
from holdfast.kernel.messages import Message

from .changes import edits_between, made, original

REQUEST = -1
"""The index of a violation that stands beside the messages."""
_CACHED = "cache_control"


class AsPublished(Rule):
    """Every message has the fields, the kinds of parts and the lengths that the vendor publishes.

    ``system`` is what stands beside the messages, ``kind`` the name by which a message is known
    there. A role that the vendor does not know is another rule's.
    """

    name = "as_published"
    alone = True

    def __init__(
        self,
        wire: str,
        system: object = None,
        kind: Callable[[Mapping[str, Any]], object] = itemgetter("role"),
    ) -> None:
        self._wire, self._system, self._kind = wire, system, kind

    @property
    def _schema(self) -> WireSchema:
        return published(self._wire)

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """One for each message, with all that is wrong in it."""
        if self._system is not None:
            content = self._schema.roles["user"]["properties"]["content"]
            yield from self._violation(
                REQUEST, self._schema.problems(self._system, content, "system")
            )
        for i, message in enumerate(messages):
            value = original(message)
            schema = self._schema.roles.get(str(self._kind(value)))
            if schema:
                yield from self._violation(i, self._schema.problems(value, schema, ""))

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """What has one meaning only is put right."""
        broken = {violation.index for violation in self.violations(messages)}
        after = [
            self._mended(message) if i in broken else message for i, message in enumerate(messages)
        ]
        return edits_between(messages, after, self.name)

    def _violation(self, index: int, problems: Iterable[Problem]) -> Iterator[Violation]:
        told = dict.fromkeys(
            ": ".join(filter(None, (place.lstrip("."), why))) for place, why in problems
        )
        if told:
            yield Violation(self.name, index, "; ".join(told))

    def _mended(self, message: Message) -> Message:
        value = original(message)
        now = self._schema.mended(value, self._schema.roles[str(self._kind(value))])
        return message if now == value else made(message.wire, now)


class CacheControls(Rule):
    """So many blocks of a request are marked for the cache, and no more; ``beside`` stands beside the messages."""

    name = "cache_controls_limited"

    def __init__(self, wire: str, *beside: object) -> None:
        self._wire, self._beside = wire, sum(map(_marks, beside))

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """The message with the first mark that is too many."""
        most, marks = published(self._wire).limits[_CACHED], self._beside
        for i, message in enumerate(messages):
            marks += _marks(original(message))
            if marks > most:
                yield Violation(
                    self.name, i, f"more than {most} blocks of the request have {_CACHED}"
                )
                return

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """The newest marks stay: what stands before a mark is in the cache with it."""
        left = published(self._wire).limits[_CACHED] - self._beside
        after: list[Message] = []
        for message in reversed(messages):
            marks = _marks(original(message))
            if marks > left:
                value = original(message)
                after.append(
                    made(message.wire, {**value, "content": _kept(value["content"], max(0, left))})
                )
            else:
                after.append(message)
            left -= marks
        return edits_between(messages, after[::-1], self.name)


def _marks(value: object) -> int:
    """How often the value, or what is in it, is marked; tools' inputs may have a field of this name."""
    if is_list(value):
        return sum(map(_marks, value))
    if not is_object(value):
        return 0
    return bool(value.get(_CACHED)) + _marks(value.get("content"))


def _kept(content: Any, left: int) -> Any:
    """The content with the last so many marks."""
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
