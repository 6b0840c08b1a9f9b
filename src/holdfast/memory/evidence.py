"""What was found for a question, before it is weighed: words, names and meaning, each where it stands."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field, replace

from .exact import Alike
from .remembered import Remembered


@dataclass(frozen=True, slots=True)
class Evidence:
    """Positions of messages, each with a score."""

    own: Mapping[int, float] = field(default_factory=dict[int, float])
    """By the words of the question that it holds."""

    near: Mapping[int, float] = field(default_factory=dict[int, float])
    """By what it means."""

    held: Mapping[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])
    """The names of the question that it holds exactly."""

    rivals: Alike = field(default_factory=Alike)

    def left(self, messages: Mapping[int, Remembered]) -> Mapping[int, Remembered]:
        """The messages that do not speak of another thing in the place of the one that is asked about."""
        if not self.rivals:
            return messages
        held = self.held
        return {at: message for at, message in messages.items() if at in held or message not in self.rivals}

    def among(self, left: Container[int]) -> Evidence:
        """The same of these messages alone."""
        own = {at: score for at, score in self.own.items() if at in left}
        near = {at: score for at, score in self.near.items() if at in left}
        return replace(self, own=own, near=near, held={at: held for at, held in self.held.items() if at in left})

    def without(self, apart: Collection[int]) -> Evidence:
        """The same without these messages."""
        return self.among({*self.own, *self.near, *self.held}.difference(apart)) if apart else self
