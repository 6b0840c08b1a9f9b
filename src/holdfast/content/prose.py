"""Prose: sentences, or lines; also the kind of any text that no other kind fits."""

from __future__ import annotations

from holdfast.selection.pieces import LONGEST, Piece, Reading, clauses
from holdfast.text.sentences import is_of_lines, sentences

from .lossy import LossyKind, by_lines


class Prose(LossyKind):
    """Written language, and any text that no other kind fits."""

    name = "prose"

    def read(self, text: str) -> Reading:
        """Short neighbouring sentences together, long ones by clause; lines if it has lines."""
        if not text.strip():
            return Reading([Piece(f"[{len(text):,} characters of white space]", 0)], 1)
        if is_of_lines(text):
            return by_lines(text)
        found = [sentence.strip() for sentence in sentences(text)]
        pieces: list[Piece] = []
        for at, sentence in enumerate(found):
            last = pieces[-1] if pieces else None
            if last is not None and _bytes(last.text) + _bytes(sentence) <= LONGEST:
                pieces[-1] = last._replace(text=f"{last.text} {sentence}", units=last.units + 1)
                continue
            *first, end = clauses(sentence) or [""]
            pieces += [Piece(part, at, 0) for part in first]
            pieces.append(Piece(end, at))
        return Reading(pieces, len(found), "sentence")


def _bytes(text: str) -> int:
    """The length of a text of any script, as tokens count it."""
    return len(text.encode("utf-8", "replace"))
