"""What a question asks for: words, speakers, a time."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from holdfast.text.words import STOP_WORDS, words

from .exact import Exact, exact_things, runs
from .remembered import Remembered
from .times import Period, dates, direction, period

_WHO = re.compile(
    r"\bdid (?P<asked>i|you)\b"
    r"|\b(?P<told>i|you) (?:said|told|mentioned|asked|wrote|gave|suggested|proposed|recommended|wanted|decided)\b",
    re.IGNORECASE,
)
_EVENT = re.compile(r"\b(?P<side>before|after|since|until) (?P<event>[^?!.\n]{3,120})", re.IGNORECASE)
_EVENTS = {"before": -1, "until": -1, "after": 1, "since": 1}
_ROLES = {"i": "user", "you": "assistant"}
_ORDER = frozenset(
    "first earliest initially originally start beginning latest recent recently last newest".split()
)
_LETTERS = re.compile(r"[^\W\d_]+")
_LONGEST = 20_000  # characters of a question that are read, from each end
_MOST_TERMS = 64  # a question of more words is a document: its rarest would all match
_BRIEF = 16  # words of a question: a longer one names much on the way, and asks for none of it in particular
_MOST_BESIDE = 32  # with those of its context, each of which costs a search as much
_NEAR = 0.01  # of a message said then: what is further away has nothing to do with that time
_HINT = 0.6  # what "first" and "latest" weigh against a date
SOON = 20
"""Messages after an event, or before it, at which half of that is left; of all, those that are the first."""
_SHORT_NAME = 3  # letters from which on the beginning of a name is taken for the name


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, read."""

    terms: tuple[str, ...]
    """The distinct lower-case words that mean something; names of speakers are not among them."""

    speakers: frozenset[str]
    """Whom it asks about, of those who speak; empty where that is all of them or none."""

    role: str
    """The role of the one who spoke, where the question says "did I" or "you said"; else an empty string."""

    period: Period | None
    direction: int
    """-1: the first of several, or what was before an event; 1: the latest, or what was after it; 0: any."""

    event: tuple[str, ...]
    """The words of the event that the question is told from, as in "after the trip"."""

    things: tuple[Exact, ...] = ()
    """What it names exactly."""

    runs: tuple[str, ...] = ()
    """Each two of its words that stand side by side."""

    plain: str = ""
    """It, without the numbers of the days that it names."""

    @classmethod
    def of(cls, question: str, speakers: Sequence[str], now: float | None, context: str = "") -> Asked:
        """Read the question of someone who talks at ``now`` with those who speak.

        The words of its ``context`` count too.
        """
        text = question if len(question) <= 2 * _LONGEST else f"{question[:_LONGEST]} {question[-_LONGEST:]}"
        plain, named = dates(text)
        spoken = dict.fromkeys(words(plain))
        names = _names(text, spoken, speakers) if speakers else {}
        about = frozenset(name for matching in names.values() for name in matching)
        who = _WHO.search(text)
        event = _EVENT.search(text)
        after = _EVENTS.get(event["side"].lower(), 0) if event else 0
        terms = _telling(spoken, names)
        beside = _telling(dict.fromkeys([*terms, *words(context[:_LONGEST])]), names)
        return cls(
            terms=beside[: max(len(terms), _MOST_BESIDE)],
            speakers=about if len(about) < len(speakers) else frozenset(),
            role=_ROLES[(who["asked"] or who["told"]).lower()] if who and not about else "",
            period=period(text, now),
            direction=after or direction(text),
            event=_telling(words(event["event"]), names) if event else (),
            things=(*exact_things(plain), *map(Exact.of, named)) if len(terms) <= _BRIEF else (),
            runs=runs(plain) if len(terms) <= _BRIEF else (),
            plain=plain,
        )

    def sought(self, held: Sequence[Exact]) -> tuple[str, ...]:
        """The words to look for where these things are held: then their words count side by side alone."""
        if not held:
            return self.terms
        rest = self.plain.lower()
        for thing in held:
            rest = rest if thing.quoted else rest.replace(thing.needle, " ")
        parts = frozenset(chain.from_iterable(thing.words for thing in held)).difference(words(rest))
        return tuple(
            dict.fromkeys([*filter(lambda term: term not in parts, self.terms), *(thing.phrase for thing in held)])
        )

    @property
    def order_alone(self) -> bool:
        """Whether it asks for the first or the latest of all that was said, and for nothing else."""
        return bool(self.direction) and not self.event and self.period is None and _ORDER.issuperset(self.terms)

    def speaking(self, messages: Mapping[int, Remembered]) -> dict[int, float]:
        """1.0 at the messages that are by one whom the question asks about."""
        if not self.speakers and not self.role:
            return {}
        return {
            position: 1.0
            for position, message in messages.items()
            if message.speaker in self.speakers or (self.role and message.role == self.role)
        }

    def suiting(self, messages: Mapping[int, Remembered], event: int | None) -> dict[int, float]:
        """How well the time of each message suits; nothing where none was said near the time that is asked for.

        Of the first or the latest, how near that end it stands; beside an event, how soon before or after it.
        """
        if self.period is not None:
            said = ((at, message.said) for at, message in messages.items() if message.said is not None)
            return {at: near for at, time in said if (near := self.period.nearness(time)) >= _NEAR}
        if not self.direction or len(messages) < 2:
            return {}
        if event is not None:
            distance = {position: (position - event) * self.direction for position in messages}
            return {position: _HINT * 0.5 ** (far / SOON) for position, far in distance.items() if far >= 0}
        first, last = min(messages), max(messages)
        share = {position: (position - first) / (last - first) for position in messages}
        return {position: _HINT * (part if self.direction > 0 else 1 - part) for position, part in share.items()}


def _telling(spoken: Iterable[str], names: Container[str]) -> tuple[str, ...]:
    """The first of the words that mean something and name no speaker."""
    return tuple([word for word in spoken if word not in STOP_WORDS and word not in names][:_MOST_TERMS])


def _names(text: str, spoken: Iterable[str], speakers: Sequence[str]) -> dict[str, set[str]]:
    """The words of the text that name speakers, and whom: one of their names, or with a capital its beginning."""
    parts = [(part, name) for name in speakers for part in words(name)]
    whole = {part for part, _ in parts}
    capitals = {word.lower() for word in _LETTERS.findall(text) if word[0].isupper()} - STOP_WORDS
    names: dict[str, set[str]] = {}
    for word in spoken:
        begins = len(word) >= _SHORT_NAME and word in capitals
        if begins or word in whole:
            named = {name for part, name in parts if part == word or (begins and part.startswith(word))}
            names |= {word: named} if named else {}
    return names
