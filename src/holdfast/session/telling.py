"""The text of a segment: who says what, what was called, and what came of it; and the same read as a history."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from holdfast.compressors.digest import History
from holdfast.content import recognise
from holdfast.kernel.messages import Message, Role, ToolCall, ToolResult
from holdfast.memory.remembered import Remembered

from .lines import Kept
from .naming import bear_names, heard
from .state import State

_ROLES: dict[str, Role] = {"User": "user", "Assistant": "assistant", "System": "system"}
_CALL, _RESULT = "Call", "Result"
_BLOCK = re.compile(rf"^({'|'.join((*_ROLES, _CALL, _RESULT))}): ", re.MULTILINE)
_WORDS = frozenset({"prose", "dense"})
_CALLED = re.compile(r"(?P<name>[^(\n]{1,200})\((?P<arguments>.*)\)", re.DOTALL)


def told(state: State, kept: Kept) -> str:
    """What a message tells, each part behind the name of who or what it is by."""
    return "\n".join(_blocks(heard(kept, bear_names(state)), kept.message))


def _blocks(seen: Remembered, message: Message) -> Iterator[str]:
    if message.results:
        yield f"{_RESULT}: {seen.body}"
    elif seen.body.strip():
        yield f"{seen.speaker or seen.role.capitalize()}: {seen.body}"
    for call in message.calls:
        yield f"{_CALL}: {call.name}({call.arguments})"


def history_of(text: str) -> History | None:
    """The text of a segment, or a piece of it, as messages; None if nothing is called in it.

    What stands before the first of them is the end of a message: of what a tool gave back, or of words.
    """
    first, *rest = _BLOCK.split(text)
    if not {_CALL, _RESULT}.intersection(rest[::2]):
        return None
    blocks = list(zip(rest[::2], rest[1::2], strict=True))
    if first:
        blocks.insert(0, ("Assistant" if recognise(first).name in _WORDS else _RESULT, first))
    history: list[tuple[Role, str | tuple[ToolCall] | tuple[ToolResult]]] = []
    waiting: deque[str] = deque()
    for at, (name, said) in enumerate(blocks):
        body = said.removesuffix("\n")
        called = _CALLED.fullmatch(body) if name == _CALL else None
        if called is not None:
            waiting.append(str(at))
            history.append(("assistant", (ToolCall(str(at), called["name"], called["arguments"]),)))
        elif name in (_CALL, _RESULT):
            history.append(("tool", (ToolResult(waiting.popleft() if waiting else "", body),)))
        else:
            history.append((_ROLES[name], body))
    roles, contents = zip(*history, strict=True)
    return History(tuple(range(len(history))), roles, contents)
