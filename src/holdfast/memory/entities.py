"""Who and what a text is about, in its own spelling, and how these things are related."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import fsum

from holdfast.text.identifiers import Identifier, find
from holdfast.text.memo import Memo
from holdfast.text.sentences import sentences
from holdfast.text.words import STOP_WORDS

from .names import Name, names
from .pleasantries import COURTESY
from .verbs import is_verb

MOST_ENTITIES, MOST_RELATIONS = 15, 10
"""Of V.24."""

RELATED = "related-to"
"""What stands between two entities of a sentence that has no verb there."""

HEAD = re.compile(r"^(?:User|Assistant|System|Call|Result): ", re.MULTILINE)
"""What a line begins with in the text of a turn where nobody has a name: it is none either."""

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_BETWEEN = 120  # characters that a relation spans at most
_REPEATED = 2  # times from which on a phrase is an entity
_SHORTEST = 4  # letters of each word of a phrase


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing that is spoken of: a ``name``, a ``phrase``, or something exact such as a ``date``."""

    text: str
    kind: str
    times: int


@dataclass(frozen=True, slots=True)
class Relation:
    """Two entities of one sentence, and the verb between them."""

    subject: str
    verb: str
    object: str


def entities(text: str, most: int | None = MOST_ENTITIES) -> list[Entity]:
    """What the text is about: names, then what is exact, then phrases that come back; the oftenest first."""
    return list(_READ(text).entities[:most])


def exact(text: str) -> frozenset[str]:
    """What is exact in the text, bare numbers left out."""
    return _READ(text).exact


def places(text: str) -> tuple[str, dict[str, int]]:
    """What the text says without the names of who speaks, and where in that each entity stands first."""
    read = _READ(text)
    return read.said, {one: start for start, one in reversed(read.places)}


def relations(text: str, most: int | None = MOST_RELATIONS) -> list[Relation]:
    """Neighbouring entities of one sentence with the verb that joins them, each relation once."""
    return list(_RELATIONS(text)[:most])


def importance(
    found: Iterable[str], context: Iterable[str], everywhere: Mapping[str, float], beta: float
) -> float:
    """How much the entities matter here: the share that the context names too, and how often all texts name those.

    V.16: beta * overlap / |E| + (1 - beta) * the sum of the global importance of the shared ones.
    """
    own = set(found)
    shared = own.intersection(context)
    return beta * len(shared) / max(1, len(own)) + (1 - beta) * fsum(everywhere.get(one, 0.0) for one in shared)


def frequency(texts: Sequence[Iterable[str]]) -> dict[str, float]:
    """The global importance of each entity: the share of the texts that name it, given the entities of each."""
    holders = Counter(entity for named in texts for entity in set(named))
    return {entity: times / len(texts) for entity, times in holders.items()}


@dataclass(frozen=True, slots=True)
class _Read:
    """What a text says, and what it names."""

    said: str
    entities: tuple[Entity, ...]
    exact: frozenset[str]
    places: tuple[tuple[int, str], ...]
    """Where each name and each exact thing outside of names starts, in order."""


def _read(text: str) -> _Read:
    said = HEAD.sub("", text)
    named, found = names(said), find(said)
    return _Read(
        said,
        _entities(said, named, found),
        frozenset(one.text for one in found if not one.text.isdigit()),
        _places(named, found),
    )


_READ: Memo[str, _Read] = Memo(
    _read,
    lambda text, read: 2 * len(text) + 64 * (len(read.entities) + len(read.exact) + len(read.places)),
    16_000_000,
)
"""By the text: segments are weighed again at every run, and say what they said."""


def _entities(text: str, named: Sequence[Name], found: Sequence[Identifier]) -> tuple[Entity, ...]:
    spoken = Counter(name.text for name in named)
    inside = {word for name in spoken for word in name.split()}
    kinds = {one.text: one.kind for one in found if one.text not in inside}
    times = Counter(one.text for one in found)
    return (
        *(Entity(name, "name", often) for name, often in spoken.most_common()),
        *(Entity(one, kinds[one], times[one]) for one in sorted(kinds, key=lambda one: -times[one])),
        *(Entity(phrase, "phrase", often) for phrase, often in _phrases(text)),
    )


def _places(named: Sequence[Name], found: Sequence[Identifier]) -> tuple[tuple[int, str], ...]:
    starts = [name.start for name in named]
    ends = [0, *(name.start + len(name.text) for name in named)]
    places = [(name.start, name.text) for name in named]
    places += [(one.start, one.text) for one in found if one.start >= ends[bisect_right(starts, one.start)]]
    return tuple(sorted(places))


def _relations(text: str) -> tuple[Relation, ...]:
    read = _READ(text)
    ends = list(accumulate(map(len, sentences(read.said))))
    found: dict[Relation, None] = {}
    for (start, subject), (at, other) in pairwise(read.places):
        end = start + len(subject)
        near = at - end <= _BETWEEN and bisect_right(ends, start) == bisect_right(ends, at)
        if near and subject != other:
            found.setdefault(Relation(subject, _verb(read.said[end:at]), other))
    return tuple(found)


_RELATIONS: Memo[str, tuple[Relation, ...]] = Memo(
    _relations, lambda text, found: len(text) + 128 * len(found), 8_000_000
)
"""As above."""


def _verb(between: str) -> str:
    return next((word for word in _WORD.findall(between) if is_verb(word.lower())), RELATED)


def _phrases(text: str) -> list[tuple[str, int]]:
    """Pairs of telling words that stand together more than once."""
    pairs = Counter[str]()
    before, end = "", 0
    for match in _WORD.finditer(text):
        word = match.group()
        telling = word if _is_telling(word) else ""
        if before and telling and text[end : match.start()] == " ":
            pairs[f"{before} {word}"] += 1
        before, end = telling, match.end()
    return [(pair, times) for pair, times in pairs.most_common() if times >= _REPEATED]


def _is_telling(word: str) -> bool:
    return len(word) >= _SHORTEST and word.islower() and word not in STOP_WORDS and word not in COURTESY
