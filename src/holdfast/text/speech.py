"""Whether a line reads as what a person says, in any language that writes words with letters."""

from __future__ import annotations

import re

_SPOKEN = re.compile(r"[^\W\d_]{2,}(?:['’][a-z]+)?[,.!?;:]?$")
_SENTENCE = 0.6  # share of a line's tokens that are words, from which it reads as a sentence


def reads_as_words(line: str) -> bool:
    """Whether most of a line's tokens are plain words."""
    tokens = line.split()
    spoken = sum(1 for token in tokens if _SPOKEN.match(token))
    return spoken >= _SENTENCE * len(tokens)
