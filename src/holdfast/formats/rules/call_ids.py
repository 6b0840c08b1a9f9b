"""Rules on the ids that connect calls and results."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from holdfast.formats.payloads import Path, rewritten
from holdfast.kernel.integrity import Violation
from holdfast.kernel.messages import Message, ToolCall

from .changes import RewritingRule, made, original, wire_of
from .exchanges import Place, paired


class _WrongId(NamedTuple):
    """A call with a refused id: its place, its new id, and the problem."""

    place: Place
    wanted: str
    problem: str


class _CallIdRule(RewritingRule):
    """A rule whose repair gives calls and their results other ids."""

    @abstractmethod
    def _wrong(self, messages: Sequence[Message]) -> Iterator[_WrongId]:
        """The calls whose ids are refused."""

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """One for each refused id."""
        for (i, _), _, problem in self._wrong(messages):
            yield Violation(self.name, i, problem)

    def rewritten(self, messages: Sequence[Message]) -> Iterable[Message]:
        """The messages with new ids, in the calls and in their results."""
        taken = {call.id: 1 for message in messages for call in message.calls}
        names = {place: _free(wanted, taken) for place, wanted, _ in self._wrong(messages)}
        answers = {result: call for result, call in paired(messages).items() if call in names}
        names |= {result: names[call] for result, call in answers.items()}
        changes: dict[int, dict[Path, str]] = {}
        for (i, k), name in names.items():
            path = wire_of(messages[i]).id_path(original(messages[i]), k)
            if path is not None:
                changes.setdefault(i, {})[path] = name
        for i, message in enumerate(messages):
            if i in changes:
                yield made(message.wire, rewritten(original(message), changes[i]), message)
            else:
                yield message


class UniqueCallIds(_CallIdRule):
    """No two calls of a message have the same id; with ``everywhere``, no two of all messages."""

    name = "call_ids_unique"

    def __init__(self, *, everywhere: bool) -> None:
        self._everywhere = everywhere
        self.alone = not everywhere

    def _wrong(self, messages: Sequence[Message]) -> Iterator[_WrongId]:
        seen: set[str] = set()
        for i, message in enumerate(messages):
            if message.calls and not self._everywhere:
                seen = set()
            for k, call in _calls(message):
                if call.id in seen:
                    problem = f"another tool call before it has the id {call.id!r}"
                    yield _WrongId((i, k), call.id, problem)
                seen.add(call.id)


class SpelledCallIds(_CallIdRule):
    """An id has only letters, digits, underscores, hyphens and the characters in ``also``.

    Every other character becomes an underscore.
    """

    name = "call_ids_spelled"
    alone = True
    _problem = "characters beyond A-Z, 0-9, _, -"

    def __init__(self, also: str = "") -> None:
        self._foreign = re.compile(f"[^a-zA-Z0-9_{re.escape(also)}-]")

    def _wrong(self, messages: Sequence[Message]) -> Iterator[_WrongId]:
        for i, message in enumerate(messages):
            for k, call in _calls(message):
                wanted = self._spelled(call.id)
                if wanted != call.id:
                    problem = f"the tool call id {call.id!r} has {self._problem}"
                    yield _WrongId((i, k), wanted, problem)

    def _spelled(self, call_id: str) -> str:
        return self._foreign.sub("_", call_id)


class ShortCallIds(SpelledCallIds):
    """An id has at most ``most`` characters; a longer one is cut, with room for a number."""

    name = "call_ids_short"

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most, self._problem = most, f"more than {most} characters"

    def _spelled(self, call_id: str) -> str:
        return call_id if len(call_id) <= self._most else call_id[: self._most - _NUMBER]


_NUMBER = len("_99999")  # the suffix that ``_free`` adds to ids that have become equal


def _calls(message: Message) -> Iterator[tuple[int, ToolCall]]:
    """The calls with their indices among the parts of the message."""
    if message.calls:
        for k, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                yield k, part


def _free(wanted: str, taken: dict[str, int]) -> str:
    """The name, with a number if it is taken; ``taken`` holds the last number of each name."""
    name = wanted
    while name in taken:
        taken[wanted] += 1
        name = f"{wanted}_{taken[wanted]}"
    taken[name] = 1
    return name
