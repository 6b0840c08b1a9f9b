"""Kinds of line that are one kind: they share their common words, or differ in a single word.

No two kinds are ever compared. A word is judged by how many kinds have it at its place, and a kind that differs in
one word is looked up by the sum of the others, so the work grows with the number of words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress
from operator import mul

from holdfast.text.importance import TROUBLE, alarm
from holdfast.text.states import States, states

from .levels import severity

MASK = "0"
"""Stands in a kind's words for each value: a number, an id, an address, a date."""
ANY = "\0"
"""Stands in a kind's words where whole words differ."""

_PASSES = 2
_USUAL = 3  # kinds that share a word before it counts as common
_RARE = 0.34  # of the common words' number: what a value stays below; one of three is a value
_FACTORS = [2 * place + 1 for place in range(1 << 10)]


@dataclass(slots=True)
class Kind:
    """Lines that say the same: their words with the values masked, and where they stand.

    ``labels`` counts the lines of each level and component, as shapes write them; ``values`` maps the place of a
    word to the words seen there, with the number of lines of each; ``level`` and ``standing``, what the head says
    of how things stand, are the same in all of the lines; ``continues`` says that the lines have no head of their
    own, as in a stack trace.
    """

    words: tuple[str, ...]
    rows: list[int] = field(default_factory=list[int])
    labels: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    values: dict[int, dict[str, int]] = field(default_factory=dict[int, dict[str, int]])
    level: str = ""
    standing: States = ()
    continues: bool = False

    @property
    def count(self) -> int:
        """The number of lines of this kind."""
        return len(self.rows)


def merge(kinds: Sequence[Kind]) -> list[Kind]:
    """The kinds with those of the same meaning put together, in the order of their first lines."""
    merged: list[Kind] = []
    families: dict[tuple[object, ...], list[Kind]] = {}
    for kind in kinds:
        key = (len(kind.words), _is_grave(kind), kind.level, kind.standing, states(kind.words))
        families.setdefault(key, []).append(kind)
    for family in families.values():
        joined = _sharing_common_words(family)
        for _ in range(_PASSES):
            joined = _differing_in_one_word(joined)
        merged.extend(joined)
    return sorted(merged, key=lambda kind: kind.rows[0])


def _sharing_common_words(kinds: list[Kind]) -> list[Kind]:
    """Where most words of a kind are common at their place, the rare ones are values."""
    if len(kinds) < _USUAL:
        return kinds
    common = [Counter(column) for column in zip(*(kind.words for kind in kinds), strict=True)]
    families: dict[tuple[str, ...], list[Kind]] = {}
    for kind in kinds:
        seen = [column[word] for column, word in zip(common, kind.words, strict=True)]
        told = sorted(compress(seen, map(_tells, kind.words)))
        usual = told[len(told) // 2] if told else 0
        key = kind.words
        if usual >= _USUAL:
            least = usual * _RARE
            key = tuple([word if number >= least else ANY for number, word in zip(seen, kind.words, strict=True)])
        families.setdefault(key, []).append(kind)
    return [_join(family, words) for words, family in families.items()]


def _differing_in_one_word(kinds: list[Kind]) -> list[Kind]:
    """The largest families first: a kind that fits several goes with the most others."""
    if len(kinds) < 2:
        return kinds
    families: dict[tuple[int, int], list[int]] = {}
    for number, kind in enumerate(kinds):
        marks = list(map(mul, map(hash, kind.words), _FACTORS))
        whole = sum(marks)
        for place in _open_places(kind):
            families.setdefault((place, whole - marks[place]), []).append(number)
    real = [(place, family) for (place, _), family in families.items() if len(family) > 1]
    free = [True] * len(kinds)
    merged: list[Kind] = []
    for place, family in sorted(real, key=lambda entry: -len(entry[1])):
        members = [number for number in family if free[number]]
        if len(members) > 1:
            words = kinds[members[0]].words
            joined = (*words[:place], ANY, *words[place + 1 :])
            merged.append(_join([kinds[number] for number in members], joined))
            for number in members:
                free[number] = False
    merged.extend(kind for kind, is_free in zip(kinds, free, strict=True) if is_free)
    return merged


def _open_places(kind: Kind) -> list[int]:
    """Where a kind's words may differ: half of its words stay, so that the line says what it is about."""
    fixed = list(map(_tells, kind.words))
    spare = sum(fixed) - max(1, len(fixed) // 2)
    return [place for place, is_fixed in enumerate(fixed) if spare >= is_fixed]


@lru_cache(maxsize=1 << 14)
def _tells(word: str) -> bool:
    """Whether a word has letters enough to say something."""
    return len(word) > 1 and (word[0].isalpha() or word[1].isalpha() or word[-2].isalpha())


def _is_grave(kind: Kind) -> bool:
    """Whether a kind tells of trouble: it is never put together with one that does not."""
    return any(severity(level) > 1 for level, _ in kind.labels) or any(map(_is_alarm, kind.words))


@lru_cache(maxsize=1 << 14)
def _is_alarm(word: str) -> bool:
    return _tells(word) and alarm(word) >= TROUBLE


def _join(kinds: Sequence[Kind], words: tuple[str, ...]) -> Kind:
    """One kind of several: where the words say ANY, theirs become values."""
    if len(kinds) == 1:
        return kinds[0]
    first = kinds[0]
    continues = all(kind.continues for kind in kinds)
    joined = Kind(words, level=first.level, standing=first.standing, continues=continues)
    open_places = [place for place, word in enumerate(words) if word == ANY]
    for kind in kinds:
        joined.rows.extend(kind.rows)
        for label, count in kind.labels.items():
            joined.labels[label] = joined.labels.get(label, 0) + count
        for place in open_places:
            known = joined.values.setdefault(place, {})
            seen = kind.values.get(place) or {kind.words[place]: kind.count}
            for word, count in seen.items():
                known[word] = known.get(word, 0) + count
    joined.rows.sort()
    return joined
