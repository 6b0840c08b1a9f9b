"""JSON in a frame: a few lines of a wrapper before it or behind it, such as an exit code or a fence."""

from __future__ import annotations

from typing import NamedTuple

from .values import is_json

_LONGEST = 4_000  # characters of the frame on either side
_LEAST = 0.6  # of the text that is JSON
_STARTS, _ENDS = ("{", "["), ("}", "]")


class Framed(NamedTuple):
    """The lines before, the JSON, the lines behind."""

    head: str
    body: str
    tail: str


def framed(text: str) -> Framed | None:
    """The text as JSON in its frame; None where it has none, or is more frame than JSON.

    Only the first line that begins as JSON does, and the last that ends so, are tried.
    """
    least = _LEAST * len(text)
    start = _start(text)
    stop = _stop(text) if len(text) - start >= least else 0
    if stop - start < least or stop - start == len(text):
        return None
    body = text[start:stop]
    return Framed(text[:start].strip("\n"), body, text[stop:].strip("\n")) if is_json(body) else None


def _start(text: str) -> int:
    """Where the first line begins that may be the start of JSON; the end of the text if there is none near."""
    head = text[:_LONGEST]
    at = 0
    for line in head.splitlines(keepends=True) if any(mark in head for mark in _STARTS) else ():
        if line.lstrip().startswith(_STARTS):
            return at
        at += len(line)
    return len(text)


def _stop(text: str) -> int:
    """Where the last line ends that may be the end of JSON; 0 if there is none near."""
    at = len(text)
    for line in reversed(text[-_LONGEST:].splitlines(keepends=True)):
        if line.rstrip().endswith(_ENDS):
            return at - len(line) + len(line.rstrip())
        at -= len(line)
    return 0
