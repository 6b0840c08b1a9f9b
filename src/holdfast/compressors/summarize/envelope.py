"""What is kept of a summary: the texts that it is made of, and the proof of what it covers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, cast

from holdfast.compressors.kept import as_list, as_object
from holdfast.kernel.messages import Media, Message


@dataclass(frozen=True, slots=True)
class Envelope:
    """A summary of the messages from ``start`` to ``end`` of the caller's original conversation, ends included.

    ``count`` of them are covered: what is pinned in between stays where it is. ``covers`` is the hash of what is
    covered, ``writer`` that of the prompts and the model. ``texts`` are the model's, oldest first; ``said`` are
    words of the user, ``details`` lines of the source; ``body`` is what they became. What the model has not been
    sent is kept under the keys in ``waiting``, ``waits`` tokens in all. ``made`` is in seconds.
    """

    start: int
    end: int
    count: int
    covers: str
    writer: str = ""
    texts: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    body: str = ""
    waiting: tuple[str, ...] = ()
    waits: int = 0
    made: float = 0.0

    def to_json(self) -> str:
        """The value as a store keeps it."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def of_json(cls, value: str | None) -> Envelope | None:
        """The envelope that a store gave, None if it gave none or something else."""
        found = as_object(value)
        if found.keys() != cls.__dataclass_fields__.keys():
            return None
        if any(not isinstance(found[name], kind) for name, kind in _TYPES.items()):
            return None
        given: dict[str, Any] = {**found, **{name: tuple(map(str, found[name])) for name in _LISTS}}
        return cls(**given)


_LISTS = ("texts", "said", "details", "waiting")
_TYPES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("start", "end", "count", "waits"), int),
    **dict.fromkeys(("covers", "writer", "body"), str),
    **dict.fromkeys(_LISTS, list),
    "made": (int, float),
}


@dataclass(frozen=True, slots=True)
class Range:
    """One line of the list of ranges: where the envelope is kept, and by which it can be told."""

    start: int
    end: int
    covers: str
    mark: str
    key: str


_RANGE = {"start": int, "end": int, "covers": str, "mark": str, "key": str}
_MOST_RANGES = 500  # of one list: the newest; what leaves is only made again


def ranges_of(value: str | None) -> list[Range]:
    """The list that a store gave, oldest first; empty if it gave none."""
    listed = [cast("dict[str, Any]", each) for each in as_list(value) if isinstance(each, dict)]
    return [Range(**each) for each in listed if {name: type(given) for name, given in each.items()} == _RANGE]


def with_range(ranges: list[Range], new: Range) -> str:
    """The list with one more range, as a store keeps it."""
    others = [each for each in ranges if each.key != new.key]
    return json.dumps([asdict(each) for each in (*others, new)][-_MOST_RANGES:])


def chained(covers: str, message: Message) -> str:
    """The hash of what ``covers`` stands for and the message behind it; of nothing, the hash is empty."""
    said = message.plain
    if said is None:
        said = repr([(type(part).__name__, _content(part)) for part in message.parts])
    text = f"{covers}\n{message.role}\n{said}"
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _content(part: object) -> object:
    return (part.kind, part.media_type, part.source) if isinstance(part, Media) else part
