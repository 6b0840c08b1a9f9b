"""How a kind of line is written: a real line of it, or its words with the values shortened to ``…``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from holdfast.text.states import written

from .merge import MASK, Kind
from .mine import MORE, Miner

_MOST_CHOICES = 12  # words that may stand at one place and still be listed, if the line is the same elsewhere
_FEW_CHOICES = 4  # or else
_LONGEST_CHOICES = 90  # characters of such a list
_LONGEST_VALUE = 48  # characters of a value in a real line
_LONGEST_MESSAGE = 400
_WORTH = 4  # characters that the short form of a value must save where only one line shows it

_SEPARATOR = re.compile(r"[/\\]")
_JOINT = re.compile(r"[^\w…]")
_MORE_AND_MORE = re.compile(rf"{MORE}(?: {MORE})+")


class Wording:
    """The words of one kind as they stand in up to three of its lines."""

    def __init__(self, kind: Kind, miner: Miner) -> None:
        self._kind, self._miner = kind, miner
        self._first = miner.words(kind.rows[0])
        self._others: list[list[str]] = []
        if kind.count > 1 and any(MASK in word for word in kind.words):
            self._others = [miner.words(row) for row in {kind.rows[kind.count // 2], kind.rows[-1]}]
        most = _FEW_CHOICES if len(kind.values) > 1 else _MOST_CHOICES
        self._choices = {at: listed for at, seen in kind.values.items() if (listed := _choices(list(seen), most))}

    def full(self) -> str:
        """A real line of the kind, its longest values shortened, with the words that differ side by side."""
        return _message(self._choices.get(at) or _real(word) for at, word in enumerate(self._first))

    def short(self) -> str:
        """The words that make the kind, ``…`` for its values."""
        return _message(self._terse(at, word) for at, word in enumerate(self._first))

    def _terse(self, place: int, word: str) -> str:
        if place in self._kind.values:
            return self._choices.get(place) or _last_part(_shared(list(self._kind.values[place])))
        masked = self._kind.words[place]
        if MASK not in masked:
            return word
        masked = _last_part(_shown(masked, word))
        if self._kind.count == 1:
            return masked if len(word) - len(masked) >= _WORTH else word
        return masked if self._differs(place, word) else word

    def _differs(self, place: int, word: str) -> bool:
        """Whether some line of the kind has another word there; all are asked where three agree."""
        if any(words[place : place + 1] != [word] for words in self._others):
            return True
        lines = self._miner.lines
        return any(word not in lines[row] for row in self._kind.rows)


def _shown(masked: str, word: str) -> str:
    """A masked word with ``…`` for its values; that one is hexadecimal is told."""
    if "0x" in word:
        masked = masked.replace(f"0x{MASK}", f"\0x{MORE}")
    return written(masked.replace(MASK, MORE)).replace("\0", "0")


def _real(word: str) -> str:
    if len(word) <= _LONGEST_VALUE or " " in word:
        return word
    word = _last_part(word)
    return word if len(word) <= _LONGEST_VALUE else word[:_LONGEST_VALUE] + MORE


def _choices(seen: Sequence[str], most: int) -> str:
    """The few words that stand at one place, side by side; nothing when they are many or mere values."""
    if not 1 < len(seen) <= most or sum(MASK in word for word in seen) > len(seen) // 2:
        return ""
    listed = "|".join(dict.fromkeys(written(word.replace(MASK, MORE)) for word in seen))
    return listed if len(listed) <= _LONGEST_CHOICES else ""


def _message(words: Iterable[str]) -> str:
    message = _MORE_AND_MORE.sub(MORE, " ".join(words))
    return message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + MORE


def _shared(words: Sequence[str]) -> str:
    """What masked words begin and end with, as far as whole names go, and ``…`` between."""
    start = shared_start(words)
    joints = [found.end() for found in _JOINT.finditer(start)]
    start = start[: joints[-1] if joints else 0]
    end = shared_start([word[::-1] for word in words])[::-1]
    joint = _JOINT.search(end)
    end = end[joint.start() :] if joint else ""
    overlap = len(start) + len(end) - min(map(len, words))
    if overlap > 0:
        start = start[: len(start) - overlap] if len(start) > overlap else ""
    return written(f"{start}{MORE}{end}".replace(MASK, MORE))


def shared_start(texts: Sequence[str]) -> str:
    """What all of the texts begin with."""
    low, high = min(texts), max(texts)
    return next((low[:at] for at, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), low)


def _last_part(path: str) -> str:
    """A path as its first and its last part; any other word as it is."""
    parts = _SEPARATOR.split(path)
    if len(parts) <= 3:
        return path
    return f"{parts[0]}{path[len(parts[0])]}{MORE}{path[-len(parts[-1]) - 1 :]}"
