"""The kinds of text that tools return, and how each is shortened: one file for each kind."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import cast

from holdfast.kernel.ports import ContentKind, Fitting, Room, Shrunk
from holdfast.kernel.registry import Registry
from holdfast.text.memo import Memo
from holdfast.text.pieces import Reading
from holdfast.text.visible import as_shown

from .lossy import LossyKind

KINDS = Registry(
    noun="content kind",
    group="content",
    table="""
        binary holdfast.content.binary:Binary
        json holdfast.content.structured:Json
        markup holdfast.content.markup:Markup
        diff holdfast.content.diff:Diff
        table holdfast.content.table:Table
        log holdfast.content.logs:Log
        yaml holdfast.content.yaml:Yaml
        prose holdfast.content.lossy:Prose
    """,
    formerly=("parsers", "grammars"),
)
"""In order of preference among kinds that fit equally well, after those of plugins; the last fits
any text.
"""

# characters for each token of the room: five times what fits of plain English, more than any
# lossless form saves of real outputs
_HOPELESS = 20


@cache
def kinds() -> tuple[ContentKind, ...]:
    """Every known kind, in the order in which they are tried."""
    return tuple(kind(name) for name in (*KINDS.added(), *KINDS.table))


@cache
def kind(name: str) -> ContentKind:
    """Return the kind of that name. Raises ConfigError, listing the known ones, for another."""
    return cast("type[ContentKind]", KINDS.load(name))()


@Memo  # since the same output is recognised several times: by steps, notes and memory
def recognise(text: str) -> ContentKind:
    """Return the kind that fits the whole text best."""
    text, best, most = as_shown(text), kinds()[-1], 0.0
    for one, fit in _fits().items():
        share = fit(text)
        if share > most:
            best, most = one, share
        if share >= 1:  # no later kind can fit better
            break
    return best


@cache
def _fits() -> Mapping[ContentKind, Callable[[str], float]]:
    """How each kind but the last measures how well a text fits it."""
    return {one: one.fit if isinstance(one, Fitting) else one.recognises for one in kinds()[:-1]}


def taken_apart(text: str) -> Reading | None:
    """The pieces of a text whose kind takes it apart; None for any other text.

    In a conversation only such kinds are split in their own way, and others like any text: in
    recorded runs that kept more of the names that were used later.
    """
    found = recognise(text)
    return found.reading(text) if isinstance(found, LossyKind) and found.takes_apart else None


def heading(text: str) -> str:
    """What is needed to read a later part of the text, such as the header of a table."""
    found = recognise(text)
    return found.heading(as_shown(text)) if isinstance(found, LossyKind) else ""


def shrink(text: str, room: Room) -> Shrunk:
    """Shorten the text to the room: without loss if possible, else with its most useful parts."""
    found = recognise(text)
    return without_loss(text, room, found) or found.shrink(text, room)


def without_loss(text: str, room: Room, of: ContentKind) -> Shrunk | None:
    """The whole text, else the lossless form of its kind; None if neither fits the room."""
    if len(text) > room.tokens * _HOPELESS:
        return None
    if room.count(text) <= room.tokens:
        return Shrunk(text, of.name, lossless=True)
    compacted = of.compact(text)
    if compacted is not None and room.count(compacted) <= room.tokens:
        return Shrunk(compacted, of.name, lossless=True)
    return None
