"""What a sentence says of a subject: an exact value, so that a later sentence can be seen to say otherwise.

Read narrowly on purpose: a short subject, one value, no condition, no question. What is not understood states
nothing, and nothing is ever superseded by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import dropwhile
from typing import NamedTuple

from holdfast.text.identifiers import distinct

_MAY = re.compile(r"[\d@/_]|day\b|\b(?:January|February|March|April|June|July|tomorrow|noon)\b|ber\b")
_SPLIT = re.compile(r"(?<=[A-Za-z]):(?=\s)|(?<=\w)\s?=\s?(?=\w)")
_PATH = re.compile(r"[a-z]\w+(?:\.[a-z]\w+)+")
_EDGES = ".,;!?()[]\"'`*“”‘’…"
_MOST_WORDS = 4  # of a subject, and of what limits it
_LONGEST = 240  # characters of a sentence

_IS = frozenset({"is", "are", "was", "be", "becomes", "equals", "="})
_SAYING = _IS | {"to", "use"}
_TURNS = frozenset(
    """
    moved moves changed changes switched pushed postponed rescheduled shifted updated bumped raised lowered
    increased reduced renamed
    """.split()
)
_TURN = frozenset("change move update switch push raise lower increase reduce rename postpone".split())
_ORDERS = _TURN | {"set", "make"}
_CORRECTS = _TURNS | frozenset("actually instead now sorry correction rather oops meant no longer anymore".split())
_BEFORE_VALUE = frozenset(
    "now at on by to in currently actually still just only the due set until about it's".split()
)
_AFTER_VALUE = frozenset("now instead again please not rather from as since because then already anymore".split())
_LIMITS = frozenset("for in on at of with under within when if unless during before after until per".split())
_OPENERS = frozenset(
    "actually no sorry so ok okay please note oops correction well also then and but yes update hi hello".split()
)
_ARTICLES = frozenset(
    {"the", "a", "an", "this", "new", "that", "current", "now", "has", "been", "will", "should", "must"}
)
_OWNERS = frozenset({"my", "our", "your", "his", "her", "their", "its"})
_VAGUE = frozenset("it this that there he she they which what who i we you here one these those all".split())
_BARE = _OWNERS | {"number", "answer", "result", "something", "everything", "nothing", "today", "tomorrow"}
"""Words that name nothing when they stand alone."""

_JOINTS = frozenset({"and", "but", "or", "while", "because", "so", "although"})
_CONDITIONS = frozenset(
    {"if", "when", "whenever", "unless", "whether", "suppose", "would", "could", "might", "maybe"}
)
_DAYS = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday today tomorrow noon midnight
    january february march april june july august september october november december
    """.split()
)


class Statement(NamedTuple):
    """``subject`` has the ``value``, of this kind; empty where only the value is said, to correct another."""

    subject: str
    kind: str
    value: str
    corrects: bool
    """It says itself that something was otherwise before."""

    @property
    def is_specific(self) -> bool:
        """Whether there is hardly another subject of this name.

        It is somebody's own, it has an identifier, or it is a path of names, such as ``server.port``.
        """
        words = self.subject.split()
        if len(words) == 1:
            return _PATH.fullmatch(self.subject) is not None
        return bool(words) and (words[0] in {"my", "our"} or any(map(_has_digit, words)))

    def contradicts(self, older: Statement) -> bool:
        """Whether this says something else than the older one of the same subject, and means to."""
        same = self.subject == older.subject and self.kind == older.kind
        return same and self.value.lower() != older.value.lower() and (self.corrects or self.is_specific)


@lru_cache(maxsize=1 << 13)
def statements(sentence: str) -> tuple[Statement, ...]:
    """What the sentence states, in its order."""
    if not _MAY.search(sentence) or len(sentence) > _LONGEST or sentence.endswith("?"):
        return ()
    words = _SPLIT.sub(" = ", sentence).split()
    said = list(map(_bare, words))
    corrects = not _CORRECTS.isdisjoint(said) or not _TURN.isdisjoint(said[:3])
    if not _CONDITIONS.isdisjoint(said) or not (corrects or not _SAYING.isdisjoint(said)):
        return ()
    return tuple(_found(words, corrects))


def _found(words: Sequence[str], corrects: bool) -> Iterator[Statement]:
    scope = ""
    for whole, is_list in _clauses(words):
        clause = list(dropwhile(lambda word: _bare(word) in _OPENERS, whole))
        low = list(map(_bare, clause))
        if low and low[0] in _LIMITS and not _IS & set(low):
            scope = _named(low)
        elif low and not is_list:
            one = _stated(clause, low, scope, corrects)
            if one is not None:
                yield one


def _clauses(words: Sequence[str]) -> Iterator[tuple[Sequence[str], bool]]:
    """The clauses, and whether the next one only goes on with a list of values."""
    starts = [0]
    for at, word in enumerate(words):
        if (word in _JOINTS and at > starts[-1]) or (word[-1] in ",;.!" and at + 1 < len(words)):
            starts.append(at + 1)
    stops = [*(start - (words[start - 1] in _JOINTS) for start in starts[1:]), len(words)]
    for n, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        listed = n + 1 < len(starts) and words[starts[n + 1] - 1] in {"and", "or"}
        yield words[start:stop], listed and _value(words[starts[n + 1] : stops[n + 1]])[0] != ""


def _stated(clause: Sequence[str], low: Sequence[str], scope: str, corrects: bool) -> Statement | None:
    subject, at = _subject(low)
    if at < 0:
        return None
    while at < len(low) - 1 and low[at] in _BEFORE_VALUE:
        at += 1
    kind, value, end = _value(clause[at:]) if at < len(clause) else ("", "", 0)
    if not value:
        return None
    rest = low[at + end :]
    ends = clause[at + end - 1][-1] in ",;.!)"
    if rest and not ends and rest[0] not in _AFTER_VALUE | _LIMITS:
        kind, rest = f"{kind} {rest[0]}", rest[1:]  # a unit: values of other units are other things
    limit = _named(rest) if rest and rest[0] in _LIMITS else ""
    if limit == "?":
        return None
    name = " ".join(filter(None, (subject, scope, limit)))
    return Statement(name, kind, value, corrects) if subject or corrects else None


def _subject(low: Sequence[str]) -> tuple[str, int]:
    """The subject of a clause and where its value begins; -1 where there is none."""
    if low[0] in _ORDERS and "to" in low[2:]:
        to = low.index("to", 2)
        return _checked(_named(low[1 : low.index("from", 1, to) if "from" in low[1:to] else to]), to + 1)
    if low[0] == "use":
        at = next((n for n in range(1, len(low)) if _value(low[n:])[0]), -1)
        return _checked(_named(low[1:at]), at) if at > 1 else ("", -1)
    for at, word in enumerate(low):
        if word in _TURNS and "to" in low[at:]:
            return _checked(_named(low[:at]), low.index("to", at) + 1)
        if word in _IS and at:
            return _checked(_named(low[:at]), at + 1)
    return ("", 0) if len(low) <= 2 or low[0] in {"it's", "it’s"} else ("", -1)


def _checked(subject: str, at: int) -> tuple[str, int]:
    return ("", -1) if subject in {"", "?"} else (subject, at)


def _named(low: Sequence[str]) -> str:
    """What the words name, without articles; ``?`` where they name nothing certain."""
    name = [word for word in low if word not in _ARTICLES and word]
    vague = len(name) > _MOST_WORDS or not _VAGUE.isdisjoint(name) or (len(name) == 1 and name[0] in _BARE)
    return "?" if vague else " ".join(name)


def _value(words: Sequence[str]) -> tuple[str, str, int]:
    """The kind of the exact value that the words begin with, the value, and how many words it has."""
    if not words:
        return "", "", 0
    bare = words[0].strip(_EDGES)
    after = words[1].strip(_EDGES) if len(words) > 1 and words[0][-1] not in ",;.!" else ""
    if bare.lower() in _DAYS or (bare.isdigit() and after.lower() in _DAYS):
        dated = f"{bare} {after}" if after.lower() in _DAYS or (after.isdigit() and len(after) <= 2) else bare
        return "date", dated, len(dated.split())
    found = distinct(bare)
    if len(found) != 1:
        return "", "", 0
    thing, kind = next(iter(found.items()))
    return ("number" if kind == "quantity" and thing.isdigit() else kind), thing, 1


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _bare(word: str) -> str:
    return word.strip(_EDGES).lower()
