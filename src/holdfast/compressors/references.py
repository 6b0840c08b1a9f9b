"""The line with which a shortened text names its original, for models and for people."""

from __future__ import annotations

import re
from dataclasses import replace

from holdfast.kernel.ports import ContentKind, Room, Shrunk
from holdfast.kernel.transcript import Seal

_REFERENCE = re.compile(r"\[original: ([0-9a-f]{12,64}) [^\]\n]*\]\s*\Z")
_LONGEST = 2_000  # characters at the end of a text that are searched for a reference
# about as long as a content kind's own note on what it left out
_USUAL = "1,950 of 2,000 lines; every kind of failure kept"
_TRIES = 3  # each with less room, since the reference's length is known only afterwards
_PLAIN = str.maketrans("[]\n", "() ")


def referenced(kind: ContentKind, text: str, room: Room, key: str, tool: str = "") -> Shrunk | None:
    """The text shortened to fit the room with its reference, or None if both do not fit.

    ``tool`` is the name of the model's tool that resolves the key, empty without one.
    """
    tokens = room.count(text)
    inside = room.tokens - room.count(
        "\n" + note(kind.name, tokens, key, omitted=_USUAL, tool=tool)
    )
    for _ in range(_TRIES):
        if inside < 1:
            return None
        shrunk = kind.shrink(text, replace(room, tokens=inside))
        omitted = "" if shrunk.omitted in shrunk.text else shrunk.omitted
        told = note(kind.name, tokens, key, omitted=omitted, tool=tool)
        named = f"{shrunk.text}\n{told}" if shrunk.text.strip() else told
        over = room.count(named) - room.tokens
        if over <= 0:
            return replace(shrunk, text=named, lossless=False)
        inside -= over
    return None


def note(kind: str, tokens: int, key: str, *, omitted: str = "", tool: str = "") -> str:
    """The reference: one line with the key, the kind, the size and what was left out."""
    ways = f"; {tool}(key) gives it back" if tool else ""
    gone = f"; left out: {omitted.translate(_PLAIN)}" if omitted else ""
    return f"[original: {key} ({kind}, {tokens:,} tokens{gone}){ways}]"


def key_in(text: str, seal: Seal | None = None) -> str | None:
    """The key of the reference at a text's end; None if there is none of Holdfast's."""
    found = _found(text, seal)
    return found.group(1) if found else None


def parted(text: str, seal: Seal | None) -> tuple[str, str]:
    """Split a shortened text into its text and its reference, which may be empty."""
    found = _found(text, seal)
    reference = found.group() if found else ""
    return text.removesuffix(reference), reference.rstrip()


def _found(text: str, seal: Seal | None) -> re.Match[str] | None:
    end = text[-_LONGEST:]
    found = _REFERENCE.search(end) if "[original: " in end else None
    return found if found and (seal is None or seal.knows(found[1])) else None
