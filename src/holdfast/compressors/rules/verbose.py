"""A text that is very long keeps its first and its last sentence."""

from __future__ import annotations

from holdfast.compressors.rules.prose import overlaps, standing
from holdfast.text.sentences import sentences

# The numbers are those of the llm4s design: tokens are guessed at 3.5 characters, and a text is verbose from
# twice its least of 300 on; one sentence is cut where 400 tokens of 4 characters end.
_CHARACTERS_A_TOKEN = 3.5
_VERBOSE = 600
_LONGEST_SENTENCE = 1_600
_FEWEST_SENTENCES = 4
_OPENING, _CAPPED = " ...[summarized ", "...[content capped for length]"


def shortened(text: str) -> str:
    """First and last sentence of a verbose text, and how many are left out between them.

    A text in which code or a quotation would go stays whole.
    """
    if len(text) / _CHARACTERS_A_TOKEN < _VERBOSE or _OPENING in text or _CAPPED in text:
        return text
    pieces = sentences(text)
    spans = standing(text)
    if len(pieces) == 1:
        cut = text.rfind(" ", 0, _LONGEST_SENTENCE + 1)
        return text if cut <= 0 or overlaps(spans, cut, len(text)) else text[:cut].rstrip() + _CAPPED
    last = len(text) - len(pieces[-1])
    if len(pieces) < _FEWEST_SENTENCES or overlaps(spans, len(pieces[0]), last):
        return text
    return f"{pieces[0].rstrip()}{_OPENING}{len(pieces) - 2} sentences]... {pieces[-1]}"
