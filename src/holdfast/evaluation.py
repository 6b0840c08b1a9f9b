"""What a compaction kept, by kind and without a model: facts that still stand, with what they say.

A name or a number is kept where it stands with half of the words around one of its places, as the
quality benchmark matches; a statement where four fifths of its words stand together in one message;
an act where its name and that of its things do; whether it is still told as failed is not looked
at. What is told again by a system's message is kept as well.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import ceil
from typing import Any, Literal, get_args

from holdfast.formats import read
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.messages import Message
from holdfast.result import CompressionResult, bare, restore
from holdfast.selection.things import shape, things
from holdfast.stream.events import Event, events_of
from holdfast.text.importance import signals
from holdfast.text.sentences import sentences
from holdfast.text.words import STOP_WORDS, terms

Kind = Literal["names", "numbers", "decisions", "constraints", "open_points", "acts"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_AROUND, _NEAR = 60, 160  # characters on both sides, before and after: as the benchmark has them
_COMPANY = 0.5  # of the words around a thing: with them it still says what it is
_STATEMENT = 0.8  # of the words of a statement: who repeats them repeats it
_FEWEST = 3  # words of a statement
_LONGEST = 160  # characters of a fact as it is shown
_PLACES = 16  # of a thing after, that are looked at: one that stands in more is told alike there
_WORD = re.compile(r"\w+")
_WITHIN = re.compile(r"[\w,;:(] +$")
_INDENT = 8  # characters before a name, that are looked at
_Place = tuple[int, int]
"""The number of a text, and where in it something begins."""
_SHOWN = 20  # lost facts that a report lists
_NAMES = frozenset({"path", "id", "capitalised", "compound", "hyphened", "camel"})


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was said before, and whether it is still said."""

    kind: Kind
    text: str
    kept: bool


@dataclass(frozen=True, slots=True)
class Probe:
    """A question, and the words of which its answer consists."""

    question: str
    expected: tuple[str, ...]
    answerable: bool = False
    """Whether all of the words stand near each other in one message."""


@dataclass(frozen=True)
class Evaluation:
    """What of the conversation before stands in the one after.

    Shares are between 0 and 1; a kind of which nothing was said counts for none.
    """

    facts: tuple[Fact, ...]
    probes: tuple[Probe, ...] = ()

    @cached_property
    def kinds(self) -> dict[Kind, float]:
        """The share that is kept of each kind of which something was said."""
        found: dict[Kind, float] = {}
        for kind in KINDS:
            held = [fact.kept for fact in self.facts if fact.kind == kind]
            if held:
                found[kind] = sum(held) / len(held)
        return found

    @property
    def score(self) -> float:
        """The mean over the kinds, and over the probes as a kind of their own; 1 where nothing is."""
        shares = list(self.kinds.values())
        if self.probes:
            shares.append(self.answerable)
        return sum(shares) / len(shares) if shares else 1.0

    @property
    def answerable(self) -> float:
        """The share of the probes that can be answered; 1 where there is none."""
        held = [probe.answerable for probe in self.probes]
        return sum(held) / len(held) if held else 1.0

    @property
    def lost(self) -> tuple[Fact, ...]:
        """What is said no longer."""
        return tuple(fact for fact in self.facts if not fact.kept)

    def to_dict(self) -> dict[str, Any]:
        """Every figure, for JSON."""
        said = {kind: sum(fact.kind == kind for fact in self.facts) for kind in self.kinds}
        return {
            "score": self.score,
            "kinds": {k: {"kept": share, "said": said[k]} for k, share in self.kinds.items()},
            "probes": [asdict(probe) for probe in self.probes],
            "lost": [{"kind": fact.kind, "text": fact.text} for fact in self.lost],
        }

    def text(self) -> str:
        """The figures as a table, and of what is lost the first."""
        said = {kind: sum(fact.kind == kind for fact in self.facts) for kind in self.kinds}
        lines = [f"{'score':<12} {self.score:6.3f}"]
        lines += [f"{k:<12} {share:6.3f}  of {said[k]:,}" for k, share in self.kinds.items()]
        if self.probes:
            lines.append(f"{'probes':<12} {self.answerable:6.3f}  of {len(self.probes):,}")
        lines += [f"lost: {fact.kind}: {fact.text}" for fact in self.lost[:_SHOWN]]
        return "\n".join(lines) + "\n"


def evaluate(
    before: Any,
    after: Any = None,
    probes: Iterable[Probe | tuple[str, Sequence[str]]] | None = None,
) -> Evaluation:
    """Say what of a conversation is still told after it was made smaller; no model is asked.

    ``before`` and ``after``: messages in any form, or a result of ``compress`` alone, which holds
    both. ``probes``: questions with the words that an answer needs. The same conversation twice
    has a score of 1. Raises InputError for what cannot be read.
    """
    result: Any = before
    if after is None:
        if not isinstance(before, CompressionResult):
            advice = "give the messages after it, or a result of compress"
            raise ConfigError("it is missing", place="after", advice=advice)
        before, after = restore(result), result.messages
    texts = _texts(_messages(after))
    asked = tuple(
        each if isinstance(each, Probe) else Probe(each[0], tuple(each[1])) for each in probes or ()
    )
    return Evaluation(
        tuple(_facts(_messages(before), texts)),
        tuple(
            Probe(probe.question, probe.expected, _together(texts, probe.expected))
            for probe in asked
        ),
    )


def _messages(conversation: Any) -> Sequence[Message]:
    _, _, transcript = read(bare(conversation), None)
    return transcript.messages


def _texts(messages: Sequence[Message]) -> list[str]:
    """All that each message says: its words, what is called, and what that returned."""
    found: list[str] = []
    for message in messages:
        calls = [f"{call.name} {call.arguments}" for call in message.calls]
        results = [result.text for result in message.results]
        found.append("\n".join([message.content_text or "", *calls, *results]))
    return found


class _Told:
    """What the conversation after says; ``wanted`` are the things of the one before."""

    def __init__(self, texts: Sequence[str], wanted: Collection[str]) -> None:
        self.whole = frozenset(texts)
        self._texts, self._places = texts, _places(texts, wanted)
        self._sets = [frozenset(terms(text)) for text in texts]
        self._saying: defaultdict[str, list[int]] = defaultdict(list)
        for number, held in enumerate(self._sets):
            for word in held:
                self._saying[word].append(number)

    def names(self, thing: str, sources: Iterable[str]) -> bool:
        """Whether the thing stands there with what stood around one of its places."""
        own = _words(thing)
        places = self._places.get(thing, ())[:_PLACES]
        company = [_words(near) for near in _around(self._texts, thing, places, _NEAR)]
        for source in sources if company else ():
            wanted = _words(source) - own
            if any(len(wanted & held) >= _COMPANY * len(wanted) for held in company):
                return True
        return False

    def says(self, statement: str) -> bool:
        """Whether one message holds nearly all of the words, and so one of the rarest few."""
        wanted = frozenset(terms(statement))
        rarest = sorted((self._saying.get(word, []) for word in wanted), key=len)
        least = ceil(_STATEMENT * len(wanted))
        likely = {n for held in rarest[: len(wanted) - least + 1] for n in held}
        return any(len(wanted & self._sets[n]) >= least for n in likely)


def _together(texts: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether all of the words stand near each other in one message."""
    if not wanted:
        return True
    first, *others = [word.lower() for word in wanted]
    low = [text.lower() for text in texts]
    place = re.compile(rf"(?<!\w){re.escape(first)}(?!\w)")
    places = [(n, found.start()) for n, text in enumerate(low) for found in place.finditer(text)]
    near = _around(low, first, places, _NEAR)
    return any(all(word in passage for word in others) for passage in near)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - STOP_WORDS


def _places(texts: Iterable[str], wanted: Collection[str]) -> Mapping[str, Sequence[_Place]]:
    """Where each thing that is wanted stands as a whole word, found by its first letters or digits."""
    known = frozenset(wanted)
    forms: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
    for thing in known:
        if first := _WORD.search(thing):
            forms[first[0]].add((first.start(), len(thing)))
    found: defaultdict[str, list[_Place]] = defaultdict(list)
    for number, text in enumerate(texts):
        for word in _WORD.finditer(text):
            for before, length in forms.get(word[0], ()):
                start = word.start() - before
                thing = text[max(start, 0) : start + length]
                if thing in known and not any(
                    0 <= at < len(text) and _WORD.match(text, at)
                    for at in (start - 1, start + length)
                ):
                    found[thing].append((number, start))
    return found


def _around(
    texts: Sequence[str], thing: str, places: Iterable[_Place], reach: int
) -> Iterator[str]:
    """What stands around each of the places of the thing."""
    for number, start in places:
        yield texts[number][max(0, start - reach) : start + len(thing) + reach]


def _facts(messages: Sequence[Message], after: Sequence[str]) -> Iterator[Fact]:
    """What the conversation says, each once, and whether it is told after it."""
    texts = _texts(messages)
    holding: defaultdict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(texts):
        for thing in things(text):
            if _kind(thing) is not None:
                holding[thing].append(number)
    places, told = _places(texts, holding), _Told(after, holding)
    for thing, numbers in holding.items():
        kind, stands = _kind(thing), places.get(thing, ())
        if kind and (shape(thing) != "capitalised" or _is_name(thing, texts, stands)):
            around = _around(texts, thing, stands, _AROUND)
            kept = any(texts[number] in told.whole for number in numbers)
            yield Fact(kind, thing, kept or told.names(thing, around))
    events = events_of(messages, range(len(messages)), {})
    for event in events:
        if event.function == "words":
            yield from _statements(event, told)
        elif event.function == "act":
            yield Fact("acts", _line(f"{event.by} {event.text}"), _is_done(event, told))


def _kind(thing: str) -> Kind | None:
    look = shape(thing)
    return "numbers" if look == "number" else "names" if look in _NAMES else None


def _is_name(thing: str, texts: Sequence[str], places: Iterable[_Place]) -> bool:
    """Whether a capitalised word stands within a sentence, where no rule of spelling asks for it."""
    return thing.lower() not in STOP_WORDS and any(
        _WITHIN.search(texts[number], max(0, start - _INDENT), start) for number, start in places
    )


def _statements(event: Event, told: _Told) -> Iterator[Fact]:
    for sentence in dict.fromkeys(sentences(event.text)):
        if len(frozenset(terms(sentence))) < _FEWEST:
            continue
        said = signals(sentence)
        kinds: list[Kind] = []
        if said.decides >= 1:
            kinds.append("decisions")
        if said.constrains:
            kinds.append("constraints")
        if event.is_users_words and sentence.rstrip().endswith("?"):
            kinds.append("open_points")
        kept = bool(kinds) and told.says(sentence)
        for kind in kinds:
            yield Fact(kind, _line(sentence), kept)


def _is_done(event: Event, told: _Told) -> bool:
    """Whether one message tells of the act: its name, and the things that it was given."""
    return told.says(f"{event.by} {' '.join(things(event.text))}")


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
