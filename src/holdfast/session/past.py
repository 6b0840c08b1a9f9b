"""What of a thread's past answers a question: found by the store's index, and written into a room of tokens."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from itertools import islice
from operator import attrgetter, itemgetter
from typing import Any

from holdfast.memory.index import Retrieval
from holdfast.memory.packing import pack, written
from holdfast.memory.remembered import Remembered, VectorSource
from holdfast.text.concealed import concealing

from .inquiry import Inquiry
from .naming import all_heard, author, bear_names
from .spans import holds
from .telling import told
from .thread import Thread

_CANDIDATES = 60  # messages that hold words of the question; each costs the reading of it and its neighbours
_LONG, _FEWER = 5_000, 30  # in a thread of so many messages, which are not all in memory, so many
_HITS = 200  # that are offered to a room
_ANSWERS = 0.1  # score below which nothing answers, and the question itself is all there is
_EXPLAINED = 8  # messages of a recall of which its event tells what gave the score; the view tells it of all

Chosen = tuple[int, float, Mapping[str, float]]
"""Of a message that came back, its position, its score, and what each factor gave to that."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A message that came back, or the part of it that answers: its score, and what each factor gave to it.

    The text is empty where it stands in the view since an earlier fit. ``said`` is when: seconds since 1970 UTC.
    """

    position: int
    score: float
    text: str
    why: Mapping[str, float] = field(default_factory=dict[str, float])
    role: str = ""
    said: float | None = None


@dataclass(frozen=True, slots=True)
class Recollection:
    """What the past has to say: the text for the view, and the messages that it comes from, in order of time."""

    text: str = ""
    chosen: tuple[Recalled, ...] = ()

    def facts(self) -> list[Chosen]:
        """As an event keeps it: position and score, and of the best what gave it, without the texts."""
        best = {each.position for each in nlargest(_EXPLAINED, self.chosen, key=attrgetter("score"))}
        return [
            (each.position, round(each.score, 3), _rounded(each.why) if each.position in best else {})
            for each in self.chosen
        ]

    def kept(self) -> list[Chosen]:
        """As the state keeps it, for as long as it stands in the view."""
        return [(each.position, each.score, each.why) for each in self.chosen]

    @classmethod
    def standing(cls, recalled: Mapping[str, Any]) -> Recollection:
        """What a state says to be in the view."""
        chosen = (Recalled(position, score, "", why) for position, score, why in recalled.get("chosen", ()))
        return cls(recalled.get("text", ""), tuple(chosen))


def _rounded(why: Mapping[str, float]) -> dict[str, float]:
    return {name: round(share, 3) for name, share in why.items()}


class Past:
    """What a thread holds, and what of it answers."""

    def __init__(self, thread: Thread, vectors: VectorSource | None = None, *, redacts: bool = False) -> None:
        self._thread, self._tells = thread, concealing(redacts=redacts)
        self._everything, self._remaining = _Everything(thread), _Remaining(thread)
        self._found = Retrieval(self._everything, self._everything, vectors)
        self._retrieval = Retrieval(self._remaining, self._remaining, vectors)

    def search(self, question: str, limit: int) -> list[Recalled]:
        """The messages that answer best, best first, also those that were evicted; secrets may be masked."""
        now, asking = self._thread.now(), self._asking(question)
        hits = self._found.search(question, limit, now, asking)
        if asking and not any(hit.score >= _ANSWERS for hit in hits):
            hits = self._found.search(question, limit, now)
        texts = self.texts([hit.position for hit in hits])
        return [
            Recalled(
                hit.position, hit.score, self._tells(texts[hit.position]), hit.why, *self._spoken(hit.position)
            )
            for hit in hits
            if hit.score > 0 and texts.get(hit.position)
        ]

    def _spoken(self, position: int) -> tuple[str, float | None]:
        """By whom it is, as a role, and when it was said."""
        seen = self._thread.read([position])[position].remembered
        return seen.role, seen.said

    def _asking(self, question: str) -> frozenset[int]:
        """Where the question stands itself, if it is what a user said last: no answer, and no neighbour of one."""
        spoke = self._thread.state.spoke
        kept = {} if spoke is None else self._thread.read([spoke])
        return frozenset(place for place, each in kept.items() if _same(each.remembered.body, question))

    def texts(self, positions: Sequence[int]) -> dict[int, str]:
        """What the messages at these positions say, or what they call; none of what was deleted."""
        return {
            place: kept.remembered.text or (told(self._thread.state, kept) if kept.message.calls else "")
            for place, kept in self._thread.read(positions).items()
        }

    def recollect(
        self,
        asked: Inquiry,
        room: int,
        count: Callable[[str], int],
        whole: Callable[[str], int],
        shown: Container[int | None],
        least: float,
    ) -> Recollection:
        """The smallest texts that answer, as many as the room takes, in order of time; secrets may be masked.

        Not what is ``shown`` already, was evicted, or has a score below the ``least``. ``count`` counts a piece,
        ``whole`` what all of them take together in their message.
        """
        if room <= 0:
            return Recollection()
        apart = frozenset[int]() if self._thread.state.spoke in shown else self._asking(asked.question)
        answers = self._retrieval.answers(asked.question, self._thread.now(), asked.work, apart)
        scores = answers.ranked()
        unseen = (place for place, score in scores.items() if score >= least and place not in shown)
        hits, messages = list(islice(unseen, _HITS)), answers.messages
        if self._tells is not str:
            messages = {place: replace(messages[place], text=self._tells(messages[place].text)) for place in hits}
        excerpts = pack(hits, messages, room, count, question=asked.brief, whole=whole, name=self._author)
        chosen = [
            Recalled(
                each.position, scores[each.position], each.text, answers.why(each.position), seen.role, seen.said
            )
            for each in excerpts
            if (seen := answers.messages[each.position])
        ]
        return Recollection(written(excerpts), tuple(chosen))

    def _author(self, message: Remembered) -> str:
        return author(self._thread, message, self._tells)


def _same(one: str, other: str) -> bool:
    return one.split() == other.split()


class _Everything:
    """A thread as memory's sources: its log is the messages, the index of its store the words."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread

    def candidates(self, terms: Sequence[str], limit: int) -> Mapping[int, float]:
        """BM25 scores of the best messages that hold any of the words."""
        return self._thread.search(terms, min(limit, self._most))

    @property
    def _most(self) -> int:
        return _FEWER if self._thread.state.messages > _LONG else _CANDIDATES

    def read(self, positions: Sequence[int]) -> Mapping[int, Remembered]:
        """Those of the positions that there are; what the system said is always in view and never looked for."""
        found = self._thread.read(positions).values()
        return all_heard((kept for kept in found if kept.message.role != "system"), self._thread.state)

    def between(self, first: float, last: float, limit: int) -> Sequence[int]:
        """The positions of messages that were said in this span of time."""
        return self._thread.between(first, last, min(limit, _CANDIDATES))

    def newest(self, limit: int) -> Sequence[int]:
        """The positions of the newest messages, the newest first."""
        return range(self._thread.state.messages - 1, -1, -1)[: min(limit, _CANDIDATES)]

    def speakers(self) -> Sequence[str]:
        """The names of those who speak."""
        state = self._thread.state
        return state.speakers if bear_names(state) else ()


class _Remaining(_Everything):
    """The same without what was evicted from the last tier."""

    def candidates(self, terms: Sequence[str], limit: int) -> Mapping[int, float]:
        """As above, of those that remain."""
        out = self._thread.state.evicted
        if not out:
            return super().candidates(terms, limit)
        found = self._thread.search(terms, limit)
        left = {position: score for position, score in found.items() if not holds(out, position)}
        return dict(nlargest(min(limit, self._most), left.items(), key=itemgetter(1)))

    def read(self, positions: Sequence[int]) -> Mapping[int, Remembered]:
        """As above, of those that remain."""
        out = self._thread.state.evicted
        return super().read([place for place in positions if not holds(out, place)] if out else positions)
