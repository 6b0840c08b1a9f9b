"""The ids by which calls and results find each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.formats.paths import Path, rewritten
from holdfast.kernel.edits import Edit
from holdfast.kernel.integrity import Rule, Violation
from holdfast.kernel.messages import Message, ToolCall

from .changes import edits_between, made, original
from .pairing import Place, paired

IdPath = Callable[[Mapping[str, Any], int], Path | None]
"""Where the id of the call or the result that is this part of a message stands; None where it has none."""


class UniqueCallIds(Rule):
    """No two calls have the same id: in a message, or with ``everywhere`` in the whole conversation."""

    name = "call_ids_unique"

    def __init__(self, id_path: IdPath, *, everywhere: bool) -> None:
        self._id_path, self._everywhere = id_path, everywhere
        self.alone = not everywhere

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """A call whose id an earlier one has."""
        seen: set[str] = set()
        for i, message in enumerate(messages):
            if message.is_speech:
                continue
            calls = message.calls
            if calls and not self._everywhere:
                seen = set()
            for call in calls:
                if call.id in seen:
                    yield Violation(
                        self.name, i, f"another tool call before it has the id {call.id!r}"
                    )
                seen.add(call.id)

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """The later call and its result get an id of their own."""
        taken = {call.id: 1 for message in messages for call in message.calls}
        seen: set[str] = set()
        names: dict[Place, str] = {}
        for i, message in enumerate(messages):
            if message.calls and not self._everywhere:
                seen = set()
            for k, call in _calls(message):
                if call.id in seen:
                    names[i, k] = _free(call.id, taken)
                seen.add(call.id)
        return edits_between(messages, _renamed(messages, names, self._id_path), self.name)


class SpelledCallIds(Rule):
    """An id is made of letters, digits, underscores, hyphens, and what ``also`` has."""

    name = "call_ids_spelled"
    alone = True
    _problem = "characters beyond A-Z, 0-9, _, -"

    def __init__(self, id_path: IdPath, also: str = "") -> None:
        self._id_path = id_path
        self._foreign = re.compile(f"[^a-zA-Z0-9_{re.escape(also)}-]")

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """A call with an id of other characters."""
        for i, message in enumerate(messages):
            for call in () if message.is_speech else message.calls:
                if self._spelled(call.id) != call.id:
                    yield Violation(
                        self.name, i, f"the tool call id {call.id!r} has {self._problem}"
                    )

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """Every other character becomes an underscore, in the call and in its result."""
        taken = {call.id: 1 for message in messages for call in message.calls}
        names = {
            (i, k): _free(self._spelled(call.id), taken)
            for i, message in enumerate(messages)
            for k, call in _calls(message)
            if self._spelled(call.id) != call.id
        }
        return edits_between(messages, _renamed(messages, names, self._id_path), self.name)

    def _spelled(self, call_id: str) -> str:
        return self._foreign.sub("_", call_id)


class ShortCallIds(SpelledCallIds):
    """An id has so many characters at most; a longer one is cut, with room for a number where two become one."""

    name = "call_ids_short"

    def __init__(self, id_path: IdPath, most: int) -> None:
        super().__init__(id_path)
        self._most, self._problem = most, f"more than {most} characters"

    def _spelled(self, call_id: str) -> str:
        return call_id if len(call_id) <= self._most else call_id[: self._most - _NUMBER]


_NUMBER = 6  # characters that tell one of many ids from another


def _calls(message: Message) -> Iterator[tuple[int, ToolCall]]:
    if message.role == "assistant" and message.plain is None:
        for k, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                yield k, part


def _free(wanted: str, taken: dict[str, int]) -> str:
    """The name, with the next number behind it where it is taken; ``taken`` knows the last number of each."""
    name = wanted
    while name in taken:
        taken[wanted] += 1
        name = f"{wanted}_{taken[wanted]}"
    taken[name] = 1
    return name


def _renamed(
    messages: Sequence[Message], names: Mapping[Place, str], id_path: IdPath
) -> list[Message]:
    """The messages with new ids in these calls and in the results that answer them."""
    wanted = {
        **names,
        **{result: names[call] for result, call in paired(messages).items() if call in names},
    }
    changes: dict[int, dict[Path, str]] = {}
    for (i, k), name in wanted.items():
        path = id_path(original(messages[i]), k)
        if path is not None:
            changes.setdefault(i, {})[path] = name
    return [
        made(message.wire, rewritten(original(message), changes[i])) if i in changes else message
        for i, message in enumerate(messages)
    ]
