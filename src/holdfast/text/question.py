"""A question as weighted terms, and which of them each of many texts has."""

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from .memo import Memo
from .words import READ, STOP_WORDS, has_unspaced, lowered, stem, words

_MARKS = ("?", "？", "؟")
MOST_TERMS = 48  # the heaviest of a long question; each costs about 40 ns a line

PHRASE, IDENTIFIER, NAME, WORD, PIECE = 6.0, 4.0, 1.6, 1.0, 0.5
"""Weights of a quoted phrase, a machine-made name or long number, a capitalised word, a plain word,
and a word of an identifier. Their order matters, not their exact values: closer together and
farther apart, as many facts of real texts are kept."""

_SHORT_NUMBER = 2  # digits of a number that is too frequent in times, dates and ids
_MONTHS: Sequence[str] = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    "|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_DAY_OF_MONTH = re.compile(
    rf"(?<![\w.:/-])(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})"
    rf"|(?P<named>{_MONTH})\.? (?P<numbered>\d{{1,2}})(?:st|nd|rd|th)?)(?![\w:/-]|\.\d)",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    # within a line
    r"\"[^\"\n]{2,200}\"|`[^`\n]{2,200}`|(?<!\w)'[^'\n]{2,200}'(?!\w)|“[^”\n]{2,200}”"
)
_EDGES = ".,;:!?()[]{}<>\"'`“”‘’«»…*|¿¡。、！？；："
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_CAMEL_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NOT_AFTER = r"(?<!\w)(?<!\d[.:/+-])"
_NOT_BEFORE = r"(?!\w|[.:/+-]\d|,\d{3}(?![\w,]))"  # other commas separate the cells of a row
_JOINED = re.compile(r"\w[./\\:@#=+~-]\w|::|->")


def asks(text: str) -> bool:
    """Whether the text ends with a question."""
    return text.rstrip().endswith(_MARKS)


class Term(NamedTuple):
    """A term to search: ``needle`` in lower case; a ``plain`` word also matches its other forms."""

    needle: str
    weight: float
    plain: bool = False


@lru_cache(maxsize=256)
def terms_of(question: str) -> Sequence[Term]:
    """The heaviest terms of a question; equal questions give the same object."""
    heaviest: dict[tuple[str, bool], Term] = {}
    read = question if len(question) <= 2 * READ else f"{question[:READ]} {question[-READ:]}"
    for term in _terms(read):
        key = (term.needle, term.plain)
        heaviest[key] = max(term, heaviest.get(key, term))
    # of equal weights, those named first are kept
    return tuple(sorted(heaviest.values(), key=lambda term: -term.weight)[:MOST_TERMS])


def answers_to(
    question: str, texts: Sequence[str], parents: Sequence[int] = ()
) -> list[dict[Term, float]]:
    """The terms of the question in each text, with less weight the more texts have the term.

    Terms are whole words, without case: ``error`` matches ``errors`` and ``lastError``, but not
    ``terror``.
    ``parents`` holds the index of an earlier text, or -1, for each text, whose terms count for it
    too.
    """
    found: list[dict[Term, float]] = [{} for _ in texts]
    lows = list(map(lowered, texts))
    together = "\n".join(lows)  # most terms do not occur at all; no needle spans a line
    ends = list(accumulate([len(low) + 1 for low in lows]))
    below = [(place, above) for place, above in enumerate(parents) if above >= 0]
    for term in terms_of(question):
        held = set[int]()
        whole = None if term.plain else _whole(term.needle)
        at = together.find(term.needle)
        while at >= 0:
            place = bisect_right(ends, at)
            low = lows[place]
            start = at - ends[place] + len(low) + 1
            if whole.search(low) if whole else _has_word(term.needle, texts[place], low, start):
                held.add(place)
            at = together.find(term.needle, ends[place])
        if not held:
            continue
        for place, above in below:
            if above in held:
                held.add(place)
        rarity = math.log((len(texts) + 1) / len(held)) / math.log(len(texts) + 1)
        worth = term.weight * rarity
        for place in held:
            found[place][term] = worth
    return found


def scores_of(question: str, texts: Sequence[str], parents: Sequence[int] = ()) -> list[float]:
    """The score of each text: the summed weights of the terms that it has of the question."""
    return [sum(found.values(), 0.0) for found in answers_to(question, texts, parents)]


def _terms(text: str) -> Iterator[Term]:
    for quoted in _QUOTED.finditer(text):
        phrase = lowered(quoted.group()[1:-1].strip())
        if phrase and phrase not in STOP_WORDS:
            yield Term(phrase, PHRASE)
    for date in _DAY_OF_MONTH.finditer(text):
        # the usual ways of writing it; the number of the day alone says nothing
        day, month = int(date["day"] or date["numbered"]), (date["month"] or date["named"]).lower()
        yield Term(f"{_MONTHS.index(month[:3]) + 1:02}-{day:02}", WORD)
        for name in dict.fromkeys((month, month[:3])):
            yield Term(f"{day} {name}", WORD)
            yield Term(f"{name} {day}", WORD)
    opens_sentence = True
    for raw in _DAY_OF_MONTH.sub(lambda date: date["month"] or date["named"], text).split():
        token = raw.strip(_EDGES)
        if token:
            yield from _terms_of_token(token, opens_sentence=opens_sentence)
        opens_sentence = raw[-1] in ".!?:。！？"


def _terms_of_token(token: str, *, opens_sentence: bool) -> Iterator[Term]:
    if _is_identifier(token):
        short = token.isdigit() and len(token) <= _SHORT_NUMBER
        yield Term(lowered(token), WORD if short else IDENTIFIER)
        weight = PIECE
        last = re.split(r"[/\\]", token)[-1]
        if last != token and last:
            yield Term(lowered(last), IDENTIFIER / 2)
        spoken = words_of_name(token)
    else:
        weight = NAME if token[0].isupper() and not opens_sentence else WORD
        spoken = words(token)
    for word in spoken:
        if word in STOP_WORDS or (len(word) == 1 and not has_unspaced(word) and weight == PIECE):
            continue
        if word.isdigit():
            yield Term(word, weight)
        elif len(word) > 1 or has_unspaced(word):
            yield Term(stem(word), weight, plain=True)


def words_of_name(name: str) -> list[str]:
    """The words of an identifier, also of one in CamelCase."""
    return words(_CAMEL_PIECE.sub(r" \g<0> ", name))


def _is_identifier(token: str) -> bool:
    """Whether the token looks machine-made: digits, joints, CamelCase or only capitals."""
    if token.isalpha():
        capitals = token.isupper() and token.isascii() and len(token) > 2
        return capitals or (not token.islower() and _CAMEL.search(token) is not None)
    if (
        any(map(str.isdigit, token))
        or "_" in token.strip("_")
        or _CAMEL.search(token)
        or token.startswith(("--", "/", "#", "$", "@"))
    ):
        return True
    joint = _JOINED.search(token)
    return joint is not None and joint.group()[1:2] != "-"


def _has_word(needle: str, text: str, low: str, at: int) -> bool:
    """Whether the needle, which stands in ``low`` at this place, is the stem of a word from there.

    Only the words with the needle are read. ``low`` is the text in lower case.
    """
    size = len(low)
    if size != len(text) or not needle.isascii():
        return needle in _stems[text]
    while at >= 0:
        start, end = at, at + len(needle)
        while start and low[start - 1].isalnum():
            start -= 1
        while end < size and low[end].isalnum():
            end += 1
        if needle in _stems[text[start:end]]:
            return True
        at = low.find(needle, end)
    return False


@Memo  # since a growing conversation is asked at each call
def _stems(text: str) -> frozenset[str]:
    """The stems of all words of a text, and of those within its identifiers."""
    return frozenset(map(stem, {*words(text), *map(str.lower, _CAMEL_PIECE.findall(text))}))


@lru_cache(maxsize=1 << 10)
def _whole(needle: str) -> re.Pattern[str]:
    """The pattern of the needle as a whole word.

    A letter may stand beside a digit, but a short number must be no part of a time, a date or a
    longer number.
    """
    if has_unspaced(needle[0]):
        return re.compile(re.escape(needle))
    if len(needle) <= _SHORT_NUMBER and needle.isdecimal():
        return re.compile(rf"{_NOT_AFTER}{needle}{_NOT_BEFORE}")
    before, after = _of_a_kind(needle[0]), _of_a_kind(needle[-1])
    return re.compile(rf"(?<!{before}){re.escape(needle)}(?!{after})")


def _of_a_kind(character: str) -> str:
    """A pattern of the characters that continue a number or a word."""
    return r"\d" if character.isdigit() else r"[^\W\d_]" if character.isalpha() else r"[^\s\S]"
