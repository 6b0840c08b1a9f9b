"""Finds the past messages that answer a question, by words and by meaning, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from holdfast.kernel.errors import CorruptError, MissingExtraError, StoreError
from holdfast.kernel.messages import Message
from holdfast.kernel.registry import imported
from holdfast.memory.entities import COURTESY
from holdfast.memory.excerpts import pack, written
from holdfast.memory.index import Retrieval
from holdfast.memory.messages import Remembered, VectorSource
from holdfast.providers import has_local_vectors, open_embedder
from holdfast.stores.protocols import GetsBytes, SetsBytes, settled
from holdfast.stream.protocol import protocol_of
from holdfast.text.memo import Memo
from holdfast.text.similarity import Scores, best_of
from holdfast.text.visible import GLANCE
from holdfast.text.words import stem, terms

from .log import LINES, NEWEST, Thread, told_of
from .state import Span, holds
from .turns import as_remembered, author, with_authors

if TYPE_CHECKING:
    from holdfast.memory.facts import Ledger
    from holdfast.memory.vectors import WordEmbedder, WordVectors


_ONWARD_WORDS = """
    again ahead another carry continue continues correct done following forward keep next proceed
    resume then
    alles danke gut merci oui continuez gracias vale sigue grazie obrigado obrigada bedankt weiter
"""
_ONWARD = frozenset(map(stem, COURTESY.union(_ONWARD_WORDS.split())))
"""The stems of words of greetings, thanks, agreement and requests to go on."""

# words of a question. For an input with more words, the room for the past shrinks as the square of
# their number grows: so .69 of what the last message of made-up chats needs is there at 30% instead
# of .66, and .86 instead of .87 of what answers a question about long dialogues
_OF_A_QUESTION = 10
_UNKNOWN = 0.1  # share of an input's words that the view may lack; half and double gave equal views


@Memo
def _terms(text: str) -> frozenset[str]:
    """The stems of its words; cached, since most messages of a view are in the next view too."""
    return frozenset(terms(text))


class Inquiry(NamedTuple):
    """A question, and the text of the current work, whose words count too."""

    question: str
    work: str = ""

    @property
    def is_idle(self) -> bool:
        """Whether it only greets, thanks, agrees or asks to go on, such as "ok thanks"."""
        return bool(self.question) and not self._content_words

    @property
    def _content_words(self) -> frozenset[str]:
        return _terms(self.question) - _ONWARD

    @property
    def share(self) -> float:
        """The share of the room for the past that it is worth, from 0 to 1.

        It is 1 for a brief question; a longer input tells more by itself.
        """
        return min(1.0, _OF_A_QUESTION / max(1, len(_terms(self.question)))) ** 2

    def is_known(self, messages: Iterable[Message], recalled: str) -> bool:
        """Whether these messages and a text that was recalled before have nearly all its words."""
        asked = self._content_words
        few, unknown = _UNKNOWN * len(asked), asked - _terms(recalled)
        for message in messages:
            if len(unknown) <= few:
                return True
            unknown -= _terms(message.content_text or "")
        return len(unknown) <= few

    @property
    def brief(self) -> str:
        """The question, and the beginning of the work."""
        return f"{self.question}\n{self.work[:GLANCE]}".rstrip("\n")


def of_the_newest(thread: Thread) -> Inquiry:
    """The newest user message, and the work since then, if any."""
    spoke = thread.state.spoke
    newest = thread.newest(NEWEST) if thread.state.messages - (spoke or 0) > NEWEST else []
    work = "\n".join(told_of(kept)[:GLANCE] for kept in newest)
    said = {} if spoke is None else thread.read([spoke])
    return Inquiry("".join(kept.message.content_text or "" for kept in said.values()), work)


_LATER = "later"  # why a message is recalled that may revise one which was found
_CANDIDATES = 60  # messages with words of the question; in dialogues half and double found as much
# messages of a thread above which there are fewer candidates: each is read with its neighbours, and
# those of a long thread are read from the store
_LONG, _FEWER = 5_000, 30
_HITS = 200  # results that ``pack`` chooses from; in dialogues half and double told the same
# score above which a message is worth its tokens: of two dialogues, all but one of 51 messages that
# answer a question reach it, and of twelve results of questions about the other dialogue 2
WORTH = 0.25
# score of the best answer with which a recall takes all its room: that of a question about the past
# is .71 on average, of other messages of a talk .48. The notes have the rest: in dialogues fitted
# before each reply to 30% they have .84 of the names and numbers instead of .62, while .89 of what
# answers a question that the user just asked is there instead of .93
_SURE = 0.8
# messages with factors in the event of a recall, and told by a report, so that several recalls are
# seen at once
EXPLAINED = 8

Chosen = tuple[int, float, Mapping[str, float]]
"""The position of a recalled message, its score, and each factor's share of it."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A message that was found, or the part of it that answers, with its score and its factors.

    The text is empty if the message was recalled by an earlier fit. ``said`` is its time in seconds
    since 1970 UTC. What may revise a message that was found has the score of that one.
    """

    position: int
    score: float
    text: str
    why: Mapping[str, float] = field(default_factory=dict[str, float])
    role: str = ""
    said: float | None = None


@dataclass(frozen=True, slots=True)
class Recollection:
    """The view's text from the past, and its messages in order of time."""

    text: str = ""
    chosen: tuple[Recalled, ...] = ()

    def for_event(self) -> list[Chosen]:
        """What an event records: positions, scores, and factors of the best; no texts."""
        best = nlargest(EXPLAINED, self.chosen, key=lambda each: (each.score, -each.position))
        return [
            (
                each.position,
                round(each.score, 3),
                {name: round(share, 3) for name, share in each.why.items()} if each in best else {},
            )
            for each in self.chosen
        ]

    def for_state(self) -> list[Chosen]:
        """What the state keeps while it is in the view: also the factors of all, unrounded."""
        return [(each.position, each.score, each.why) for each in self.chosen]

    @classmethod
    def recorded(cls, recalled: Mapping[str, Any]) -> Recollection:
        """The recollection in the view, as a state keeps it; without the texts of its messages."""
        chosen = recalled.get("chosen", ())
        return cls(
            recalled.get("text", ""),
            tuple(Recalled(position, score, "", why) for position, score, why in chosen),
        )


@dataclass(frozen=True, slots=True)
class Past:
    """Searches the past of a thread."""

    thread: Thread
    vectors: VectorSource | None
    mask: Callable[[str], str]
    """Masks the secrets of a text, if they are to be masked."""

    def _retrieval(self, out: Sequence[Span]) -> Retrieval:
        return Retrieval(_Source(self.thread, out), self.vectors)

    def search(self, question: str, limit: int) -> list[Recalled]:
        """The messages that answer best, best first, including evicted ones.

        Secrets may be masked.
        """
        now, asking, past = self.thread.now(), self._with_question(question), self._retrieval(())
        hits = past.search(question, limit, now, asking)
        if asking and not any(hit.score >= WORTH for hit in hits):  # only the question was found
            hits = past.search(question, limit, now)
        positions = [hit.position for hit in hits]
        texts, kept = self.texts(positions), self.thread.read(positions)
        found: list[Recalled] = []
        for hit in hits:
            text = texts.get(hit.position)
            if hit.score > 0 and text:
                seen, shown = kept[hit.position].remembered, self.mask(text)
                found.append(
                    Recalled(hit.position, hit.score, shown, hit.why, seen.role, seen.said)
                )
        return found

    def _with_question(self, question: str) -> frozenset[int]:
        """The messages that contain the question itself, which answer nothing.

        This may be the user's newest input, or a call of a search tool.
        """
        state = self.thread.state
        last = {place for place in (state.spoke, state.messages - 1) if place is not None}
        return frozenset(
            place
            for place, each in self.thread.read(sorted(last)).items()
            if each.remembered.body.split() == question.split()
            or any(question in call.arguments for call in each.message.calls)
        )

    def texts(self, positions: Sequence[int]) -> dict[int, str]:
        """The texts, or else the calls, of the existing messages at these positions."""
        return {
            place: kept.remembered.text
            or (with_authors(self.thread.state, kept) if kept.message.calls else "")
            for place, kept in self.thread.read(positions).items()
        }

    def recollect(
        self,
        asked: Inquiry,
        room: int,
        whole: Callable[[str], int],
        shown: Container[int | None],
        least: float,
        most: int | None,
    ) -> Recollection:
        """The smallest texts that answer, as many as fit ``room`` tokens, in order of time.

        Secrets may be masked. Messages that are ``shown`` already or evicted, or that score below
        ``least``, are left out; there are at most ``most``. ``whole`` counts the tokens that all
        pieces together take in their message. With a ``least`` score, a best answer that is not
        sure takes less room.
        """
        if room <= 0:
            return Recollection()
        state = self.thread.state
        # the question itself answers nothing; where it is shown it is left out anyway
        apart = () if state.spoke in shown else self._with_question(asked.question)
        past = self._retrieval(state.evicted)
        answers = past.answers(asked.question, self.thread.now(), asked.work, apart)
        scores, messages = dict(answers.ranked()), dict(answers.messages)
        unseen = (place for place, score in scores.items() if score >= least and place not in shown)
        hits = list(islice(unseen, most or _HITS))
        # what the user said later, and may revise the best hit of the user's, comes behind it
        said = next((at for at in hits if messages[at].role == "user"), None)
        if said is not None and (later := self._revision(messages[said], past, {*apart}, shown)):
            messages[later.position] = later
            scores.setdefault(later.position, scores[said])
            before = hits[: hits.index(said) + 1]
            hits = list(dict.fromkeys([*before, later.position, *hits]))[:most]
        if hits and least:  # the better the best answer, the more of the room
            room = int(room * min(1.0, scores[hits[0]] / _SURE) ** 2)
        for place in hits:
            messages[place] = replace(messages[place], text=self.mask(messages[place].text))
        # an output that stands in a user's message is not shown as the user's words
        for place in self._outputs_among([at for at in hits if messages[at].role == "user"]):
            messages[place] = replace(messages[place], role="tool", speaker="")
        name = partial(author, self.thread, mask=self.mask)
        count = self.thread.meter.text
        excerpts = pack(hits, messages, room, count, question=asked.brief, whole=whole, name=name)
        chosen: list[Recalled] = []
        for each in excerpts:
            place = each.position
            seen = answers.messages.get(place, messages[place])
            why = answers.why(place) or {_LATER: 1.0}
            chosen.append(Recalled(place, scores[place], each.text, why, seen.role, seen.said))
        return Recollection(written(excerpts), tuple(chosen))

    def _revision(
        self, before: Remembered, past: Retrieval, apart: set[int], shown: Container[int | None]
    ) -> Remembered | None:
        """What the user said later that has most in common with a message: it may revise it."""
        found = past.messages.candidates(terms(before.body), _CANDIDATES)
        later = [at for at in found if at > before.position and at not in shown and at not in apart]
        read = past.messages.read(later)
        said = {at: found[at] for at in later if at in read and read[at].role == "user"}
        return next((read[at] for at, _ in best_of(said, 1)), None)

    def _outputs_among(self, said: Sequence[int]) -> Iterator[int]:
        """Those of these user messages that are outputs of acts written as text.

        The newest messages show the forms of acts and outputs.
        """
        newest = self.thread.newest(LINES) if said else ()
        protocol = protocol_of([kept.message for kept in newest])
        for place in said if protocol.syntaxes else ():
            texts = self.texts([place - 1, place])
            _, act, _ = protocol.parted(texts.get(place - 1, ""))
            if protocol._replace(answers_act=bool(act)).may_be_returned(texts[place]):
                yield place


@dataclass(frozen=True, slots=True)
class _Source:
    """A thread as a source of memory: its log has the messages, its store indexes the words.

    The messages of the spans in ``out`` are left out.
    """

    thread: Thread
    out: Sequence[Span]

    def candidates(self, terms: Sequence[str], limit: int) -> Scores:
        """BM25 scores of the best messages with any of the words."""
        most = min(limit, _FEWER if self.thread.state.messages > _LONG else _CANDIDATES)
        if not self.out:
            return self.thread.search(terms, most)
        found = self.thread.search(terms, limit)
        left = {place: score for place, score in found.items() if not holds(self.out, place)}
        return dict(best_of(left, most))

    def read(self, positions: Sequence[int]) -> Mapping[int, Remembered]:
        """The messages at these positions, without system messages, which are in every view."""
        wanted = [place for place in positions if not holds(self.out, place)]
        return {
            place: as_remembered(kept, self.thread.state)
            for place, kept in self.thread.read(wanted).items()
            if kept.message.role != "system"
        }

    def between(self, first: float, last: float, limit: int) -> Sequence[int]:
        """The positions of the messages in this period."""
        return self.thread.between(first, last, min(limit, _CANDIDATES))

    def newest(self, limit: int) -> Sequence[int]:
        """The positions of the newest messages, the newest first."""
        return range(self.thread.state.messages - 1, -1, -1)[: min(limit, _CANDIDATES)]

    def speakers(self) -> Sequence[str]:
        """The names of the speakers."""
        state = self.thread.state
        return state.speakers if any(map(state.signs, state.signed)) else ()


_BLOCK = 4_096  # messages whose vectors are stored under one key
_BLOCKS = 2  # newest blocks that are searched: about 8 MB of vectors
_AT_ONCE = 2_000  # messages that one search adds, which takes about 0.3 s
# nearest messages, each of which is read with its neighbours; in dialogues half found less, and
# 120 no more
_NEAREST = 80


@cache
def _vectors() -> tuple[type[WordVectors], WordEmbedder]:
    """The class of a block of vectors, and the embedder of its words.

    Raises MissingExtraError if they are not installed.
    """
    kind: type[WordVectors] = imported("holdfast.memory.vectors:WordVectors")  # needs numpy
    return kind, cast("WordEmbedder", open_embedder("local"))


class MessageVectors:
    """The vectors of one thread's messages, in blocks; full blocks are in the store."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._blocks: dict[int, WordVectors] = {}
        self._next = self._changes = 0

    @classmethod
    def of(cls, thread: Thread, *, wanted: bool | None) -> MessageVectors | None:
        """The vectors of the thread; None if they are not wanted or not installed.

        Raises MissingExtraError if ``wanted`` is True and the extra ``local`` is not installed.
        """
        if wanted:
            _vectors()
        return cls(thread) if wanted is not False and has_local_vectors() else None

    def nearest(self, text: str, limit: int) -> Scores:
        """Cosines of the messages that are nearest to the text, by position.

        Vectors are loaded with the first search, which many sessions never make.
        """
        try:
            self._grow()
        except MissingExtraError:  # the package is there, but without its files
            return {}
        most = min(limit, _NEAREST)
        found: dict[int, float] = {}
        for block in self._blocks.values():
            found |= block.nearest(text, most)
        return dict(best_of(found, most))

    def _grow(self) -> None:
        """Add the messages that have no vector yet, or some of them.

        After a message was changed all are added again, as a session that is opened now has them.
        """
        kind, embedder = _vectors()
        if self._changes != self._thread.state.changes:
            self._blocks, self._changes = {}, self._thread.state.changes
        end = self._thread.state.messages
        first = max(0, (end - 1) // _BLOCK - _BLOCKS + 1)
        if self._next < first * _BLOCK or not self._blocks:
            self._open(first)
        stop = min(end, self._next + _AT_ONCE)
        while self._next < stop:
            number = self._next // _BLOCK
            block = self._blocks.setdefault(number, kind(embedder))
            places = range(self._next, min(stop, (number + 1) * _BLOCK))
            found = self._thread.read(places).values()
            seen = [kept.remembered for kept in found if kept.message.role != "system"]
            # only the beginning of each is embedded
            block.add(*(replace(each, text=each.text[:GLANCE]) for each in seen))
            self._next = places.stop
            if places.stop % _BLOCK == 0:
                self._keep(number)
        self._blocks = {number: block for number, block in self._blocks.items() if number >= first}

    def _keep(self, number: int) -> None:
        """Store a full block. If that fails, it is computed again next time."""
        store = self._thread.store
        if isinstance(store, SetsBytes):
            block = self._blocks[number]
            block.changes = self._changes
            with suppress(StoreError):
                settled(store.set_bytes(self._key(number), block.to_bytes()))

    def _open(self, first: int) -> None:
        """Read the stored blocks, from this one until one is missing."""
        kind, embedder = _vectors()
        self._next = first * _BLOCK
        store = self._thread.store
        while isinstance(store, GetsBytes) and self._next + _BLOCK <= self._thread.state.messages:
            number = self._next // _BLOCK
            try:
                kept = settled(store.get_bytes(self._key(number))) or b""
                block = kind.from_bytes(embedder, kept)
            except (CorruptError, ValueError, KeyError, TypeError):
                return  # missing or damaged: computed again
            if block.changes != self._changes:
                return  # its messages may have been changed since
            self._blocks[number] = block
            self._next += _BLOCK

    def _key(self, number: int) -> str:
        return f"vectors:{number}:{self._thread.name}"


@dataclass
class FactReader:
    """The facts of one thread, without those that a user deleted."""

    thread: Thread
    mask: Callable[[str], str]
    _ledger: Ledger | None = None
    _next: int = 0
    _rewordings: int = 0

    def ledger(self) -> Ledger:
        """The facts in the messages with edits applied.

        A deleted fact that is stated again counts again.
        """
        state = self.thread.state
        facts = imported("holdfast.memory.facts")  # most sessions are asked for no facts
        ledger, start = self._ledger, self._next
        if ledger is None or self._rewordings != state.rewordings:
            ledger, start = facts.Ledger(), 0
        forgotten = {tuple(key): at for at, key in sorted(state.forgotten)}
        said = (kept for kept in self.thread.forwards(start) if not kept.message.results)
        for kept in said:
            seen = as_remembered(kept, state)
            fresh = facts.facts_in(replace(seen, text=self.mask(seen.text)))
            ledger = ledger.adding(
                fact for fact in fresh if fact.position >= forgotten.get(fact.key, 0)
            )
        self._ledger, self._next, self._rewordings = ledger, state.messages, state.rewordings
        return ledger
