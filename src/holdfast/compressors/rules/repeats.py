"""A sentence that is said again leaves; where it was said first, ``[×N]`` tells how often."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

from holdfast.compressors.rules.prose import overlaps, standing
from holdfast.text.sentences import sentences

_ITEM = re.compile(r"[ \t]*+(?:[-*+•]|#{1,6}|\(?(?:\d{1,3}|[a-z])[.)])[ \t]")
_MARK = re.compile(r"\[×\d{1,9}\]\s?")
_EDGES = ".!?…,;: \t\r\n"
_FEWEST_WORDS = 2
_INITIAL = re.compile(r"(?<!\w)[^\W\d_]\.\s+(?=[A-Z])")
_LONGEST = 400  # characters of a sentence in which a letter before a stop is looked at twice


def without_repeats(text: str) -> str:
    """The text with each sentence once, in the place where it came first.

    Case, white space and the stop at the end make no difference. Items of lists and headings are left alone: the
    same words mean something else under another heading.
    """
    pieces = _pieces(text)
    places = accumulate(map(len, pieces), initial=0)
    spans = standing(text)
    keys = [
        "" if overlaps(spans, at, at + len(piece)) else _key(piece)
        for at, piece in zip(places, pieces, strict=False)
    ]
    times = Counter(key for key in keys if key)
    kept: list[str] = []
    said: set[str] = set()
    for key, piece in zip(keys, pieces, strict=True):
        if key in said:
            continue
        kept.append(_marked(piece, times[key]) if times[key] > 1 else piece)
        if key:
            said.add(key)
    if len(kept) == len(pieces):
        return text
    joined = "".join(kept)
    return joined if text[-1:].isspace() else joined.rstrip()


def _pieces(text: str) -> list[str]:
    """The sentences; "Deploy A. Go." are two where either of them stands elsewhere too, and A is no initial."""
    pieces = sentences(text)
    whole = {_key(piece) for piece in pieces} - {""}
    return [part for piece in pieces for part in (_parted(piece, whole) if len(piece) <= _LONGEST else (piece,))]


def _parted(piece: str, whole: set[str]) -> Iterator[str]:
    start = 0
    for found in _INITIAL.finditer(piece):
        head, tail = _key(piece[start : found.end()]), _key(piece[found.end() :])
        if head in whole or tail in whole or (head and f"{tail}. ".startswith(f"{head}. ")):
            yield piece[start : found.end()]
            start = found.end()
    yield piece[start:]


def _key(piece: str) -> str:
    """What makes two sentences the same; empty for a piece that is to stand as it is."""
    if _ITEM.match(piece):
        return ""
    words = _MARK.sub("", piece).casefold().strip(_EDGES).split()
    return " ".join(words) if len(words) >= _FEWEST_WORDS else ""


def _marked(piece: str, times: int) -> str:
    bare = piece.rstrip()
    return f"{bare} [×{times}]{piece[len(bare) :]}"
