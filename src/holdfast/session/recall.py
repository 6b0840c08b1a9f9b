"""What of a thread's past answers a question, found by words and meaning, within some tokens."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from itertools import groupby, islice
from operator import attrgetter, itemgetter
from typing import Any, Protocol, cast

from holdfast.kernel.errors import MissingExtraError, StoreError
from holdfast.kernel.registry import Registry
from holdfast.memory.entities import COURTESY
from holdfast.memory.excerpts import pack, written
from holdfast.memory.facts import Fact, Ledger, lifted
from holdfast.memory.index import Retrieval
from holdfast.memory.messages import GrowingVectors, Remembered, VectorSource
from holdfast.providers import open_embedder
from holdfast.stores.protocols import GetsBytes, SetsBytes
from holdfast.text.concealed import concealing
from holdfast.text.memo import Memo
from holdfast.text.words import STOP_WORDS, stem, words

from .log import Kept, Thread, found_by, settled
from .state import holds
from .turns import all_heard, author, bear_names, heard, told

_WORK = 8  # newest messages that say what the work is about
_COMMON, _LEAST_HOLDERS, _COMMON_AT = 0.2, 4, 60
"""Share of the messages, and its bounds in messages, from which on a word tells of nothing in
particular."""
_ONWARD = COURTESY | frozenset(
    """
    again ahead another carry continue continues correct done following forward keep next proceed
    resume then
    alles danke gut merci oui continuez gracias vale sigue grazie obrigado obrigada bedankt weiter
    """.split()
)
"""Words by which one greets, thanks, assents or goes on."""
_MOST_IDLE, _MOST_ONWARD = 14, 2
"""Words of an input that goes on, and of these those that say with what: "continue with the next
endpoint"."""
_UNKNOWN = 0.1  # share of the words of an input that may stand nowhere in the view
_SHOWN = 300  # characters of a message, or of a question, that say what it is about


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question, and the work in which it stands, whose words count too but ask nothing."""

    question: str
    work: str = ""

    @property
    def brief(self) -> str:
        """The question, and of the work what it began with."""
        return f"{self.question}\n{self.work[:_SHOWN]}".rstrip("\n")

    @property
    def shown(self) -> str:
        """As an event keeps it."""
        return self.brief[:_SHOWN]


def of_the_newest(thread: Thread) -> Inquiry:
    """What the newest message of a user asks, and what the work since then is about."""
    return Inquiry(_said(thread), _work(thread))


def is_idle(thread: Thread) -> bool:
    """Whether the newest message of a user has nothing to look for, such as "ok thanks"."""
    spoken = words(_said(thread)[:_SHOWN])
    if thread.state.spoke is None or len(spoken) > _MOST_IDLE or not all(map(str.isalpha, spoken)):
        return False
    telling = [word for word in spoken if word not in STOP_WORDS]
    left = [word for word in telling if word not in _ONWARD]
    if left and not (len(left) <= _MOST_ONWARD and len(left) < len(telling)):
        return False
    common = min(_COMMON_AT, max(_LEAST_HOLDERS, int(thread.state.messages * _COMMON)))
    return all(len(thread.search([word], common)) >= common for word in left)


def _said(thread: Thread) -> str:
    spoke = thread.state.spoke
    kept = thread.read([spoke]) if spoke is not None else {}
    return next((each.message.content_text or "" for each in kept.values()), "")


def is_known(thread: Thread, messages: Iterable[object], recalled: str) -> bool:
    """Whether nearly all the words of the user's newest input stand in the view already."""
    asked = _terms(_said(thread))
    unknown = set(asked) - _terms(recalled)
    for message in messages:
        if len(unknown) <= _UNKNOWN * len(asked):
            break
        read = thread.wire.read([message]).messages[0]
        unknown -= _HELD(read.content_text or "")
    return len(unknown) <= _UNKNOWN * len(asked)


def _work(thread: Thread) -> str:
    """The beginnings of the newest messages, if there are some since a user spoke."""
    end, spoke = thread.state.messages, thread.state.spoke or 0
    newest = thread.read(range(end - _WORK, end)) if end - spoke > _WORK else {}
    return "\n".join(found_by(kept.message, kept.remembered)[:_SHOWN] for kept in newest.values())


def _terms(text: str) -> frozenset[str]:
    return frozenset(map(stem, set(words(text)) - STOP_WORDS))


_HELD: Memo[str, frozenset[str]] = Memo(_terms, lambda text, _: 2 * len(text), 2_000_000)
"""The terms of the messages of a view, most of which stand in the next one too."""


_CANDIDATES = (
    60  # messages that hold words of the question; each costs the reading of it and its neighbours
)
_LONG, _FEWER = 5_000, 30  # in a thread of so many messages, which are not all in memory, so many
_HITS = 200  # that are offered to a room
_ANSWERS = 0.1  # score below which nothing answers, and the question itself is all there is
_EXPLAINED = (
    8  # messages of a recall of which its event tells what gave the score; the view tells it of all
)

Chosen = tuple[int, float, Mapping[str, float]]
"""Of a message that came back, its position, its score, and what each factor gave to that."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A message that came back, or the part of it that answers, with its score and its factors.

    The text is empty where it stands in the view since an earlier fit. ``said`` is when: seconds
    since 1970 UTC.
    """

    position: int
    score: float
    text: str
    why: Mapping[str, float] = field(default_factory=dict[str, float])
    role: str = ""
    said: float | None = None


@dataclass(frozen=True, slots=True)
class Recollection:
    """The text that a view tells of the past, and the messages it is from, in order of time."""

    text: str = ""
    chosen: tuple[Recalled, ...] = ()

    def facts(self) -> list[Chosen]:
        """As an event keeps it: positions, scores, and of the best the factors; no texts."""
        best = {
            each.position for each in nlargest(_EXPLAINED, self.chosen, key=attrgetter("score"))
        }
        return [
            (
                each.position,
                round(each.score, 3),
                _rounded(each.why) if each.position in best else {},
            )
            for each in self.chosen
        ]

    def kept(self) -> list[Chosen]:
        """As the state keeps it, for as long as it stands in the view."""
        return [(each.position, each.score, each.why) for each in self.chosen]

    @classmethod
    def standing(cls, recalled: Mapping[str, Any]) -> Recollection:
        """What a state says to be in the view."""
        chosen = (
            Recalled(position, score, "", why)
            for position, score, why in recalled.get("chosen", ())
        )
        return cls(recalled.get("text", ""), tuple(chosen))


def _rounded(why: Mapping[str, float]) -> dict[str, float]:
    return {name: round(share, 3) for name, share in why.items()}


class Past:
    """What a thread holds, and what of it answers."""

    def __init__(
        self, thread: Thread, vectors: VectorSource | None = None, *, redacts: bool = False
    ) -> None:
        self._thread, self._tells = thread, concealing(redacts=redacts)
        self._everything, self._remaining = _Everything(thread), _Remaining(thread)
        self._found = Retrieval(self._everything, self._everything, vectors)
        self._retrieval = Retrieval(self._remaining, self._remaining, vectors)

    def search(self, question: str, limit: int) -> list[Recalled]:
        """The messages that answer best, best first, also those that were evicted.

        Secrets may be masked.
        """
        now, asking = self._thread.now(), self._asking(question)
        hits = self._found.search(question, limit, now, asking)
        if asking and not any(hit.score >= _ANSWERS for hit in hits):
            hits = self._found.search(question, limit, now)
        texts = self.texts([hit.position for hit in hits])
        return [
            Recalled(
                hit.position,
                hit.score,
                self._tells(texts[hit.position]),
                hit.why,
                *self._spoken(hit.position),
            )
            for hit in hits
            if hit.score > 0 and texts.get(hit.position)
        ]

    def _spoken(self, position: int) -> tuple[str, float | None]:
        """By whom it is, as a role, and when it was said."""
        seen = self._thread.read([position])[position].remembered
        return seen.role, seen.said

    def _asking(self, question: str) -> frozenset[int]:
        """Where the question stands itself: no answer, and no neighbour of one.

        As what a user said last, or in a call that looks for it.
        """
        state = self._thread.state
        last = {place for place in (state.spoke, state.messages - 1) if place is not None}
        return frozenset(
            place
            for place, each in self._thread.read(sorted(last)).items()
            if _same(each.remembered.body, question)
            or any(question in call.arguments for call in each.message.calls)
        )

    def texts(self, positions: Sequence[int]) -> dict[int, str]:
        """What the messages at these positions say, or what they call; none of what was deleted."""
        return {
            place: kept.remembered.text
            or (told(self._thread.state, kept) if kept.message.calls else "")
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
        """The smallest texts that answer, as many as the room takes, in order of time.

        Secrets may be masked.

        Not what is ``shown`` already, was evicted, or has a score below the ``least``. ``count``
        counts a piece, ``whole`` what all of them take together in their message.
        """
        if room <= 0:
            return Recollection()
        apart = (
            frozenset[int]() if self._thread.state.spoke in shown else self._asking(asked.question)
        )
        answers = self._retrieval.answers(asked.question, self._thread.now(), asked.work, apart)
        scores = answers.ranked()
        unseen = (place for place, score in scores.items() if score >= least and place not in shown)
        hits, messages = list(islice(unseen, _HITS)), answers.messages
        if self._tells is not str:
            messages = {
                place: replace(messages[place], text=self._tells(messages[place].text))
                for place in hits
            }
        excerpts = pack(
            hits, messages, room, count, question=asked.brief, whole=whole, name=self._author
        )
        chosen = [
            Recalled(
                each.position,
                scores[each.position],
                each.text,
                answers.why(each.position),
                seen.role,
                seen.said,
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
        """Those of the positions that there are.

        What the system said is always in view and never looked for.
        """
        found = self._thread.read(positions).values()
        return all_heard(
            (kept for kept in found if kept.message.role != "system"), self._thread.state
        )

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
        return super().read(
            [place for place in positions if not holds(out, place)] if out else positions
        )


_PARTS = Registry(
    "part of a search by meaning", "meaning", {"vectors": "holdfast.memory.vectors:WordVectors"}
)
"""What needs numpy is loaded where it is installed and asked for."""

_BLOCK = 4_096  # messages
_BLOCKS = 2  # that are searched: some 8 MB of vectors
_AT_ONCE = 2_000  # messages that one search adds: some 0.3 s, once
_READ = 500
_LONGEST = 4_000  # characters of one message that say what it means
_OUTPUT = 400  # the same of what a tool gave: by its words it is found whole
_NEAREST = 40  # messages that are near; each costs the reading of it and its neighbours


class _Vectors(GrowingVectors, Protocol):
    def to_bytes(self) -> bytes: ...


class _Kind(Protocol):
    def __call__(self, embedder: object) -> _Vectors: ...

    def from_bytes(self, embedder: object, kept: bytes) -> _Vectors: ...


class Meaning:
    """The vectors of one thread."""

    def __init__(self, thread: Thread, kind: _Kind, embedder: object) -> None:
        self._thread, self._kind, self._embedder = thread, kind, embedder
        self._blocks: dict[int, _Vectors] = {}
        self._next = 0

    @classmethod
    def of(cls, thread: Thread, *, wanted: bool | None) -> Meaning | None:
        """The vectors of the thread.

        Without the extra ``local`` None, or MissingExtraError if they are wanted.
        """
        if wanted is False:
            return None
        try:
            kind = cast("_Kind", _PARTS.load("vectors"))
            return cls(thread, kind, open_embedder("local"))
        except MissingExtraError:
            if wanted:
                raise
            return None

    def nearest(self, text: str, limit: int) -> Mapping[int, float]:
        """Cosine similarities of the messages that are nearest to the text, by position."""
        self.grow(_AT_ONCE)
        most = min(limit, _NEAREST)
        found: dict[int, float] = {}
        for block in self._blocks.values():
            found.update(block.nearest(text, most))
        best = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
        return dict(best[:most])

    def grow(self, most: int | None = None) -> None:
        """Take in the messages that are not in yet, at most so many."""
        end = self._thread.state.messages
        first = max(0, (end - 1) // _BLOCK - _BLOCKS + 1)
        if self._next < first * _BLOCK or not self._blocks:
            self._open(first)
        stop = end if most is None else min(end, self._next + most)
        for start in range(self._next, stop, _READ):
            found = self._thread.read(range(start, min(start + _READ, stop))).items()
            said = [(place, _brief(kept)) for place, kept in found if kept.message.role != "system"]
            for number, part in groupby(said, lambda entry: entry[0] // _BLOCK):
                self._block(number).add(*(message for _, message in part))
        if self._next // _BLOCK < stop // _BLOCK:
            self.save(self._next // _BLOCK, stop // _BLOCK)
        self._next = max(self._next, stop)
        self._blocks = {number: block for number, block in self._blocks.items() if number >= first}

    def save(self, first: int, stop: int) -> None:
        """Keep these blocks, which are full.

        Where they cannot be kept, they are made again next time.
        """
        store = self._thread.store
        if isinstance(store, SetsBytes):
            for number in range(first, stop):
                self._kept(store.set_bytes, number)

    def _kept(self, keep: Callable[[str, bytes], object], number: int) -> None:
        try:
            if number in self._blocks:
                settled(keep(self._key(number), self._blocks[number].to_bytes()))
        except StoreError:
            return

    def _open(self, first: int) -> None:
        """The blocks that are kept, from this one on until one is missing."""
        self._next = first * _BLOCK
        store = self._thread.store
        while isinstance(store, GetsBytes) and self._next + _BLOCK <= self._thread.state.messages:
            kept = settled(store.get_bytes(self._key(self._next // _BLOCK)))
            try:
                self._blocks[self._next // _BLOCK] = self._kind.from_bytes(
                    self._embedder, kept or b""
                )
            except (ValueError, KeyError, TypeError):
                return  # not kept, or damaged: it is made again
            self._next += _BLOCK

    def _block(self, number: int) -> _Vectors:
        if number not in self._blocks:
            self._blocks[number] = self._kind(self._embedder)
        return self._blocks[number]

    def _key(self, number: int) -> str:
        return f"vectors:{number}:{self._thread.name}"


def _brief(kept: Kept) -> Remembered:
    message, most = kept.remembered, _OUTPUT if kept.message.results else _LONGEST
    return replace(message, text=message.text[:most]) if len(message.text) > most else message


class Knowing:
    """The facts of one thread, less those that a user wants forgotten."""

    def __init__(self, thread: Thread, *, redacts: bool = False) -> None:
        self._thread, self._tells = thread, concealing(redacts=redacts)
        self._ledger, self._next, self._rewordings = Ledger(), 0, 0

    def ledger(self) -> Ledger:
        """What the messages state as they stand now.

        What is said again after it was forgotten counts again.
        """
        state = self._thread.state
        if self._rewordings != state.rewordings:
            self._ledger, self._next, self._rewordings = Ledger(), 0, state.rewordings
        said = (kept for kept in self._thread.forwards(self._next) if not kept.message.results)
        named = bear_names(state)
        fresh = [fact for kept in said for fact in lifted(self._heard(kept, named))]
        self._ledger = self._ledger.adding(fact for fact in fresh if not self._forgotten(fact))
        self._next = state.messages
        return self._ledger

    def _heard(self, kept: Kept, named: frozenset[str]) -> Remembered:
        seen = heard(kept, named)
        return seen if self._tells is str else replace(seen, text=self._tells(seen.text))

    def _forgotten(self, fact: Fact) -> bool:
        return any(
            fact.position < at and fact.key == tuple(key)
            for at, key in self._thread.state.forgotten
        )
