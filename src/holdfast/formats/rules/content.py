"""Rules on the content of a message: what it must have, and what may not be empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from holdfast.kernel.integrity import Violation
from holdfast.kernel.messages import Message, Text

from .changes import (
    MessageByMessage,
    RewritingRule,
    blocks,
    original,
    with_blocks,
    with_fields,
    without_field,
)

_IN_PLACE_OF_CONTENT = ("tool_calls", "function_call", "refusal", "audio")
_EMPTY = "the message is empty"


class ContentGiven(MessageByMessage):
    """Chat Completions: content may be null only in a message with a call, a refusal or sound."""

    name = "content_given"

    def problem(self, message: Message) -> str:
        """Content that is null, without one of these."""
        if message.plain is not None:
            return ""
        value = original(message)
        if value.get("content") is not None or any(map(value.get, _IN_PLACE_OF_CONTENT)):
            return ""
        return "content is null, and the message calls no tool"

    def mended(self, message: Message) -> Message:
        """The message with an empty text, which is accepted."""
        return with_fields(message, content="")


class CallListNotEmpty(MessageByMessage):
    """Chat Completions: a list of tool calls has at least one."""

    name = "call_list_not_empty"

    def problem(self, message: Message) -> str:
        """An empty list instead of null or no field."""
        return "tool_calls is an empty list" if original(message).get("tool_calls") == [] else ""

    def mended(self, message: Message) -> Message:
        """The message without the field."""
        return without_field(message, "tool_calls")


class NotEmpty(MessageByMessage):
    """Every message has content, and no text is empty.

    ``blank`` says whether white space counts as empty. ``all``: not all texts of a message may be
    blank (Messages API; a last message of the assistant may be empty there, but not without
    content). ``any``: no text may be blank (Converse). Gemini accepts blank texts.
    """

    name = "message_not_empty"

    def __init__(self, blank: Literal["all", "any", ""]) -> None:
        self._blank = blank

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """An empty message, or one with an empty text."""
        ends = self._blank == "all" and bool(messages) and messages[-1].role == "assistant"
        for violation in super().violations(messages):
            is_last = violation.index == len(messages) - 1
            if not (ends and is_last and violation.problem == _EMPTY):
                yield violation

    def problem(self, message: Message) -> str:
        """The empty part."""
        if self._blank == "all" and original(message).get("content") is None:
            return "the message has no content"
        if not message.parts or message.plain == "":
            return _EMPTY
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        if not all(texts):
            return "one of its texts is empty"
        blank = [not text.strip() for text in texts]
        if (self._blank == "all" and texts and all(blank)) or (self._blank == "any" and any(blank)):
            return "its text is only white space"
        return ""

    def mended(self, message: Message) -> Message | None:
        """The message without its blank texts."""
        now = [
            block
            for part, block in zip(message.parts, blocks(message), strict=True)
            if not isinstance(part, Text) or part.text.strip()
        ]
        return with_blocks(message, now) if now else None


class FinalTextTrimmed(RewritingRule):
    """Messages API: a last message of the assistant does not end in white space."""

    name = "final_text_trimmed"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """White space at the end of the last message."""
        if messages and _trails(messages[-1]):
            problem = "the assistant's last text ends in white space"
            yield Violation(self.name, len(messages) - 1, problem)

    def rewritten(self, messages: Sequence[Message]) -> Iterable[Message]:
        """The messages without the white space, and without a message that is then empty."""
        after = list(messages)
        while after and _trails(after[-1]):
            after += _trimmed(after.pop())
        return after


def _trimmed(last: Message) -> list[Message]:
    """The message without white space at its end; nothing if that is all its content."""
    if last.plain is not None:
        text = last.plain.rstrip()
        return [with_fields(last, content=text)] if text else []
    *others, final = blocks(last)
    text = final["text"].rstrip()
    now = [*others, {**final, "text": text}] if text else others
    return [with_blocks(last, now)] if now else []


def _trails(message: Message) -> bool:
    if message.role != "assistant" or not message.parts:
        return False
    part = message.parts[-1]
    return isinstance(part, Text) and part.text != part.text.rstrip()
