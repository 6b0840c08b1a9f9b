"""What of a thread's past answers a question: found by the store's index, and written into a room of tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from holdfast.memory.index import Retrieval
from holdfast.memory.packing import pack, written
from holdfast.memory.remembered import Remembered, VectorSource

from .thread import Thread

_CANDIDATES = 60  # messages that hold words of the question; each costs the reading of it and its neighbours
_LONG, _FEWER = 5_000, 30  # in a thread of so many messages, which are not all in memory, so many
_HITS = 200  # that are offered to a room


@dataclass(frozen=True, slots=True)
class Recalled:
    """A message that came back, or the part of it that answers: its score, and what each factor gave to it.

    The text is empty where it stands in the view since an earlier fit.
    """

    position: int
    score: float
    text: str
    why: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class Recollection:
    """What the past has to say: the text for the view, and the messages that it comes from, in order of time."""

    text: str = ""
    chosen: tuple[Recalled, ...] = ()

    def facts(self) -> list[tuple[int, float, dict[str, float]]]:
        """As an event keeps it: position, score and what gave it, without the texts."""
        return [
            (each.position, round(each.score, 3), {name: round(share, 3) for name, share in each.why.items()})
            for each in self.chosen
        ]

    @classmethod
    def standing(cls, recalled: Mapping[str, Any]) -> Recollection:
        """What a state says to be in the view."""
        chosen = (Recalled(position, score, "", why) for position, score, why in recalled["chosen"])
        return cls(recalled["text"], tuple(chosen))


class Past:
    """A thread as memory's sources: its log is the messages, the index of its store the words."""

    def __init__(self, thread: Thread, vectors: VectorSource | None = None) -> None:
        self._thread = thread
        self._retrieval = Retrieval(self, self, vectors)

    def search(self, question: str, limit: int) -> list[Recalled]:
        """The messages that answer best, best first, each as it stands."""
        hits = self._retrieval.search(question, limit, self._thread.now())
        messages = self.read([hit.position for hit in hits])
        return [
            Recalled(hit.position, hit.score, messages[hit.position].text, hit.why)
            for hit in hits
            if hit.score > 0 and hit.position in messages
        ]

    def recollect(
        self,
        question: str,
        room: int,
        count: Callable[[str], int],
        whole: Callable[[str], int],
        shown: AbstractSet[int],
        least: float,
    ) -> Recollection:
        """The smallest texts that answer, as many as the room takes, in order of time.

        Not what is ``shown`` already, nor what has a score below the ``least``. ``count`` counts a piece,
        ``whole`` what all of them take together in their message.
        """
        found = self._retrieval.search(question, _HITS + len(shown), self._thread.now()) if room > 0 else []
        hits = [hit for hit in found if hit.score >= least and hit.position not in shown]
        excerpts = pack(
            hits, self.read([hit.position for hit in hits]), room, count, question=question, whole=whole
        )
        known = {hit.position: hit for hit in hits}
        chosen = [
            Recalled(each.position, known[each.position].score, each.text, known[each.position].why)
            for each in excerpts
        ]
        return Recollection(written(excerpts), tuple(chosen))

    def candidates(self, terms: Sequence[str], limit: int) -> Mapping[int, float]:
        """BM25 scores of the best messages that hold any of the words."""
        most = _FEWER if self._thread.state.messages > _LONG else _CANDIDATES
        return self._thread.search(terms, min(limit, most))

    def read(self, positions: Sequence[int]) -> Mapping[int, Remembered]:
        """Those of the positions that there are; what the system said is always in view and never looked for."""
        found = self._thread.read(positions)
        return {place: kept.remembered for place, kept in found.items() if kept.message.role != "system"}

    def between(self, first: float, last: float, limit: int) -> Sequence[int]:
        """The positions of messages that were said in this span of time."""
        return self._thread.between(first, last, min(limit, _CANDIDATES))

    def newest(self, limit: int) -> Sequence[int]:
        """The positions of the newest messages, the newest first."""
        return range(self._thread.state.messages - 1, -1, -1)[: min(limit, _CANDIDATES)]

    def speakers(self) -> Sequence[str]:
        """The names of those who speak."""
        return self._thread.state.speakers
