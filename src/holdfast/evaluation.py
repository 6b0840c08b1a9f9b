"""What a compaction kept, by kind and without a model: facts that still stand, with what they say.

A name or a number is kept where it stands with half of the words around one of its places, as the
quality benchmark matches; a statement where four fifths of its words stand together in one message;
an act where its name and that of its things do; whether it is still told as failed is not looked
at. What is told again by a system's message is kept as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
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
_WORD = re.compile(r"\w+")
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
    told = _Told(_messages(after))
    asked = tuple(
        each if isinstance(each, Probe) else Probe(each[0], tuple(each[1])) for each in probes or ()
    )
    return Evaluation(
        tuple(_facts(_messages(before), told)),
        tuple(
            Probe(probe.question, probe.expected, told.together(probe.expected)) for probe in asked
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
    """What the conversation after says."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.texts = _texts(messages)
        self._whole = frozenset(self.texts)
        self._low = [text.lower() for text in self.texts]
        self._sets = [frozenset(terms(text)) for text in self.texts]

    def names(self, thing: str, sources: Sequence[str]) -> bool:
        """Whether the thing stands there with what stood around one of its places."""
        holding = [text for text in sources if thing in text]
        if any(text in self._whole for text in holding):
            return True
        own = _words(thing)
        company = [_words(passage) for passage in _around(self.texts, thing, _NEAR)]
        for source in _around(holding, thing, _AROUND) if company else ():
            wanted = _words(source) - own
            if any(len(wanted & held) >= _COMPANY * len(wanted) for held in company):
                return True
        return False

    def says(self, statement: str) -> bool:
        """Whether one message holds nearly all of the words."""
        wanted = frozenset(terms(statement))
        return any(len(wanted & held) >= _STATEMENT * len(wanted) for held in self._sets)

    def together(self, wanted: Sequence[str]) -> bool:
        """Whether all of the words stand near each other in one message."""
        if not wanted:
            return True
        first, *others = [word.lower() for word in wanted]
        return any(
            all(word in passage for word in others) for passage in _around(self._low, first, _NEAR)
        )


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - STOP_WORDS


def _around(texts: Sequence[str], thing: str, reach: int) -> Iterator[str]:
    """What stands around each place of the thing as a whole word."""
    place = re.compile(rf"(?<!\w){re.escape(thing)}(?!\w)")
    for text in texts:
        if thing in text:
            for found in place.finditer(text):
                yield text[max(0, found.start() - reach) : found.end() + reach]


def _facts(messages: Sequence[Message], told: _Told) -> Iterator[Fact]:
    """What the conversation says, each once, and whether it is told."""
    sources = _texts(messages)
    events = events_of(messages, range(len(messages)), {})
    for thing in dict.fromkeys(each for text in sources for each in things(text)):
        kind = _kind(thing)
        if kind is not None and (shape(thing) != "capitalised" or _is_name(thing, sources)):
            yield Fact(kind, thing, told.names(thing, sources))
    for event in events:
        if event.function == "words":
            yield from _statements(event, told)
        elif event.function == "act":
            yield Fact("acts", _line(f"{event.by} {event.text}"), _is_done(event, told))


def _kind(thing: str) -> Kind | None:
    look = shape(thing)
    return "numbers" if look == "number" else "names" if look in _NAMES else None


def _is_name(thing: str, texts: Sequence[str]) -> bool:
    """Whether a capitalised word stands within a sentence, where no rule of spelling asks for it."""
    if thing.lower() in STOP_WORDS:
        return False
    within = re.compile(rf"[\w,;:(] +{re.escape(thing)}(?!\w)")
    return any(thing in text and within.search(text) is not None for text in texts)


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
