"""What providers refuse: one class for each rule, with a refused request in ``tests/rejected/``."""

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import cast

from holdfast.formats.payloads import Object
from holdfast.formats.wire import BlockWire
from holdfast.kernel.edits import Drop, Edit, Insert
from holdfast.kernel.integrity import Problems, Rule
from holdfast.kernel.messages import Message, Messages, Part, Role, Text, Wire


class RewritingRule(Rule):
    """A rule whose repair returns the messages as they should be; edits follow from that."""

    def rewritten(self, messages: Messages) -> Iterable[Message]:
        """The messages after the repair; by default each broken message is repaired by itself."""
        broken = {index for index, _ in self.problems(messages)}
        for i, message in enumerate(messages):
            now = self.mended(message) if i in broken else message
            if now is not None:
                yield now

    def mended(self, message: Message) -> Message | None:
        """The repaired message, or None if nothing is left of it.

        By default it is dropped, as where only the vendor could make what it lacks.
        """
        return None

    def repair(self, messages: Messages) -> Sequence[Edit]:
        """The edits that lead to the repaired messages."""
        return edits_between(messages, list(self.rewritten(messages)), self.name)


class MessageByMessage(RewritingRule):
    """A rule on single messages."""

    alone = True

    @abstractmethod
    def problem(self, message: Message) -> str:
        """The problem of the message; empty if there is none."""

    def problems(self, messages: Messages) -> Problems:
        """One for each message with a problem."""
        for i, message in enumerate(messages):
            if problem := self.problem(message):
                yield i, problem


def original(message: Message) -> Object:
    """The caller's message as its wire views it: always a mapping."""
    return wire_of(message).view(message.original)


def made(wire: Wire, value: Object, was: Message | None = None) -> Message:
    """A message of this wire; ``was`` is the message of which it is a new version."""
    now = cast("BlockWire", wire).rebuilt(value, was and was.original)
    return Message(wire.role(now), now, wire)


def with_fields(message: Message, **fields: object) -> Message:
    """A copy of the message with these fields set."""
    return made(message.wire, {**original(message), **fields}, message)


def without_field(message: Message, name: str) -> Message:
    """A copy of the message without this field."""
    fields = {field: value for field, value in original(message).items() if field != name}
    return made(message.wire, fields, message)


def blocks(message: Message) -> list[Object]:
    """The content blocks of a message, one for each part; a plain text counts as one block."""
    content: object = original(message).get(wire_of(message).content)
    if isinstance(content, str):
        return [wire_of(message).block(Text(content))]
    return list(cast("Sequence[Object]", content or ()))


def parts_and_blocks(message: Message) -> Iterable[tuple[Part, Object]]:
    """Each part of a message with its block."""
    return zip(message.parts, blocks(message), strict=True)


def with_blocks(message: Message, now: Sequence[Object]) -> Message:
    """The message with these blocks; the same message if they are its own."""
    if list(now) == blocks(message):
        return message
    return with_fields(message, **{wire_of(message).content: list(now)})


def keeping(message: Message, stays: Callable[[Part], bool]) -> Message | None:
    """The message with the blocks of these parts only; None if there are none."""
    now = [block for part, block in parts_and_blocks(message) if stays(part)]
    return with_blocks(message, now) if now else None


def message_of(beside: Message, role: Role, now: Sequence[Object]) -> Message:
    """A new message of these blocks, on the wire of ``beside``."""
    return made(beside.wire, wire_of(beside).holding(role, now))


def wire_of(message: Message) -> BlockWire:
    """The wire of the message; only the rules of formats with blocks need what such a wire has."""
    return cast("BlockWire", message.wire)


def free_name(wanted: str, taken: dict[str, int], mark: str = "_") -> str:
    """The name, with a number if it is taken; ``taken`` holds the last number of each name."""
    name = wanted
    while name in taken:
        taken[wanted] += 1
        name = f"{wanted}{mark}{taken[wanted]}"
    taken[name] = 1
    return name


def between(spans: Iterable[Sequence[int]]) -> set[int]:
    """The positions after the first of each span, up to its last."""
    return {position for first, last in spans for position in range(first + 1, last + 1)}


def edits_between(before: Messages, after: Messages, reason: str) -> list[Edit]:
    """The edits that turn one sequence of messages into the other.

    As many message objects as possible that are in both stay in place. A moved one is dropped and
    inserted again.
    """
    place = {id(message): i for i, message in enumerate(before)}
    kept = longest_rising([place.get(id(message), -1) for message in after])
    staying = {place[id(after[k])] for k in kept}
    gone = tuple(i for i in range(len(before)) if i not in staying)
    edits: list[Edit] = [Drop(gone, reason)] if gone else []
    at = 0
    for k, message in enumerate(after):
        if k in kept:
            at = place[id(message)] + 1
            continue
        text = message.content_text or ""
        edits.append(Insert(at, message.role, text, reason, original=message.original))
    return edits


def longest_rising(places: Sequence[int]) -> set[int]:
    """Indices of a longest increasing subsequence, by patience sorting; -1 is skipped."""
    tops: list[int] = []
    ends = [-1]  # the index before the first one, then that of the top of each pile
    previous: dict[int, int] = {}
    for k, place in enumerate(places):
        if place >= 0:
            pile = bisect_left(tops, place)
            previous[k] = ends[pile]
            tops[pile : pile + 1] = [place]
            ends[pile + 1 : pile + 2] = [k]
    chosen: set[int] = set()
    step = ends[-1]
    while step >= 0:
        chosen.add(step)
        step = previous[step]
    return chosen
