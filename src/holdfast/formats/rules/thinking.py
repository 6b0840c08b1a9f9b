"""Rules on signed thinking: it begins its message, and stays with the tool calls after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from holdfast.kernel.integrity import Violation
from holdfast.kernel.messages import Message, Reasoning
from holdfast.kernel.transcript import speaks

from .changes import MessageByMessage, RewritingRule, blocks, with_blocks


class ThinkingSigned(MessageByMessage):
    """Thinking is signed, and in the assistant's role."""

    name = "thinking_signed"

    def problem(self, message: Message) -> str:
        """Thinking without a signature, or in another role."""
        thinking = _thinking(message)
        if thinking and message.role != "assistant":
            return f"there is thinking in a message of the {message.role}"
        if not all(part.signed for part in thinking):
            return "its thinking has no signature"
        return ""

    def mended(self, message: Message) -> Message | None:
        """The message without the refused thinking."""
        return _without_thinking(message, unsigned_only=message.role == "assistant")


class ThinkingLeads(MessageByMessage):
    """A message with thinking starts with thinking."""

    name = "thinking_leads_its_message"

    def problem(self, message: Message) -> str:
        """Thinking that is only after another part."""
        late = message.role == "assistant" and not _led(message) and _thinking(message)
        return "it has thinking, and starts with something else" if late else ""

    def mended(self, message: Message) -> Message:
        """The message with its first thinking moved to the start, unchanged."""
        own = blocks(message)
        first = next(k for k, part in enumerate(message.parts) if isinstance(part, Reasoning))
        return with_blocks(message, [own[first], *own[:first], *own[first + 1 :]])


class ThinkingStays(RewritingRule):
    """If a tool loop has thinking, its first message starts with it.

    The loop is the assistant's messages since the user last spoke. The vendor requires this of the
    current loop only; earlier ones may lose their thinking. So an exchange without thinking stays
    with the one before it, and the last message that starts with thinking is kept.
    """

    name = "thinking_stays_with_its_loop"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """A loop whose first message does not start with its thinking."""
        loop = _loop(messages)
        led = [i for i in loop if _led(messages[i])]
        if led and loop[0] < led[0]:
            problem = "the tool loop has thinking, and does not start with it"
            yield Violation(self.name, loop[0], problem)

    def welds(self, messages: Sequence[Message]) -> Iterable[int]:
        """Every position from a message that starts with thinking to the next that does."""
        loop = _loop(messages)
        led = [i for i in loop if _led(messages[i])]
        for before, i in pairwise(loop):
            if led and led[0] < i < led[-1] and not _led(messages[i]):
                yield from range(before + 1, i + 1)

    def keeps(self, messages: Sequence[Message]) -> Iterable[int]:
        """The last message that starts with thinking."""
        return [i for i in _loop(messages) if _led(messages[i])][-1:]

    def rewritten(self, messages: Sequence[Message]) -> Iterable[Message]:
        """The messages without thinking in the loop, since only the vendor could add the rest."""
        loop = set(_loop(messages))
        for i, message in enumerate(messages):
            now = _without_thinking(message) if i in loop else message
            if now is not None:
                yield now


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
    """Whether the message starts with thinking."""
    return message.plain is None and bool(message.parts) and isinstance(message.parts[0], Reasoning)


def _thinking(message: Message) -> list[Reasoning]:
    if message.plain is not None:
        return []
    return [part for part in message.parts if isinstance(part, Reasoning)]


def _without_thinking(message: Message, *, unsigned_only: bool = False) -> Message | None:
    """The message without its thinking; None if it has nothing else."""
    now = [
        block
        for part, block in zip(message.parts, blocks(message), strict=True)
        if not isinstance(part, Reasoning) or (unsigned_only and part.signed)
    ]
    return with_blocks(message, now) if now else None
