"""What a form should name, and how: a name as it is written, a number with the words beside it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping

from holdfast.text.words import STOP_WORDS

from .entities import entities, places
from .verbs import is_verb

_LETTERS = re.compile(r"[^\W\d_]{2,}")
_SPEAKER = re.compile(r"^([^\W\d_][\w.'’ -]{0,40}): ", re.MULTILINE)
_COUNTED = frozenset({"number", "version", "time", "quantity"})
_BEHIND = re.compile(r"( ?%|[ -][^\W\d_][\w'’-]*)( [^\W\d_][\w'’-]*)?")
_STOPS = (",", ";", ".", "!", "?", ")", "|", '"')  # behind which other words begin
_MOST_WORDS = 5  # that lead to a number, the sign before it one of them
_AROUND = 60  # characters
_BRIEF = 24  # characters of a word that tells what a number is


def named_in(text: str) -> dict[str, str]:
    """The names of the text and what is exact in it, each as a form tells it.

    A number by itself says nothing: it is told with the word that it counts or that leads to it, and where there
    is none it is left out. So is what has no letter and no digit, and who speaks and is not spoken of.
    """
    said, starts = places(text)
    spoken = Counter(_SPEAKER.findall(said))
    found: dict[str, str] = {}
    for entity in entities(text, None):
        name = entity.text
        if entity.kind == "phrase" or not any(map(str.isalnum, name)) or spoken[name] >= entity.times:
            continue
        bare = entity.kind in _COUNTED and not _LETTERS.search(name)
        label = _labelled(said, starts[name], name) if bare and name in starts else name
        if label:
            found[name] = label
    told = "\n".join(found.values())
    return {name: label for name, label in found.items() if label != name or told.count(name) == 1}


def with_names(form: str, named: Mapping[str, str]) -> str:
    """The form, and behind it what it does not name."""
    missing = list(dict.fromkeys(label for name, label in named.items() if name not in form))
    if not missing:
        return form
    return f"{form}\nAlso named: {', '.join(missing)}" if form else f"Named: {', '.join(missing)}"


def completed(form: str, named: Mapping[str, str], room: int, count: Callable[[str], int]) -> str:
    """The form, and behind it as much of what it does not name as there is room for, the shortest first."""
    missing = [(name, label) for name, label in named.items() if name not in form]
    places = sorted(range(len(missing)), key=lambda place: (len(missing[place][1]), place))

    def written(size: int) -> str:
        return with_names(form, dict(missing[place] for place in sorted(places[:size])))

    fitting = bisect_right(range(len(missing) + 1), room, key=lambda size: count(written(size)))
    return written(max(0, fitting - 1))


def _labelled(said: str, start: int, number: str) -> str:
    """The number with the noun behind it, else with the words that lead to it; empty where there are none."""
    end = start + len(number)
    behind = _BEHIND.match(said, end)
    if behind and _is_noun(behind[1].strip(" -")):
        more = behind[2] or ""
        return said[start : end + len(behind[1])] + (more if more and _is_noun(more.strip()) else "")
    words = said[max(0, start - _AROUND) : start].rpartition("\n")[2].split(" ")[-_MOST_WORDS:]
    for at in range(len(words) - 1, -1, -1):
        word = words[at].strip("`(:=$€£#~")
        if words[at].endswith(_STOPS):
            break
        if _LETTERS.search(word) and len(word) <= _BRIEF and _is_noun(word):
            return " ".join(words[at:]) + number
    return ""


def _is_noun(word: str) -> bool:
    low = word.lower()
    return word == "%" or (low not in STOP_WORDS and not is_verb(low))
