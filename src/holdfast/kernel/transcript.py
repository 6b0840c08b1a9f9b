"""An immutable run of messages, its turns and units, and what may not leave it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, runtime_checkable

from holdfast.kernel.forks import cached_property

from .integrity import Rule, keeps, welds
from .messages import Message, Part, Role, Wire

_SHAPE = ("units", "newest", "protected", "turns", "user_positions")

Preference = Literal["task", "newest_user"]


class Seal(Protocol):
    """Knows what was written here, and writes so that it is known again."""

    def sealed(self, text: str, role: Role) -> str:
        """The text of a summary as it will be recognised later; any other text unchanged."""
        ...

    def knows(self, key: str) -> bool:
        """Whether a reference with this key was written here."""
        ...


@dataclass(frozen=True)
class Transcript:
    """Messages in order, the wire and the rules that they came with, and what is pinned.

    ``envelope`` is counted and never edited: the system prompt and the tool schemas of a request
    body. ``pinned`` may never leave. What ``prefers`` names stays while it fits: the first message
    of a user (the task), the newest one. ``seal`` tells what was written here from what merely
    looks so.
    """

    messages: tuple[Message, ...]
    wire: Wire
    rules: tuple[Rule, ...] = ()
    envelope: tuple[Part, ...] = ()
    pinned: frozenset[int] = field(default_factory=frozenset[int])
    prefers: tuple[Preference, ...] = ()
    seal: Seal | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.messages)

    def head(self, stop: int) -> Transcript:
        """The first ``stop`` messages, with the pins among them."""
        return replace(
            self,
            messages=self.messages[:stop],
            pinned=frozenset(i for i in self.pinned if i < stop),
        )

    def reworded(self, messages: tuple[Message, ...]) -> Transcript:
        """The same conversation with other texts in the same places; its derived shape is kept."""
        after = replace(self, messages=messages)
        after.__dict__.update(
            {name: self.__dict__[name] for name in _SHAPE if name in self.__dict__}
        )
        return after

    @cached_property
    def units(self) -> tuple[range, ...]:
        """Positions in spans that stay or go together: a call with its results, or one message."""
        joined, length = welds(self.rules, self.messages), len(self.messages)
        starts = [i for i in range(length) if i not in joined or i == 0]
        return tuple(map(range, starts, [*starts[1:], length]))

    @cached_property
    def newest(self) -> range:
        """The newest message with its open exchange, without system messages; may be empty."""
        for unit in reversed(self.units):
            if any(self.messages[i].role != "system" for i in unit):
                return unit
        return range(0)

    @cached_property
    def protected(self) -> frozenset[int]:
        """What no edit may drop: system messages, pins, the newest exchange, what a rule keeps."""
        system = [i for i, m in enumerate(self.messages) if m.role == "system" and not m.ours]
        return self.pinned.union(system, self.newest, keeps(self.rules, self.messages))

    @cached_property
    def preferred(self) -> frozenset[int]:
        """Positions of what is to stay while it fits."""
        places = range(len(self))
        found = {"task": self._asked(places), "newest_user": self._asked(reversed(places))}
        return frozenset(i for name in self.prefers if (i := found[name]) is not None)

    @property
    def question(self) -> str:
        """What the newest user message says: the question in view where none is given."""
        newest = self._asked(reversed(range(len(self))))
        return "" if newest is None else self.messages[newest].content_text or ""

    def _asked(self, places: Iterable[int]) -> int | None:
        """The first position at which a user speaks and no summary stands in their place."""
        return next(
            (i for i in places if speaks(self.messages[i]) and not self.messages[i].ours), None
        )

    @cached_property
    def turns(self) -> tuple[range, ...]:
        """Spans from one user message to the next; what comes before the first is a turn too."""
        starts = [i for i, message in enumerate(self.messages) if speaks(message)]
        if not starts or starts[0] > 0:
            starts.insert(0, 0)
        stops = [*starts[1:], len(self.messages)]
        return tuple(range(a, b) for a, b in zip(starts, stops, strict=True) if a < b)

    @cached_property
    def user_positions(self) -> tuple[int, ...]:
        """Where a user speaks: messages that only bring tool results are not among them."""
        return tuple(i for i, message in enumerate(self.messages) if speaks(message))


def speaks(message: Message) -> bool:
    """Whether a user speaks here: some wires carry tool results alone under the user's role."""
    return message.role == "user" and (
        message.is_speech or len(message.results) < max(1, len(message.parts))
    )


@runtime_checkable
class Format(Wire, Protocol):
    """Whose messages these are: one file a vendor, and the rules that its API enforces."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """What the vendor refuses; ``read`` hands them to the transcript."""
        ...

    def recognises(self, payload: object) -> bool:
        """Whether a list of messages or a request body has this form, by fields of its own."""
        ...

    def key(self, payload: object) -> str:
        """The field of a request body under which its messages stand; empty for a bare list."""
        ...

    def read(self, payload: object, tools: object = None) -> Transcript:
        """The payload's transcript. Raises FormatError or InputError with message and field."""
        ...


@runtime_checkable
class Publishing(Protocol):
    """A format whose vendor publishes the fields of a message, which no compression changes."""

    def published(self, payload: object) -> tuple[Rule, ...]:
        """The rules that follow from it, for a request with what stands beside its messages."""
        ...


@runtime_checkable
class Continuing(Protocol):
    """A format whose requests may continue a conversation that only the vendor keeps."""

    def continues(self, payload: object) -> str:
        """The field by which this request does; empty where it holds the whole conversation."""
        ...
