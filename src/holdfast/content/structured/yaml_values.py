"""YAML documents as JSON values, where PyYAML is installed; nothing but plain data is ever made.

PyYAML's C parser reads 6 MB of events a second, ruamel.yaml, the other maintained library, 0.2 MB (measured on
manifests). Events, since its composer calls itself for each level and so dies of a text of a million dashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Protocol, cast

from .values import Literal, Value, dump, object_of

_GROWTH = 10  # times its own length that a text may grow to through its aliases: beyond that they are a bomb
_DEEPEST = 100  # levels of nesting
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}


class _Event(Protocol):
    """What PyYAML's parser says next: the class tells which, and which of these it has."""

    anchor: str | None
    tag: str | None
    value: str
    style: str | None


class _Library(Protocol):
    """The part of PyYAML that is used; it comes without types of its own."""

    YAMLError: type[Exception]

    def parse(self, text: str, loader: object) -> Iterator[_Event]:
        """The events of the text."""
        ...


def _library() -> _Library | None:
    try:
        return cast("_Library", import_module("yaml"))
    except ImportError:
        return None


_YAML = _library()
AVAILABLE = _YAML is not None


def parse(text: str) -> list[Value]:
    """The documents of the text. Raises ValueError if they are no YAML, too deep, or grow without bounds."""
    if _YAML is None:
        raise ValueError("PyYAML is not installed")
    loader: object = getattr(_YAML, "CSafeLoader", None) or getattr(_YAML, "SafeLoader", None)
    reading = _Reading(_GROWTH * len(text))
    try:
        for event in _YAML.parse(text, loader):
            reading.take(event)
    except _YAML.YAMLError as error:
        raise ValueError(str(error)) from None
    return reading.documents


@dataclass(slots=True)
class _Open:
    """A list or a mapping that is being read: its items, or its keys and values in turn."""

    is_mapping: bool
    anchor: str | None
    before: int
    """What was left to read when it began."""
    items: list[Value] = field(default_factory=list["Value"])

    def value(self) -> Value:
        """The list, or the object."""
        if not self.is_mapping:
            return self.items
        keys = (key if isinstance(key, str) else dump(key) for key in self.items[::2])
        return object_of(list(zip(keys, self.items[1::2], strict=True)))


class _Reading:
    """Makes values of events, and stops where aliases make them too many."""

    def __init__(self, left: int) -> None:
        self.documents: list[Value] = []
        self._left = left
        self._open: list[_Open] = []
        self._anchors: dict[str | None, tuple[Value, int]] = {}

    def take(self, event: _Event) -> None:
        """One event more."""
        name = type(event).__name__
        if name == "ScalarEvent":
            self._spend(len(event.value) + 1)
            self._put(_scalar(event), event.anchor, len(event.value) + 1)
        elif name in {"SequenceStartEvent", "MappingStartEvent"}:
            if len(self._open) > _DEEPEST:
                raise ValueError("nested too deeply")
            self._spend(2)
            self._open.append(_Open(name == "MappingStartEvent", event.anchor, self._left))
        elif name in {"SequenceEndEvent", "MappingEndEvent"}:
            closed = self._open.pop()
            self._put(closed.value(), closed.anchor, closed.before - self._left)
        elif name == "AliasEvent":
            if event.anchor not in self._anchors:
                raise ValueError(f"nothing is named {event.anchor}")
            value, size = self._anchors[event.anchor]
            self._spend(size)
            self._put(value, None, size)

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise ValueError("its aliases make it too large")

    def _put(self, value: Value, anchor: str | None, size: int) -> None:
        if anchor:
            self._anchors[anchor] = value, size
        (self._open[-1].items if self._open else self.documents).append(value)


def _scalar(event: _Event) -> Value:
    text = event.value
    if event.tag:
        return f"{event.tag} {text}".rstrip()
    if event.style:
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return Literal(text) if _NUMBER.fullmatch(text) else text
