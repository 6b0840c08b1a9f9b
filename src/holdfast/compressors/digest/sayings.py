"""What stands in the messages that are folded: words, calls with their results, lines of older digests."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from holdfast.compressors.summaries import body_in
from holdfast.kernel.messages import Media, Message, Part, Role, Text, ToolCall, ToolResult

from .notation import Exchange, Older, Saying, Words

_TURN = re.compile(r"#(\d{1,9}) ")
_OUTPUT = "output"  # what a tool said whose call is not known


class Folded(NamedTuple):
    """A message that is folded, as what it says: equal ones give equal digests.

    ``users`` is how many messages of users there are up to and with it.
    """

    at: int
    users: int
    role: Role
    said: str | tuple[Part, ...]


class Said(NamedTuple):
    """Something that was said or done: in which message, and in which turn."""

    at: int
    turn: int
    saying: Saying


def folded(message: Message, at: int, users: int) -> Folded:
    """The message as it is folded."""
    said = message.parts if message.plain is None or message.role == "tool" else message.plain
    if len(said) == 1 and isinstance(text := said[0], Text):
        said = text.text  # a message that a step before has made is read as one that a caller hands back
    return Folded(at, users, message.role, said)


def sayings(messages: Sequence[Folded], heading: str) -> list[Said]:
    """What was said in these messages; ``heading`` is the line that opens a digest.

    Turns are counted by the messages of users, from where an older digest has ended.
    """
    results, orphans = _paired(messages)
    found: list[Said] = []
    before = 0  # turns that older digests tell of, less their own messages
    for message in messages:
        body = body_in(message.said, message.role) if isinstance(message.said, str) else None
        if body is None:
            turn = message.users + before
            found += [Said(message.at, turn, saying) for saying in _said(message, results, orphans)]
            continue
        older = list(_older(body, heading, message.at))
        found += older
        before = max((said.turn for said in older), default=0) - message.users
    return found


def _older(body: str, heading: str, at: int) -> Iterator[Said]:
    turn = 0
    for line in body.splitlines():
        if line.strip() and line != heading:
            numbered = _TURN.match(line)
            turn = int(numbered.group(1)) if numbered else turn
            yield Said(at, turn, Older(line[numbered.end() :] if numbered else line))


Call = tuple[int, str]
"""The position of a call and its id, which may be used again later."""


def _paired(messages: Sequence[Folded]) -> tuple[Mapping[Call, ToolResult], Collection[Call]]:
    """Each result by its call; and the results whose call is not here, by their own position."""
    found: dict[Call, ToolResult] = {}
    orphans: set[Call] = set()
    caller: dict[str, int] = {}
    for message in messages:
        for part in message.said if isinstance(message.said, tuple) else ():
            if isinstance(part, ToolCall):
                caller[part.id] = message.at
            elif isinstance(part, ToolResult) and part.call_id in caller:
                found[caller.pop(part.call_id), part.call_id] = part
            elif isinstance(part, ToolResult):
                orphans.add((message.at, part.call_id))
    return found, orphans


def _said(message: Folded, results: Mapping[Call, ToolResult], orphans: Collection[Call]) -> Iterator[Saying]:
    if isinstance(message.said, str):
        yield Words(message.role, message.said)
        return
    for part in message.said:
        if isinstance(part, Text):
            yield Words(message.role, part.text)
        elif isinstance(part, ToolCall):
            result = results.get((message.at, part.id))
            yield Exchange(part.name, part.arguments, None if result is None else _text(result))
        elif isinstance(part, ToolResult) and (message.at, part.call_id) in orphans:
            yield Exchange(_OUTPUT, "", _text(part))
        elif isinstance(part, Media):
            yield Words(message.role, f"[{part.kind}]")


def _text(result: ToolResult) -> str:
    shown = " ".join(f"[{media.kind}]" for media in result.media)
    failed = "error: " if result.is_error and "error" not in result.text[:40].lower() else ""
    return f"{failed}{result.text} {shown}".strip() if failed or shown else result.text


def transcribed(messages: Sequence[Message]) -> str:
    """The messages as text: each after the name of its speaker, calls with their arguments."""
    return "\n\n".join(f"{message.role}: {text}" for message in messages for text in _texts(message))


def _texts(message: Message) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, ToolCall):
            yield f"{part.name}({part.arguments})"
        elif isinstance(part, Text | ToolResult) and part.text:
            yield part.text
