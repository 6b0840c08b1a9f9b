"""Saving the originals of what notes replace: as text, in pieces of about one window each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from holdfast.compressors.summaries import HISTORY, WorkingStore, body_of
from holdfast.kernel.budget import Allowance
from holdfast.kernel.flow import Asking
from holdfast.kernel.messages import Message
from holdfast.kernel.transcript import Transcript
from holdfast.text.visible import amount

Place = tuple[int, int]
"""The indices of a message and of a part of it."""


def save_messages(
    transcript: Transcript, going: Sequence[int], allowance: Allowance
) -> Asking[tuple[tuple[str, ...], str]]:
    """Save the messages at ``going``; return the lines that name them, and the problem, if any.

    Without a store, or if it fails, there are no lines.
    """
    references: list[str] = []
    store = WorkingStore(allowance.stored)
    way = f"; {allowance.recall_tool}(key) gives it back" if allowance.recall_tool else ""
    for text, told in _pieces(transcript, going, allowance) if store.works else ():
        key = yield from store.save(text, HISTORY)
        if not key:
            break  # the store fails, or the caller keeps the history
        references.append(f"[original: {key} ({told}){way}]")
    return () if store.trouble else tuple(references), store.trouble


def kept(
    parts: Iterable[tuple[Place, str, str]], name: Callable[[Place, str, str], None]
) -> Asking[str]:
    """Save each ``(place, text, kind)``, and pass its place, kind and key to ``name``.

    Returns the problem, or an empty text.
    """
    store = WorkingStore(works=True)
    for place, text, kind in parts:
        key = yield from store.save(text, kind)
        if store.trouble:
            break
        name(place, kind, key)
    return store.trouble


def _pieces(
    transcript: Transcript, going: Sequence[int], allowance: Allowance
) -> Iterator[tuple[str, str]]:
    """Yield the text of each piece and its description; earlier notes are left out."""
    sizes = allowance.meter.sizes(transcript)
    piece: list[Message] = []
    tokens = 0
    for i in going:
        message = transcript.messages[i]
        if body_of(message) is not None:
            continue
        if piece and tokens + sizes[i] > allowance.window:
            yield _as_text(piece, tokens)
            piece, tokens = [], 0
        piece.append(message)
        tokens += sizes[i]
    if piece:
        yield _as_text(piece, tokens)


def _as_text(piece: Sequence[Message], tokens: int) -> tuple[str, str]:
    return transcribed(piece), f"{amount(len(piece), 'message')}, {tokens:,} tokens"


def transcribed(messages: Sequence[Message]) -> str:
    """The messages as text: the role, then each text and each call with its arguments."""
    return "\n\n".join(
        f"{message.role}: {text}" for message in messages for _, text in message.said if text
    )
