"""The text of a segment: who says what, what was called, and what came of it; and the same read as a history."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.content import recognise
from holdfast.kernel.messages import Message, Role, Text, ToolCall, ToolResult
from holdfast.memory.remembered import Remembered
from holdfast.stream.events import Event
from holdfast.stream.tellings import called
from holdfast.text.memo import Memo

from .lines import Kept
from .naming import bear_names, heard
from .state import State

_ROLES: dict[str, Role] = {"User": "user", "Assistant": "assistant", "System": "system"}
_CALL, _RESULT = "Call", "Result"
_BLOCK = re.compile(rf"^({'|'.join((*_ROLES, _CALL, _RESULT))}): ", re.MULTILINE)
_WORDS = frozenset({"prose", "dense"})
_SHORT = 55  # characters of the arguments of a call
_CALLED = re.compile(r"(?P<name>[^(\n]{1,200})\((?P<arguments>.*?)\)?", re.DOTALL)  # cut within, no bracket closes


def told(state: State, kept: Kept) -> str:
    """What a message tells, each part behind the name of who or what it is by."""
    return "\n".join(_blocks(heard(kept, bear_names(state)), kept.message))


def _blocks(seen: Remembered, message: Message) -> Iterator[str]:
    if message.results:
        yield from _given(message)
    elif seen.body.strip():
        yield f"{seen.speaker or seen.role.capitalize()}: {seen.body}"
    for call in message.calls:
        yield f"{_CALL}: {call.name}({call.arguments})"


def call_of(call: ToolCall) -> str:
    """The call in brief, as it stands before what it gave where that is told apart from it."""
    return f"{_CALL}: {_brief(call.name, call.arguments)}"


def _given(message: Message) -> Iterator[str]:
    """What tools gave, each by itself, and what a user says who hands it over."""
    for part in message.parts:
        if isinstance(part, ToolResult):
            yield f"{_RESULT}: {part.text}"
        elif isinstance(part, Text) and part.text.strip():
            yield f"{(_RESULT if message.role == 'tool' else message.role.capitalize())}: {part.text}"


class _Block(NamedTuple):
    """A part of a text behind the name of who or what it is by: where it starts, and where what it says starts."""

    start: int
    name: str
    body: int
    waiting: tuple[tuple[int, int], ...]
    """Where the calls stand that have no result before it, the oldest first: that is the one which it is of."""


def _parted(text: str) -> tuple[_Block, ...]:
    heads = list(_BLOCK.finditer(text))
    found: list[_Block] = []
    waiting: deque[tuple[int, int]] = deque()
    for at, head in enumerate(heads):
        name = head[1]
        if name in _ROLES or (name == _CALL and found and found[-1].name == _RESULT):
            waiting.clear()
        found.append(_Block(head.start(), name, head.end(), tuple(waiting)))
        if name == _CALL:
            waiting.append((head.end(), heads[at + 1].start() if at + 1 < len(heads) else len(text)))
        elif name == _RESULT and waiting:
            waiting.popleft()
    return tuple(found)


_PARTED: Memo[str, tuple[_Block, ...]] = Memo(_parted, lambda text, found: len(text) + 64 * len(found), 4_000_000)
"""Of a long turn each piece is asked for."""


def opening(text: str, start: int, end: int) -> str:
    """What the piece of the text from start to end goes on with: who speaks, or that a tool gave it.

    The calls of what tools gave in the piece stand before it, each in brief.
    """
    blocks = _PARTED[text]
    at = bisect_right(blocks, start, key=lambda block: block.start) - 1
    if at < 0:
        return ""
    block = blocks[at]
    after = bisect_left(blocks, end, key=lambda block: block.start)
    given = sum(each.name == _RESULT for each in blocks[at:after])
    calls = "".join(f"{_CALL}: {_briefly(text[slice(*call)])}\n" for call in block.waiting[:given])
    if block.start == start:
        return calls
    name = text[block.body : start].partition("(")[0]
    return f"{calls}{_CALL}: {name}(" if block.name == _CALL else f"{calls}{block.name}: "


def _briefly(call: str) -> str:
    found = _CALLED.fullmatch(call.removesuffix("\n"))
    return _brief(found["name"], found["arguments"]) if found else call.partition("\n")[0]


def _brief(name: str, arguments: str) -> str:
    """The call, short enough that notes open with it."""
    told = called(name, arguments)[len(name) + 1 : -1]
    return f"{name}({told if len(told) <= _SHORT else f'{told[:_SHORT]}…'})"


def events_in(text: str) -> list[Event] | None:
    """The text of a segment, or a piece of it, as events; None if nothing is called in it.

    What stands before the first of them is the end of a message: of what a tool gave back, or of words.
    """
    first, *rest = _BLOCK.split(text)
    if not {_CALL, _RESULT}.intersection(rest[::2]):
        return None
    blocks = list(zip(rest[::2], rest[1::2], strict=True))
    if first:
        blocks.insert(0, ("Assistant" if recognise(first).name in _WORDS else _RESULT, first))
    found: list[Event] = []
    waiting: deque[int] = deque()
    for at, (name, said) in enumerate(blocks):
        body = said.removesuffix("\n")
        call = _CALLED.fullmatch(body) if name == _CALL else None
        if name in _ROLES or (name == _CALL and at and blocks[at - 1][0] == _RESULT):
            waiting.clear()
        if call is not None:
            waiting.append(at)
            found.append(Event("act", call["name"], call["arguments"], at, 0))
        elif name in (_CALL, _RESULT):
            found.append(Event("outcome", "tool", body, at, 0, waiting.popleft() if waiting else -1))
        else:
            found.append(Event("words", _ROLES[name], body, at, 0))
    return found
