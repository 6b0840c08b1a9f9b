"""The values of memory, and the protocols of what it can be built on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class Remembered:
    """One message as memory sees it; ``reading.remembered`` makes it of a message's text.

    ``position`` is its place in the log. ``speaker`` is the name that it gives itself, empty where there is none.
    ``said`` is when, in seconds since 1970 UTC, or None where nobody knows. ``header`` is how many characters at
    the head of the text only say when and by whom: what follows is the ``body``.
    """

    position: int
    role: str
    text: str
    speaker: str = ""
    said: float | None = None
    header: int = 0

    @property
    def body(self) -> str:
        """What is said, without the header."""
        return self.text[self.header :]

    @property
    def told(self) -> str:
        """What is said, and by whom."""
        return f"{self.speaker}: {self.body}" if self.speaker else self.body


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that may answer; ``score`` is from 0 to 1, ``why`` what each factor gave to it, by name."""

    position: int
    score: float
    why: Mapping[str, float] = field(default_factory=dict[str, float], compare=False)


class Excerpt(NamedTuple):
    """What is written of one message: its whole body, or those of its sentences that matter.

    ``day`` is when it was said, as a reader writes it; empty where nobody knows.
    """

    position: int
    name: str
    text: str
    day: str
    whole: bool


class LexicalSource(Protocol):
    """Messages by the words that they hold."""

    def candidates(self, terms: Sequence[str], limit: int) -> Mapping[int, float]:
        """BM25 scores, above 0, of the best messages that hold any of the lower-case words, by position.

        Of a term of several words, such as ``pool size``, all must stand there, side by side if it can tell.
        The source stems the words in its own way; it indexes what is ``told``, without a date at the head.
        """
        ...


class VectorSource(Protocol):
    """Messages by what they mean."""

    def nearest(self, text: str, limit: int) -> Mapping[int, float]:
        """Cosine similarities of the messages that are nearest to the text, by position."""
        ...


class GrowingVectors(VectorSource, Protocol):
    """Vectors in memory, to which messages are added."""

    def add(self, *messages: Remembered) -> None:
        """Take in more messages."""
        ...


class MessageSource(Protocol):
    """The messages themselves."""

    def read(self, positions: Sequence[int]) -> Mapping[int, Remembered]:
        """Those of the positions that there are."""
        ...

    def between(self, first: float, last: float, limit: int) -> Sequence[int]:
        """The positions of at most ``limit`` messages that were said from ``first`` to ``last``, in seconds."""
        ...

    def newest(self, limit: int) -> Sequence[int]:
        """The positions of at most ``limit`` messages, the newest first."""
        ...

    def speakers(self) -> Sequence[str]:
        """The names of those who speak, each once."""
        ...
