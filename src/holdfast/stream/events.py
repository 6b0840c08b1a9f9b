"""The events of a conversation: words, acts, outcomes, material, earlier notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from holdfast.kernel.messages import Media, Message, Part, Text, ToolCall, ToolResult
from holdfast.text.importance import TROUBLE, alarm

from .texts import Protocol, passages_of, protocol_of

UNCLEAR = "reply"
"""The speaker of words that a person or a program may have written in answer to an act.

They are not shortened, like a person's words, and are no instruction, like an output.
"""

BESIDE = -1
"""The position of what stands beside the messages: no message has it."""

_BRIEF = 400  # characters; a longer outcome says more than that it failed
_OF_A_FILE = re.compile(r"\S*\d+[:→|-]")

Function = Literal["instruction", "words", "act", "outcome", "material", "notes"]


class StreamEvent(NamedTuple):
    """One thing that was said, done or returned.

    ``message`` is the index of its message and ``part`` that of its part. ``by`` is who said it
    (``user``, ``assistant``, ``system``), or the name of the tool. ``act`` is the index of an
    outcome's act among the events, -1 if it is not known. ``failed``: the outcome reports that the
    act did not succeed.
    """

    function: Function
    by: str
    text: str
    message: int
    part: int
    act: int = -1
    failed: bool = False

    @property
    def is_users_words(self) -> bool:
        """Whether these are a user's own words."""
        return self.by == "user" and self.function == "words"


def events_of(
    messages: Sequence[Message], notes: Mapping[int, str], envelope: Sequence[Part] = ()
) -> list[StreamEvent]:
    """The events of these messages in order; ``notes`` has the bodies of earlier notes by index.

    Acts written as text are recognised by their regularity over all messages. A system prompt in
    the ``envelope`` comes first, as where it is a message.
    """
    protocol = protocol_of(messages)
    elsewhere = protocol._replace(is_bare=False)  # an output without an opening follows its act
    system = [part.text for part in envelope if isinstance(part, Text)]
    found = [StreamEvent("instruction", "system", text, BESIDE, 0) for text in system]
    calls: dict[str, int] = {}
    last_act = -1
    for at, message in enumerate(messages):
        if at in notes:
            found.append(StreamEvent("notes", message.role, notes[at], at, 0))
            continue
        known = protocol if last_act == len(found) - 1 >= 0 else elsewhere
        for event in _of_message(message, at, known, calls, last_act):
            if event.function == "act":
                last_act = len(found)
                if isinstance(part := message.parts[event.part], ToolCall):
                    calls[part.id] = last_act
            found.append(event)
    return found


def _of_message(
    message: Message, at: int, protocol: Protocol, calls: Mapping[str, int], last_act: int
) -> Iterator[StreamEvent]:
    for number, part in enumerate(message.parts):
        if isinstance(part, ToolCall):
            yield StreamEvent("act", part.name, part.arguments, at, number)
        elif isinstance(part, ToolResult):
            act = calls.get(part.call_id, -1)
            failed = part.is_error or _reports_failure(part.text)
            yield StreamEvent("outcome", "tool", _shown(part), at, number, act, failed)
        elif isinstance(part, Media):
            yield StreamEvent("material", message.role, f"[{part.kind}]", at, number)
        elif isinstance(part, Text) and part.text:
            yield from _of_text(part.text, message, at, number, protocol, last_act)


def _of_text(
    text: str, message: Message, at: int, number: int, protocol: Protocol, last_act: int
) -> Iterator[StreamEvent]:
    role = message.role
    may_be_outcome = last_act >= 0 or not protocol.syntaxes  # before the first act, it is the task
    if role == "system":
        yield StreamEvent("instruction", role, text, at, number)
    elif role == "tool" or (role == "user" and protocol.is_outcome(text) and may_be_outcome):
        failed = _reports_failure(protocol.returned(text))
        yield StreamEvent("outcome", "tool", text, at, number, last_act, failed)
    elif role == "assistant":
        words, act = protocol.parted(text)
        for is_material, passage in passages_of(words) if words else ():
            yield StreamEvent("material" if is_material else "words", role, passage, at, number)
        if act:
            yield StreamEvent("act", "", act, at, number)
    else:
        by = UNCLEAR if last_act >= 0 and protocol.is_unclear(text) else role
        for is_material, passage in passages_of(text):
            yield StreamEvent("material" if is_material else "words", by, passage, at, number)


def _reports_failure(text: str) -> bool:
    """Whether a short outcome begins with a report of failure, not with a line of a file."""
    first = text.lstrip()[:_BRIEF].partition("\n")[0]
    return len(text) <= _BRIEF and not _OF_A_FILE.match(first) and alarm(first) >= TROUBLE


def _shown(result: ToolResult) -> str:
    media = " ".join(f"[{medium.kind}]" for medium in result.media)
    return f"{result.text} {media}".strip() if media else result.text
