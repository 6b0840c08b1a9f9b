"""What can say the same as something else: messages of words, and exchanges with tools as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.compressors.dedupe.meaning import body
from holdfast.compressors.summaries import body_of
from holdfast.kernel.messages import Message, Text, ToolCall, ToolResult
from holdfast.kernel.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Saying:
    """A unit of the transcript with its words; only sayings of one ``kind`` are compared."""

    unit: range
    kind: tuple[str, ...]
    """The role of a message, or the roles and the tools of an exchange."""
    text: str
    meant: str
    """The text as its author wrote it: what is compared."""

    @property
    def is_exchange(self) -> bool:
        """Whether tools were called."""
        return len(self.kind) > 1


def sayings(transcript: Transcript, stop: int) -> Iterator[Saying]:
    """What is said before position ``stop`` and can be read as words alone; never the system's."""
    for unit in transcript.units:
        if unit.stop > stop:
            return
        messages = transcript.messages[unit.start : unit.stop]
        texts = [_text(message) for message in messages]
        if messages[0].role != "system" and not any(text is None for text in texts):
            text = "\n".join(filter(None, texts))
            if text.strip():
                names = tuple(call.name for message in messages for call in message.calls)
                roles = tuple(message.role for message in messages)
                yield Saying(unit, (*roles, *names), text, body(text)[0])


def _text(message: Message) -> str | None:
    """The words of a message; None where it has parts that are no words, or stands for others."""
    if message.plain is not None:
        return None if body_of(message) is not None else message.plain
    if not all(isinstance(part, Text | ToolCall) or _is_words(part) for part in message.parts):
        return None
    texts = [part.arguments if isinstance(part, ToolCall) else part.text for part in message.parts]
    return None if body_of(message) is not None else "\n".join(texts)


def _is_words(part: object) -> bool:
    return isinstance(part, ToolResult) and not part.media
