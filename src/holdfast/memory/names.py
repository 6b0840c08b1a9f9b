"""The names in a text: runs of capitalised words that are no mere beginnings of sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from holdfast.text.sentences import sentences
from holdfast.text.words import STOP_WORDS, words

from .pleasantries import COURTESY
from .verbs import is_verb

_WORD = re.compile(r"[^\W\d_][\w'’&-]*")
_MOST_WORDS = 8  # of one name: a longer run of capitals is shouting
_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it is written, and where it starts."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class _Run:
    words: tuple[re.Match[str], ...]
    opens: bool
    """It stands at the beginning of a sentence."""
    follows: str
    """The word behind it."""


def names(text: str) -> list[Name]:
    """Every name in the order of the text, with repeats.

    The first word of a sentence counts where it is a name elsewhere, has a second name behind it, speaks or acts.
    """
    runs = list(_runs(text))
    certain = {_plain(word.group()) for run in runs for word in run.words[1 if run.opens else 0 :]}
    found: list[Name] = []
    for run in runs:
        kept = list(run.words)
        while kept and _is_common(kept[0].group()):
            kept.pop(0)
        if not kept:
            continue
        alone = run.opens and len(kept) == len(run.words) == 1
        if not alone or _plain(kept[0].group()) in certain or _acts(text, kept[0], run.follows):
            start, end = kept[0].start(), kept[-1].end()
            found.append(Name(_POSSESSIVE.sub("", text[start:end]), start))
    return found


def _acts(text: str, word: re.Match[str], follows: str) -> bool:
    if text[word.end() : word.end() + 1] == ":" or _POSSESSIVE.search(word.group()):
        return True
    return is_verb(follows) and not is_verb(word.group().lower())


def _runs(text: str) -> Iterator[_Run]:
    start = 0
    for sentence in sentences(text):
        matches = list(_WORD.finditer(text, start, start + len(sentence)))
        run: list[re.Match[str]] = []
        for match in matches:
            if run and (len(run) == _MOST_WORDS or not _joined(text, run[-1], match)):
                yield _Run(tuple(run), run[0] is matches[0], match.group())
                run = []
            if match.group()[0].isupper() and not _is_pronoun(match.group()):
                run.append(match)
        if run:
            yield _Run(tuple(run), run[0] is matches[0], "")
        start += len(sentence)


def _joined(text: str, before: re.Match[str], after: re.Match[str]) -> bool:
    return text[before.end() : after.start()] in {" ", ". "} and after.group()[0].isupper()


def _is_pronoun(word: str) -> bool:
    return word[0] == "I" and (len(word) == 1 or word[1] in "'’")


def _is_common(word: str) -> bool:
    plain = _plain(word)
    return plain in STOP_WORDS or plain in COURTESY


@lru_cache(maxsize=1 << 12)
def _plain(word: str) -> str:
    found = words(word)
    return found[0] if found else ""
