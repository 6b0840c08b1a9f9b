"""A rule of the caller's own over the whole list of messages: what it did is read off, and becomes edits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from holdfast.kernel.budget import Meter
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.errors import IntegrityError, StrategyError
from holdfast.kernel.messages import Message, Role, Text, ToolCall, ToolResult
from holdfast.kernel.transcript import Transcript, speaks


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that rewrites or leaves out messages of assistants and tools.

    It is refused where it touches what a user or the system said, where it changes more of a message than its
    texts, and where doing it twice is not the same as doing it once.
    """

    name: str
    """What the rule does, in a word or two joined by underscores."""

    function: Callable[[list[Any]], Sequence[Any]]
    """Takes copies of the messages as the caller has them, and returns those that stay, in order."""

    def describe(self) -> Mapping[str, object]:
        """The name: a function has no better description."""
        return {"name": self.name}

    def edits(self, transcript: Transcript, meter: Meter, roles: AbstractSet[Role]) -> Iterator[Edit]:
        """What the function did. Raises StrategyError or IntegrityError where it is refused."""
        del meter, roles
        given = [deepcopy(message.original) for message in transcript.messages]
        places = {id(message): i for i, message in enumerate(given)}
        made = list(self.function(list(given)))
        if list(self.function(deepcopy(made))) != made:
            raise StrategyError(self.name, "doing it twice is not the same as doing it once")
        origins = self._origins([places.get(id(message)) for message in made], transcript, made)
        gone = sorted(set(range(len(transcript))).difference(origins))
        for i in gone:
            if speaks(transcript.messages[i]):
                raise IntegrityError("a rule may not leave out what a user said", rule="words_are_kept", index=i)
        if gone:
            yield Drop(tuple(gone), self.name)
        for i, message in zip(origins, made, strict=True):
            if message != transcript.messages[i].original:
                if i in transcript.pinned:
                    raise IntegrityError("a pinned message stays as it is", rule="words_are_kept", index=i)
                yield from self._texts(i, transcript.messages[i], message)

    def _origins(self, known: list[int | None], transcript: Transcript, made: Sequence[object]) -> list[int]:
        """Which message each of the made ones was: the very same object, an equal one, or the one in its place."""
        if None in known and len(known) != len(transcript):
            equal = _equal_ones(transcript, made)
            known = [place if place is not None else other for place, other in zip(known, equal, strict=True)]
        fixed = [(-1, -1), *((j, i) for j, i in enumerate(known) if i is not None), (len(known), len(transcript))]
        origins: list[int] = []
        for (j, i), (next_j, next_i) in pairwise(fixed):
            if next_i <= i:
                raise StrategyError(self.name, "it changes the order of the messages")
            new = next_j - j - 1
            if new and new != next_i - i - 1:
                problem = "it cannot be told which messages it made anew; it should return the ones that it got"
                raise StrategyError(self.name, problem)
            origins += range(i + 1, i + 1 + new)
            origins += [next_i] if next_j < len(known) else []
        return origins

    def _texts(self, index: int, message: Message, made: object) -> Iterator[Edit]:
        """A Replace for each text that is another now."""
        parts = message.wire.parts(made)
        changed = {
            at: new.text if not isinstance(new, ToolCall) else new.arguments
            for at, (old, new) in enumerate(zip(message.parts, parts, strict=False))
            if old != new and isinstance(new, Text | ToolResult | ToolCall)
        }
        if message.wire.render(message.original, changed) != made:
            problem = "a rule may change the texts of a message and nothing else of it"
            raise IntegrityError(problem, rule="words_are_kept", index=index)
        for at, text in changed.items():
            yield Replace(index, at, text, self.name)


def _equal_ones(transcript: Transcript, made: Sequence[object]) -> list[int | None]:
    """For each message the next one of the transcript, in order, that says the very same."""
    places: dict[object, list[int]] = {}
    for i in range(len(transcript) - 1, -1, -1):
        places.setdefault(transcript.messages[i].parts, []).append(i)
    found: list[int | None] = []
    last = -1
    for message in made:
        waiting = places.get(transcript.wire.parts(message), [])
        while waiting and waiting[-1] <= last:
            waiting.pop()
        found.append(waiting.pop() if waiting else None)
        last = last if found[-1] is None else found[-1]
    return found
