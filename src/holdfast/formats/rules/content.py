"""What a message must say, and may not leave empty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from holdfast.kernel.edits import Edit
from holdfast.kernel.integrity import Rule, Violation
from holdfast.kernel.messages import Message, Text

from .blocks import blocks, with_blocks
from .changes import edits_between, made, original

_SAYS_WITHOUT_CONTENT = ("tool_calls", "function_call", "refusal", "audio")


class ContentGiven(Rule):
    """Chat Completions: content may be null only where the message calls a tool, refuses or carries sound."""

    name = "content_given"
    alone = True

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """A message without content and without anything in its place."""
        for i, message in enumerate(messages):
            if message.plain is None and _says_nothing(message):
                yield Violation(self.name, i, "content is null, and the message calls no tool")

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """An empty text, which is taken."""
        after = [
            made(message.wire, {**original(message), "content": ""})
            if _says_nothing(message)
            else message
            for message in messages
        ]
        return edits_between(messages, after, self.name)


class CallListNotEmpty(Rule):
    """Chat Completions: a list of tool calls has at least one."""

    name = "call_list_not_empty"
    alone = True

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """An empty list, where null or no field is meant."""
        for i, message in enumerate(messages):
            if original(message).get("tool_calls") == []:
                yield Violation(self.name, i, "tool_calls is an empty list")

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """The field goes."""
        return edits_between(
            messages, [_without_empty_list(message) for message in messages], self.name
        )


class NotEmpty(Rule):
    """Every message says something, and no text is empty.

    ``blank`` says how much of a message's text may not be white space alone: ``all`` of it on the
    Messages API, where the last message may be empty if it is the assistant's, but not without
    content; ``any`` text on Converse; Gemini takes it.
    """

    name = "message_not_empty"
    alone = True

    def __init__(self, blank: Literal["all", "any", ""]) -> None:
        self._blank = blank

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """An empty message, or one with an empty text."""
        for i, message in enumerate(messages):
            last = i == len(messages) - 1 and message.role == "assistant" and self._blank == "all"
            if problem := _emptiness(message, self._blank, may_be_empty=last):
                yield Violation(self.name, i, problem)

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """Empty texts go, and a message that says nothing else with them."""
        broken = {violation.index for violation in self.violations(messages)}
        now = [_spoken(message) if i in broken else message for i, message in enumerate(messages)]
        return edits_between(
            messages, [message for message in now if message is not None], self.name
        )


class FinalTextTrimmed(Rule):
    """Messages API: where the assistant's message is last, its text does not end in white space."""

    name = "final_text_trimmed"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """White space at the very end."""
        if messages and _trails(messages[-1]):
            yield Violation(
                self.name, len(messages) - 1, "the assistant's last text ends in white space"
            )

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """The white space goes, and with it what says nothing else."""
        after = list(messages)
        while after and _trails(after[-1]):
            after += _trimmed(after.pop())
        return edits_between(messages, after, self.name)


def _says_nothing(message: Message) -> bool:
    if message.plain is not None:
        return False
    value = original(message)
    return value.get("content") is None and not any(
        value.get(field) for field in _SAYS_WITHOUT_CONTENT
    )


def _without_empty_list(message: Message) -> Message:
    if original(message).get("tool_calls") != []:
        return message
    return made(
        message.wire,
        {field: value for field, value in original(message).items() if field != "tool_calls"},
    )


def _emptiness(message: Message, blank: str, *, may_be_empty: bool) -> str:
    """What is empty about the message; empty where nothing is."""
    if blank == "all" and original(message).get("content") is None:
        return "the message has no content"
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    if not message.parts or (message.plain is not None and not message.plain):
        return "" if may_be_empty else "the message is empty"
    if not all(texts):
        return "one of its texts is empty"
    said = [bool(text.strip()) for text in texts]
    if texts and ((blank == "all" and not any(said)) or (blank == "any" and not all(said))):
        return "its text is only white space"
    return ""


def _spoken(message: Message) -> Message | None:
    """The message without texts that say nothing; None where nothing is left."""
    now = [
        block
        for part, block in zip(message.parts, blocks(message), strict=True)
        if not isinstance(part, Text) or part.text.strip()
    ]
    return with_blocks(message, now) if now else None


def _trimmed(last: Message) -> list[Message]:
    """The message without the white space at its end; none where it says nothing else."""
    if last.plain is not None:
        text = last.plain.rstrip()
        return [made(last.wire, {**original(last), "content": text})] if text else []
    *others, final = blocks(last)
    text = final["text"].rstrip()
    now = [*others, {**final, "text": text}] if text else others
    return [with_blocks(last, now)] if now else []


def _trails(message: Message) -> bool:
    if message.role != "assistant" or not message.parts:
        return False
    part = message.parts[-1]
    return isinstance(part, Text) and part.text != part.text.rstrip()
