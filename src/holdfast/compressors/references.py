"""Saving originals, and the line with which a shortened text names its original."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Asking
from holdfast.kernel.ports import ContentKind, Room, Shrunk
from holdfast.kernel.transcript import Seal, Transcript
from holdfast.stream import StreamEvent
from holdfast.text.fit import packed

from .summaries import HISTORY, REFERENCE, WorkingStore

# characters at the end that are searched for a reference, which has some hundred; a forged text of
# their beginnings takes the square of it
_LONGEST = 2_000
_REFERENCE = re.compile(r"\[original: ([0-9a-f]{12,64}) [^\]\n]*\]\s*\Z")
# about as long as a content kind's own note on what it left out
_USUAL = "1,950 of 2,000 lines; every kind of failure kept"
_PLAIN = str.maketrans("[]\n", "() ")
# largest share of the room for references. With .075, .890 of the ids in sessions of a customer
# service stay instead of .913, and with .04 .914; and of 156,000 tokens in 2,000, as many lines as
# there are pieces of that size leave no room for notes
_NAMED = 0.055
# a text of fewer times the tokens of its reference is saved but not named; half kept as much
_WORTH_NAMING = 4


class Reference(NamedTuple):
    """The key of a saved original, and the line that names it."""

    key: str
    line: str


def referenced(kind: ContentKind, text: str, room: Room, key: str, tool: str = "") -> Shrunk | None:
    """The text shortened to fit the room with its reference, or None if both do not fit.

    ``tool`` is the name of the model's tool that resolves the key, empty without one.
    """
    tokens = room.count(text)
    usual = note(kind.name, tokens, key, omitted=_USUAL, tool=tool)
    inside = room.tokens - room.count(f"\n{usual}")
    while inside > 0:  # with less room each time, since the reference's length is known afterwards
        shrunk = kind.shrink(text, replace(room, tokens=inside))
        omitted = "" if shrunk.omitted in shrunk.text else shrunk.omitted
        line = note(kind.name, tokens, key, omitted=omitted, tool=tool)
        named = f"{shrunk.text}\n{line}" if shrunk.text.strip() else line
        over = room.count(named) - room.tokens
        if over <= 0:
            return replace(shrunk, text=named, lossless=False)
        inside -= over
    return None


def note(kind: str, tokens: int, key: str, *, omitted: str = "", tool: str = "") -> str:
    """The reference: one line with the key, the kind, the size and what was left out."""
    ways = f"; {tool}(key) gives it back" if tool else ""
    gone = f"; left out: {omitted.translate(_PLAIN)}" if omitted else ""
    return f"[original: {key} ({kind.translate(_PLAIN)}, {tokens:,} tokens{gone}){ways}]"


def reference_to(
    kind: str,
    tokens: int,
    key: str,
    others: Iterable[Reference | None],
    room: int,
    allowance: Allowance,
) -> Reference | None:
    """The reference to a saved text of so many tokens; None if it is not worth its room.

    In a small room references, those to ``others`` included, would take the place of what they
    stand for, and a short text is hardly longer than its own.
    """
    count = allowance.meter.text
    line = note(kind, tokens, key, tool=allowance.recall_tool)
    taken = count(line) + sum(count(each.line) for each in others if each)
    is_worth = taken <= room * _NAMED and count(line) * _WORTH_NAMING <= tokens
    return Reference(key, line) if key and is_worth else None


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
    found = _REFERENCE.search(end) if REFERENCE in end else None
    return found if found and (seal is None or seal.knows(found[1])) else None


Place = tuple[int, int]
"""The indices of a message and of a part of it."""


def save_messages(
    transcript: Transcript, going: Sequence[int], allowance: Allowance
) -> Asking[tuple[tuple[str, ...], str]]:
    """Save the messages at ``going``; return the lines that name them, and the problem, if any.

    Without a store, or if it fails, there are no lines; nor if the caller keeps the messages. The
    pieces that they name have at least the tokens of the budget, and more if there would be too
    many lines: so much more that those of a growing conversation seldom change.
    """
    if allowance.logged or not allowance.stored:
        return (), ""
    references: list[str] = []
    store, most, size = WorkingStore(works=True), allowance.share(_NAMED), allowance.window
    line = allowance.meter.text(note(HISTORY, size, "0" * 20, tool=allowance.recall_tool))
    messages = [transcript.messages[i] for i in going]
    sizes = list(map(allowance.meter.message, messages))
    while len(pieces := packed(sizes, size)) * line > max(most, line):
        size *= 2
    for piece in pieces:
        some = (messages[n] for n in piece)
        said = [f"{each.role}: {text}" for each in some for _, text in each.said if text]
        key = yield from store.save("\n\n".join(said), HISTORY)
        first, last = going[piece[0]] + 1, going[piece[-1]] + 1
        which = f"messages {first:,} to {last:,}" if first < last else f"message {first:,}"
        tokens = sum(sizes[n] for n in piece)
        references.append(note(which, tokens, key, tool=allowance.recall_tool))
    return () if store.trouble else tuple(references), store.trouble


def before_reference(event: StreamEvent, seal: Seal | None) -> StreamEvent:
    """The event; of a shortened output that is handed back, the reference is no content."""
    if event.function != "outcome":
        return event
    reference = len(event.text) - len(parted(event.text, seal)[0])
    return event._replace(closing=max(event.closing, reference))
