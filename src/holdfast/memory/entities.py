"""The entities of a text, as it spells them, and the relations between them."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, dropwhile, pairwise
from math import fsum
from typing import NamedTuple

from holdfast.content.lossy import sampled
from holdfast.kernel.forks import cached_property
from holdfast.text.fit import Count, choose
from holdfast.text.identifiers import find
from holdfast.text.memo import Memo
from holdfast.text.pieces import shape_of
from holdfast.text.sentences import sentences
from holdfast.text.words import DIGITS, STOP_WORDS, words

MOST_ENTITIES, MOST_RELATIONS = 15, 10
"""The limits of V.24."""

RELATED = "related-to"
"""The relation of two entities in a sentence without a word between them."""

HEAD = re.compile(r"^(?:User|Assistant|System|Call|Result): ", re.MULTILINE)
"""The beginning of a line in a turn's text without names. These words are not names either."""

COURTESY = frozenset(
    """
    absolutely amazing awesome brilliant bye cheers congrats congratulations cool definitely evening
    excellent fine
    glad good goodbye great haha happy hello hey hi hope indeed lovely morning nice night ok okay
    perfect pleasure
    proud right soon sorry sounds super sure sweet thanks true welcome wonderful wow yay yeah yep
    yes
    """.split()
)
"""Words of courtesy: they are not names, and mean nothing by themselves."""

PLACES = 2, 500
"""Samples of a long segment that are read, and the characters of each: as many as name the kind of
a text, and in recorded runs forms keep more names than with 4 of 300.
"""
_NAME = re.compile(  # a word that may be capitalised, or a run of others
    r"[^\W\d_a-z][\w'’&-]*+|[a-z][\w'’&-]*+(?:\W++[a-z][\w'’&-]*+)*+"
)
_NUMBERED = re.compile(r"(?:,? \d{1,9}(?:[.:]\d{1,9})*+(?![\w%])){1,2}")
"""Behind a name: ``Python 3.11``, ``August 31, 2020``."""
_POSSESSIVE = re.compile(r"['’]s?$")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_PAIR = re.compile(r"(?<![\w'’-])([^\W\d_][\w'’-]*+) (?=([^\W\d_][\w'’-]*+))")
LETTERS = re.compile(r"[^\W\d_]{2,}")
SPEAKER = re.compile(r"^([^\W\d_][\w.'’ -]{0,40}): ", re.MULTILINE)
_BEHIND = re.compile(r" ?%|[ -]([^\W\d_][\w'’-]*)")
_COUNTED = frozenset({"number", "amount"})
# words of one name; a longer run of capitalised words is a title or emphasis. Without a limit forms
# name as much
_MOST_WORDS = 8
# words before a number that may say what it is: "the limit of retries is now". With half of this
# and of the last, forms keep .699 of the names instead of .697
_LEADING = 5
# characters of such a word at most; longer ones are paths and identifiers. Half kept .700 of the
# names in cold forms instead of .697, and double as many
_BRIEF = 24
_BEFORE = _LEADING * (_BRIEF + 1)  # characters that such words and the spaces between them have
_STOPS = (",", ";", ".", "!", "?", ")", "|", '"')  # words before these do not belong to a number


Placed = tuple[int, str]
"""Where a name or an identifier starts, and it as the text spells it."""


class Entity(NamedTuple):
    """A ``name``, a ``phrase``, or an identifier such as a ``date``, in a text."""

    text: str
    kind: str
    times: int


class Relation(NamedTuple):
    """Two entities of one sentence, and the word between them."""

    subject: str
    verb: str
    object: str


def _names(text: str, told: Iterable[str]) -> list[Placed]:
    """Every name in the order of the text, with repeats: runs of capitalised words.

    The first word of a sentence counts if it is a name elsewhere in the text, if another
    capitalised word follows, or if it is a possessive or a speaker: ``Maria's``, ``Nora:``. Numbers
    behind a name belong to it.
    """
    runs = list(_runs(text, told))
    certain = {_plain(word.group()) for opens, run in runs for word in run[opens:]}
    found: list[Placed] = []
    for opens, run in runs:
        kept = list(dropwhile(lambda word: _plain(word.group()) in _COMMON, run))
        if not kept:
            continue
        first = kept[0]
        alone = opens and len(kept) == len(run) == 1
        owns = text.startswith(":", first.end()) or _POSSESSIVE.search(first.group())
        if not alone or owns or _plain(first.group()) in certain:
            start, end = first.start(), kept[-1].end()
            numbered = _NUMBERED.match(text, end)
            end = numbered.end() if numbered else end
            found.append((start, _POSSESSIVE.sub("", text[start:end])))
    return found


_COMMON = STOP_WORDS | COURTESY


def telling(text: str) -> list[str]:
    """The meaningful words of the text."""
    return [word for word in words(text) if word not in _COMMON]


def _runs(text: str, told: Iterable[str]) -> Iterator[tuple[bool, list[re.Match[str]]]]:
    """Runs of capitalised words, and whether each begins one of the sentences ``told``."""
    start = 0
    for sentence in told:
        run: list[re.Match[str]] = []
        opens = is_first = True
        for match in _NAME.finditer(text, start, start + len(sentence)):
            word = match.group()
            capital = word[0].isupper() and not (word[0] == "I" and word[1:2] in ("", "'", "’"))
            joined = capital and run and text[run[-1].end() : match.start()] in (" ", ". ")
            if run and (not joined or len(run) == _MOST_WORDS):
                yield opens, run
                run = []
            if capital:
                opens = opens if run else is_first
                run.append(match)
            is_first = False
        if run:
            yield opens, run
        start += len(sentence)


@lru_cache(maxsize=1 << 12)
def _plain(word: str) -> str:
    return next(iter(words(word)), "")


def entities(text: str, most: int | None = MOST_ENTITIES) -> list[Entity]:
    """The entities of the text: names, then identifiers, then repeated phrases.

    Within each kind the most frequent come first; at most ``most`` in all.
    """
    read = _read(text)
    return [*read.entities, *read.phrases][:most]


def glimpsed(text: str) -> str:
    """The part of a segment in which entities are looked for: all, or lines from a few places."""
    return sampled(text, *PLACES)


def exact(text: str) -> frozenset[str]:
    """The identifiers of the text, without bare numbers."""
    return _read(text).exact


def relations(text: str) -> list[Relation]:
    """Pairs of neighbouring entities of a sentence, with the first meaningful word between them."""
    read = _read(text)
    ends = read.ends
    found: dict[Relation, None] = {}
    for (start, subject), (at, other) in pairwise(read.places):
        end = start + len(subject)
        together = bisect_right(ends, start) == bisect_right(ends, at)
        if together and subject != other:
            between = _WORD.findall(read.said[end:at])
            verb = next((word for word in between if word.lower() not in STOP_WORDS), RELATED)
            found.setdefault(Relation(subject, verb, other))
    return list(found)[:MOST_RELATIONS]


def importance(
    found: Iterable[str], context: Iterable[str], everywhere: Mapping[str, float], beta: float
) -> float:
    """The importance of entities, by the context's entities and their frequency in all texts.

    V.16: beta * overlap / |E| + (1 - beta) * the sum of the global importance of the shared ones.
    """
    own = set(found)
    shared = own.intersection(context)
    known = fsum(everywhere.get(one, 0.0) for one in shared)
    return beta * len(shared) / max(1, len(own)) + (1 - beta) * known


def frequency(texts: Sequence[Iterable[str]]) -> dict[str, float]:
    """The global importance of each entity: the share of the texts that name it."""
    holders = Counter(entity for named in texts for entity in set(named))
    return {entity: times / len(texts) for entity, times in holders.items()}


@dataclass(frozen=True)
class _Read:
    """A text and its entities, cached by ``_read``."""

    said: str
    ends: tuple[int, ...]
    """Where its sentences end."""
    entities: tuple[Entity, ...]
    exact: frozenset[str]
    places: tuple[Placed, ...]
    """The names, and the identifiers outside of names, in order."""

    @cached_property
    def phrases(self) -> list[Entity]:
        """Pairs of meaningful words that come more than once, the most frequent first."""
        return [
            Entity(" ".join(pair), "phrase", often)
            for pair, often in Counter[tuple[str, str]](_PAIR.findall(self.said)).most_common()
            if often > 1 and all(word.islower() and word not in _COMMON for word in pair)
        ]


@Memo
def _read(text: str) -> _Read:
    """Cached, since segments are scored again in every run, and their texts stay the same."""
    # without who says it, and with its escaped line breaks and quotes as such
    said = HEAD.sub("", text.replace("\\n", "\n").replace('\\"', '"'))
    told = sentences(said)
    named, found = _names(said, told), find(said)
    starts = [start for start, _ in named]
    ends = [0, *(start + len(name) for start, name in named)]
    outside = [one for one in found if one.start >= ends[bisect_right(starts, one.start)]]
    spoken = Counter(name for _, name in named)
    exact = Counter((one.text, one.kind) for one in outside if one.text not in spoken)
    return _Read(
        said,
        tuple(accumulate(map(len, told))),
        (
            *(Entity(name, "name", often) for name, often in spoken.most_common()),
            *(Entity(*one, often) for one, often in exact.most_common()),
        ),
        frozenset(one.text for one in found if not one.text.isdigit()),
        tuple(sorted([*named, *((one.start, one.text) for one in outside)])),
    )


def named_in(text: str) -> dict[str, str]:
    """The names and identifiers of the text, each with the words by which a form lists it.

    A number and the word that it counts are one name: its digits elsewhere say something else.
    Other numbers are listed with the words before them. Without such words an amount with a unit is
    listed alone, and a bare number is left out. What is mostly signs is left out too, and so are
    fields, and speakers that are not mentioned.
    """
    read = _read(text)
    starts = defaultdict[str, list[int]](list)
    for start, one in read.places:
        starts[one].append(start)
    spoken = Counter(SPEAKER.findall(read.said))
    found: dict[str, str] = {}
    for entity in read.entities:
        name = entity.text
        if spoken[name] >= entity.times or 2 * sum(map(str.isalnum, name)) < len(name):
            continue
        stands = starts.get(name, [len(read.said)])
        if entity.kind == "quoted" and read.said.startswith(":", stands[0] + len(name) + 1):
            continue
        if entity.kind not in _COUNTED or name not in starts or LETTERS.search(name):
            found[name] = name
            continue
        for start in stands:
            if label := _with_context(read.said, start, name):
                found.setdefault(label if label.startswith(name) else name, label)
            elif entity.kind == "amount" and ":" not in name:
                found[name] = name
    told = "\n".join(found.values())
    return {name: label for name, label in found.items() if label != name or told.count(name) == 1}


_CODES = frozenset({"path", "id", "compound", "camel"})
"""Forms of things that say something without their surroundings; a number of a table does not."""


def codes(found: Iterable[str]) -> dict[str, str]:
    """Of the things in an output, those that a form may list; what has no letter is a number."""
    told = (thing for thing in found if shape_of(thing) in _CODES)
    return {thing: thing for thing in told if thing.lower() != thing.upper()}


def with_names(form: str, named: Mapping[str, str]) -> str:
    """The form, followed by a list of the names that it lacks."""
    listed = ", ".join({label: None for name, label in named.items() if name not in form})
    if not listed:
        return form
    return f"{form}\nAlso named: {listed}" if form else f"Named: {listed}"


def add_names(
    form: str, named: Mapping[str, str], room: int, count: Count, first: Collection[str] = ()
) -> str:
    """The form, followed by as many of its missing names as fit, the shortest first.

    The names in ``first`` come before shorter ones. Of names that differ in their numbers alone, a
    second one comes after the first of each other kind.
    """
    missing = [name for name in named if name not in form]
    alike = Counter[str]()
    ranks: list[tuple[bool, int, int]] = []
    for name in missing:
        label = named[name]
        shape = DIGITS.sub("0", label)
        ranks.append((name not in first, alike[shape], len(label)))
        alike[shape] += 1
    order = sorted(range(len(missing)), key=ranks.__getitem__)

    def written(chosen: Sequence[int]) -> str:
        return with_names(form, {missing[n]: named[missing[n]] for n in chosen})

    sizes = [len(named[name]) for name in missing]
    return written(choose(order, sizes, written, room, count))


def _with_context(said: str, start: int, number: str) -> str:
    """The number with the word after it, else with the words before it; empty without any."""
    behind = _BEHIND.match(said, start + len(number))
    if behind and behind[1] not in STOP_WORDS:
        return said[start : behind.end()]
    before = said[max(0, start - _BEFORE) : start].rpartition("\n")[2].split(" ")[-_LEADING:]
    for at in range(len(before) - 1, -1, -1):
        word = before[at].strip("`(:=$€£#~")
        if before[at].endswith(_STOPS) or len(word) > _BRIEF:
            break
        if LETTERS.search(word) and word not in STOP_WORDS:
            return " ".join(before[at:]) + number
    return ""
