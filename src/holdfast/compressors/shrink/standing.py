"""What stands where in the conversation: a thing that is said elsewhere need not be said here again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_THING = re.compile(r"\w+(?:[-.:/@#]\w+)*")


class Standing:
    """In how many texts each word or identifier stands now; a text that shrinks takes back what it lost."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._count = Counter(thing for text in texts for thing in set(_THING.findall(text)))

    def elsewhere(self, thing: str) -> bool:
        """Whether the thing, which stands in the text at hand, stands in another one too."""
        return self._count[thing] > 1

    def replaced(self, old: str, new: str) -> None:
        """One text now says something else."""
        self._count.subtract(set(_THING.findall(old)))
        self._count.update(set(_THING.findall(new)))
