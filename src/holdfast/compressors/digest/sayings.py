"""What stands in the messages that are folded: words, calls with their results, lines of older digests."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from holdfast.compressors.summaries import body_in
from holdfast.kernel.messages import Media, Message, Part, Role, Text, ToolCall, ToolResult

from .notation import Exchange, Older, Saying, Words

_TURN = re.compile(r"#(\d{1,9}) ")
_OUTPUT = "output"  # what a tool said whose call is not known


What = str | tuple[Part, ...]
"""What a message says: its text, or its parts."""


class History(NamedTuple):
    """The messages that are folded, column by column: equal ones give equal digests.

    ``users`` are the positions of users' messages up to the last of them. Every call compares all this with what
    was folded before; a column of texts is made and hashed in a fraction of the time of as many records.
    """

    places: tuple[int, ...]
    roles: tuple[Role, ...]
    said: tuple[What, ...]
    users: tuple[int, ...] = ()

    @classmethod
    def of(cls, messages: Sequence[Message], places: Sequence[int], users: tuple[int, ...] = ()) -> History:
        """These messages, which stand at these places."""
        said = [_parts(m) if m.plain is None or m.role == "tool" else m.plain for m in messages]
        return cls(tuple(places), tuple([message.role for message in messages]), tuple(said), users)


def _parts(message: Message) -> What:
    """The parts; one that a step before has made of text is read as one that a caller hands back."""
    parts = message.parts
    return parts[0].text if len(parts) == 1 and isinstance(parts[0], Text) else parts


class Said(NamedTuple):
    """Something that was said or done: in which message, and in which turn."""

    at: int
    turn: int
    saying: Saying


def sayings(history: History, heading: str) -> list[Said]:
    """What was said in these messages; ``heading`` is the line that opens a digest.

    Turns are counted by the messages of users, from where an older digest has ended.
    """
    results, orphans = _paired(history)
    found: list[Said] = []
    before = 0  # turns that older digests tell of, less their own messages
    for at, role, said in zip(history.places, history.roles, history.said, strict=True):
        users = bisect_right(history.users, at)
        body = body_in(said, role) if isinstance(said, str) else None
        if body is None:
            found += [Said(at, users + before, saying) for saying in _said(at, role, said, results, orphans)]
            continue
        older = list(_older(body, heading, at))
        found += older
        before = max((line.turn for line in older), default=0) - users
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


def _paired(history: History) -> tuple[Mapping[Call, ToolResult], Collection[Call]]:
    """Each result by its call; and the results whose call is not here, by their own position."""
    found: dict[Call, ToolResult] = {}
    orphans: set[Call] = set()
    caller: dict[str, int] = {}
    for at, said in zip(history.places, history.said, strict=True):
        for part in said if isinstance(said, tuple) else ():
            if isinstance(part, ToolCall):
                caller[part.id] = at
            elif isinstance(part, ToolResult) and part.call_id in caller:
                found[caller.pop(part.call_id), part.call_id] = part
            elif isinstance(part, ToolResult):
                orphans.add((at, part.call_id))
    return found, orphans


def _said(
    at: int, role: Role, said: What, results: Mapping[Call, ToolResult], orphans: Collection[Call]
) -> Iterator[Saying]:
    if isinstance(said, str):
        yield Words(role, said)
        return
    for part in said:
        if isinstance(part, Text):
            yield Words(role, part.text)
        elif isinstance(part, ToolCall):
            result = results.get((at, part.id))
            yield Exchange(part.name, part.arguments, None if result is None else _text(result))
        elif isinstance(part, ToolResult) and (at, part.call_id) in orphans:
            yield Exchange(_OUTPUT, "", _text(part))
        elif isinstance(part, Media):
            yield Words(role, f"[{part.kind}]")


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
