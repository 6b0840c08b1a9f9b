"""How a shrunk text names its original: short, for a model to read and for a person to resolve."""

from __future__ import annotations

import re

from holdfast.kernel.ports import Shrunk

_REFERENCE = re.compile(r"\[original: ([0-9a-f]{12,64}) [^\]\n]*\]\s*\Z")


def referenced(shrunk: Shrunk, key: str, tokens: int, tool: str = "") -> str:
    """The shrunk text with a last line that names the key, the kind, the size and what is left out.

    ``tool`` is the name of a tool that the model has and that resolves the key; empty if it has none.
    """
    return f"{shrunk.text}\n{note(shrunk, key, tokens, tool)}"


def note(shrunk: Shrunk, key: str, tokens: int, tool: str = "") -> str:
    """The last line alone."""
    ways = f"; {tool}(key) gives it back" if tool else ""
    omitted = f"; {shrunk.omitted}" if shrunk.omitted else ""
    return f"[original: {key} ({shrunk.kind}, {tokens:,} tokens{omitted}){ways}]".replace("\n", " ")


def key_in(text: str) -> str | None:
    """The key that a shrunk text names; None where it names none."""
    found = _REFERENCE.search(text[-2_000:])
    return found.group(1) if found else None
