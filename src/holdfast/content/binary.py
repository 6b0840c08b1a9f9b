"""Binary content that arrived as text: data URLs, bytes decoded with replacement characters, escaped bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from holdfast.kernel.ports import Room, Shrunk
from holdfast.text.fit import clip, fill, fits
from holdfast.text.opaque import LEAST, describe, media_type_of
from holdfast.text.question import Question

from .lossy import MOST, Lossy, Read
from .shares import sampled

_SAMPLE = 8_000  # characters from the beginning that tell what escaped bytes are
_STRANGE = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")  # colour codes start with \x1b
_CONTROLS = bytes((*range(9), *range(14, 27), *range(28, 32), 127))
_STRANGE_SHARE = 0.08  # of the characters: most of a binary file is in no text
_ESCAPED = re.compile(r"\\x[0-9a-fA-F]{2}")  # bytes as Python and C write them
_ESCAPED_SHARE = 0.3  # of the characters
_DATA_URL = re.compile(r"\s{0,8}data:[\w.+-]{1,60}/[\w.+-]{1,80}[;,]")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|([rnt0]))")
_CONTROL = {"r": "\r", "n": "\n", "t": "\t", "0": "\0"}
_LITERAL = re.compile(r"\s{0,8}b?[\"']")
_READABLE = re.compile(r"[A-Za-z0-9][ -~]{7,160}")  # letters beyond ASCII are as often bytes taken for letters
_WORD = re.compile(r"(?<![^\W\d_])(?:[A-Z]?[a-z]{4,40}|[A-Z]{5,40})(?![^\W\d_])")
_VOWEL = re.compile(r"[aeiouAEIOU]")
_WORDY_SHARE = 0.35  # of the characters of what is readable stand in words
_MOST_READABLE = 5_000  # readable parts that are looked at
_MOST_SHOWN = 40


class Binary(Lossy, Read):
    """Bytes, whatever they are: only their type, their size and the words in them say anything to a reader."""

    name = "binary"

    def fit(self, text: str) -> float:
        """All of one data URL; else by the control and replacement characters that run all through it."""
        if _DATA_URL.match(text) and len(text) >= LEAST and len(text.split(maxsplit=2)) == 1:
            return 1.0
        sample = sampled(text)
        escaped = 4 * len(_ESCAPED.findall(sample)) if "\\x" in sample else 0
        share = max(_strange(sample) / _STRANGE_SHARE, escaped / _ESCAPED_SHARE) / max(1, len(sample))
        return min(1.0, MOST * share)

    def shrink(self, text: str, room: Room) -> Shrunk:
        """``[binary: image/png, 48,213 bytes]``, and as many of its readable parts as there is room for."""
        if fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        notice = f"[binary: {_described(text)}]"
        parts = _readable(text, Question.of(room.question))
        order = range(len(parts))

        def written(chosen: Sequence[int]) -> str:
            return "\n".join([notice, "readable parts:", *(parts[place] for place in chosen)])

        shown = fill(order, [len(part) for part in parts], written, room.tokens, room.count)
        return Shrunk(shown or clip(notice, room.tokens, room.count, mark="…"), self.name, "all bytes")


def _strange(sample: str) -> int:
    if sample.isascii():  # counted in a fraction of the time
        return len(sample) - len(sample.encode().translate(None, _CONTROLS))
    return len(_STRANGE.findall(sample))


def _described(text: str) -> str:
    if _DATA_URL.match(text):
        return describe(text.strip())
    escapes = len(_ESCAPED.findall(text))
    if escapes * 4 > _ESCAPED_SHARE * len(text):
        head = _ESCAPE.sub(_unescaped, text[_start(text) : _SAMPLE])
        return f"{media_type_of(head) or 'data'}, about {len(text) - 3 * escapes:,} bytes, escaped"
    return f"{media_type_of(text) or 'data'}, about {len(text):,} bytes"


def _start(text: str) -> int:
    literal = _LITERAL.match(text)
    return literal.end() if literal else 0


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _CONTROL[escape[2]]


def _readable(text: str, question: Question) -> list[str]:
    """The parts that have words in them, those that the question asks for first; each once."""
    if _DATA_URL.match(text):
        return []
    found = (part.group().strip() for part in islice(_READABLE.finditer(text), _MOST_READABLE))
    parts = list(dict.fromkeys(part for part in found if _says_something(part)))
    scores = question.scores(parts)
    best_first = sorted(range(len(parts)), key=lambda place: (-scores[place], place))
    return [parts[place] for place in best_first[:_MOST_SHOWN]]


def _says_something(part: str) -> bool:
    worded = sum(len(word) for word in _WORD.findall(part) if _VOWEL.search(word))
    return worded >= _WORDY_SHARE * len(part) and not _ESCAPED.search(part)
