"""Signed thinking: it leads its message, and stays with the tool calls that it led to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from holdfast.kernel.edits import Edit
from holdfast.kernel.integrity import Rule, Violation
from holdfast.kernel.messages import Message, Reasoning
from holdfast.kernel.transcript import speaks

from .blocks import blocks, with_blocks
from .changes import edits_between


class ThinkingSigned(Rule):
    """Every thinking block has its signature, and is the assistant's."""

    name = "thinking_signed"
    alone = True

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """Thinking without one, or of another."""
        for i, message in enumerate(messages):
            if message.role != "assistant" and _thinks(message):
                yield Violation(
                    self.name, i, f"there is thinking in a message of the {message.role}"
                )
            elif _thinks_unsigned(message):
                yield Violation(self.name, i, "its thinking has no signature")

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """Thinking that cannot be signed any more goes."""
        broken = {violation.index for violation in self.violations(messages)}
        now = [
            _without_thinking(message, unsigned_only=message.role == "assistant")
            if i in broken
            else message
            for i, message in enumerate(messages)
        ]
        return edits_between(
            messages, [message for message in now if message is not None], self.name
        )


class ThinkingLeads(Rule):
    """A message that has thinking starts with it."""

    name = "thinking_leads_its_message"
    alone = True

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """A message that thinks after it has spoken."""
        for i, message in enumerate(messages):
            if _thinks_late(message):
                yield Violation(self.name, i, "it has thinking, and starts with something else")

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """The first thinking moves to the front, unchanged."""
        now = [
            _thinking_first(message) if _thinks_late(message) else message for message in messages
        ]
        return edits_between(messages, now, self.name)


class ThinkingStays(Rule):
    """Since the user last spoke, the assistant's messages start with thinking if any of them has it.

    The vendor asks this of the tool loop that is going on; earlier turns may lose their thinking.
    So an exchange without thinking stays with the one before it, and the last message that thinking
    leads stays as long as the loop goes on after it.
    """

    name = "thinking_stays_with_its_loop"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """A loop whose thinking comes later than its start."""
        loop = _loop(messages)
        led = [i for i in loop if _led(messages[i])]
        if led and loop[0] < led[0]:
            yield Violation(
                self.name, loop[0], "the tool loop has thinking, and does not start with it"
            )

    def welds(self, messages: Sequence[Message]) -> Iterable[int]:
        """From a message led by thinking to the ones after it that are not."""
        loop = _loop(messages)
        led = [i for i in loop if _led(messages[i])]
        for before, i in pairwise(loop):
            if led and led[0] < i < led[-1] and not _led(messages[i]):
                yield from range(before + 1, i + 1)

    def keeps(self, messages: Sequence[Message]) -> Iterable[int]:
        """The last message that thinking leads."""
        return [i for i in _loop(messages) if _led(messages[i])][-1:]

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """Thinking cannot be made: the loop goes on without any."""
        loop = set(_loop(messages))
        now = [
            _without_thinking(message) if i in loop else message
            for i, message in enumerate(messages)
        ]
        return edits_between(
            messages, [message for message in now if message is not None], self.name
        )


def _loop(messages: Sequence[Message]) -> list[int]:
    """The assistant's messages since the user last spoke."""
    loop: list[int] = []
    for i in range(len(messages) - 1, -1, -1):
        if speaks(messages[i]):
            break
        if messages[i].role == "assistant":
            loop.append(i)
    return loop[::-1]


def _led(message: Message) -> bool:
    return message.plain is None and bool(message.parts) and isinstance(message.parts[0], Reasoning)


def _thinks(message: Message) -> bool:
    return message.plain is None and any(isinstance(part, Reasoning) for part in message.parts)


def _thinks_unsigned(message: Message) -> bool:
    return _thinks(message) and any(
        isinstance(part, Reasoning) and not part.signed for part in message.parts
    )


def _thinks_late(message: Message) -> bool:
    return message.role == "assistant" and not _led(message) and _thinks(message)


def _without_thinking(message: Message, *, unsigned_only: bool = False) -> Message | None:
    """The message without its thinking; None where nothing is left."""
    now = [
        block
        for part, block in zip(message.parts, blocks(message), strict=True)
        if not isinstance(part, Reasoning) or (unsigned_only and part.signed)
    ]
    return with_blocks(message, now) if now else None


def _thinking_first(message: Message) -> Message:
    own = blocks(message)
    first = next(k for k, part in enumerate(message.parts) if isinstance(part, Reasoning))
    return with_blocks(message, [own[first], *own[:first], *own[first + 1 :]])
