"""Messages with speaker and time, and the sources in which they are searched.

A session's source is its store.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from holdfast.text.words import words

from .times import moment


@dataclass(frozen=True, slots=True)
class Remembered:
    """A message for memory; ``remembered`` makes it from a message's text.

    ``position`` is its place in the log. ``speaker`` is the name at its head, or empty. ``said`` is
    its time in seconds since 1970 UTC, or None if it is not known. ``header`` is the number of
    characters of the date and the name at its head.
    """

    position: int
    role: str
    text: str
    speaker: str = ""
    said: float | None = None
    header: int = 0

    @property
    def body(self) -> str:
        """The text without the header."""
        return self.text[self.header :]

    @property
    def told(self) -> str:
        """The text without the date, after the speaker's name."""
        return f"{self.speaker}: {self.body}" if self.speaker else self.body


_DATED = re.compile(
    r"[ \t]{0,4}(?:[(\[](?P<when>[^()\[\]\n]{6,60})[)\]]|(?P<iso>\d{4}-\d\d-\d\d(?:[T "
    r"][\d:.,Z+-]{5,20})?))"
    r"[ \t:,|-]{1,4}"
)
_SPEAKER = re.compile(r"(?P<name>[^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){0,2}): {1,4}")


def remembered(
    position: int, role: str, text: str, *, name: str = "", said: float | None = None
) -> Remembered:
    """Read a message: ``said`` is used if its head has no date, and ``name`` says who speaks.

    A head is a date in brackets or in ISO 8601, then a capitalised name and a colon. Behind another
    ``name``, that is a word such as "Deadline". A tool's output has no head, and dates on several
    lines are those of a log.
    """
    if role == "tool":
        return Remembered(position, role, text, name, said)
    header = 0
    dated = _DATED.match(text)
    if dated is not None and not _DATED.match(text, text.find("\n") + 1 or len(text)):
        stated = moment(dated["when"] or dated["iso"])
        if stated is not None:
            said, header = stated, dated.end()
    spoken = _SPEAKER.match(text, header)
    head = spoken["name"] if spoken else ""
    if (
        spoken
        and words(name) in ([], words(head))
        and all(word[0].isupper() for word in head.split())
    ):
        name, header = head, spoken.end()
    return Remembered(position, role, text, name, said, header)


class VectorSource(Protocol):
    """Finds messages by their meaning."""

    def nearest(self, text: str, limit: int) -> Mapping[int, float]:
        """Cosines of the messages that are nearest to the text, by position."""
        ...


class MessageSource(Protocol):
    """The messages by their words, position and time."""

    def candidates(self, terms: Sequence[str], limit: int) -> Mapping[int, float]:
        """BM25 scores above 0 by position, of the best messages with any of the terms.

        Terms are in lower case. Of a term of several words, such as ``pool size``, a message must
        have all, next to each other if the source can tell. The source stems words in its own way,
        and indexes ``Remembered.told``.
        """
        ...

    def read(self, positions: Sequence[int]) -> Mapping[int, Remembered]:
        """The existing messages at these positions."""
        ...

    def between(self, first: float, last: float, limit: int) -> Sequence[int]:
        """The positions of at most ``limit`` messages from ``first`` to ``last``, in seconds."""
        ...

    def newest(self, limit: int) -> Sequence[int]:
        """The positions of at most ``limit`` messages, the newest first."""
        ...

    def speakers(self) -> Sequence[str]:
        """The names of the speakers, each once."""
        ...
