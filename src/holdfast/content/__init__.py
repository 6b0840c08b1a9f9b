"""The kinds of text that tools return, and what may be lost of each: one file for each kind."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, cast

from holdfast.kernel.ports import Fitting, Room, Shrunk
from holdfast.kernel.registry import Registry
from holdfast.text.memo import Memo

if TYPE_CHECKING:
    from holdfast.kernel.ports import ContentKind

KINDS = Registry(
    noun="content kind",
    group="content",
    table={
        "binary": "holdfast.content.binary:Binary",
        "json": "holdfast.content.structured:Json",
        "markup": "holdfast.content.markup:Markup",
        "diff": "holdfast.content.diff:Diff",
        "traceback": "holdfast.content.traceback:Traceback",
        "testrun": "holdfast.content.testrun:TestRun",
        "table": "holdfast.content.table:Table",
        "search": "holdfast.content.search:Search",
        "listing": "holdfast.content.files:Listing",
        "log": "holdfast.content.logs:Log",
        "code": "holdfast.content.code:Code",
        "yaml": "holdfast.content.yaml:Yaml",
        "dense": "holdfast.content.dense:Dense",
        "prose": "holdfast.content.prose:Prose",
    },
    formerly=("parsers", "grammars"),
)
"""In order of preference among kinds that fit alike, after those of plugins; the last fits any."""

# characters for each token of the room: five times what fits, which no lossless form saves
_HOPELESS = 20


@cache
def kinds() -> tuple[ContentKind, ...]:
    """Every known kind in the order in which it is asked."""
    outside = [name for name in KINDS.names() if name not in KINDS.table]
    return tuple(kind(name) for name in (*outside, *KINDS.table))


@cache
def kind(name: str) -> ContentKind:
    """The kind of that name. Raises ConfigError, naming the known ones, when there is none."""
    made = cast("type[ContentKind]", KINDS.load(name))
    return made()


def recognise(text: str) -> ContentKind:
    """The kind that fits the whole text best."""
    return _RECOGNISED(text)


def _recognised(text: str) -> ContentKind:
    *known, any_text = kinds()
    shares = {one: _fit(one, text) for one in known}
    best_first = sorted(known, key=shares.__getitem__, reverse=True)
    return next((one for one in best_first if shares[one] and one.recognises(text)), any_text)


def _fit(one: ContentKind, text: str) -> float:
    return one.fit(text) if isinstance(one, Fitting) else float(one.recognises(text))


_RECOGNISED: Memo[str, ContentKind] = Memo(
    _recognised, lambda text, _kind: len(text), characters=8_000_000
)
"""The same output is recognised several times: shrunk, told in notes, remembered."""


def shrink(text: str, room: Room) -> Shrunk:
    """The text as it fits the room: without loss if it can be, else its most useful reading."""
    found = recognise(text)
    return without_loss(text, room, found) or found.shrink(text, room)


def without_loss(text: str, room: Room, of: ContentKind) -> Shrunk | None:
    """The text whole, else in the lossless form of its kind; None where neither fits the room."""
    if len(text) > room.tokens * _HOPELESS:
        return None
    if room.count(text) <= room.tokens:
        return Shrunk(text, of.name, lossless=True)
    compacted = of.compact(text)
    if compacted is not None and room.count(compacted) <= room.tokens:
        return Shrunk(compacted, of.name, lossless=True)
    return None


__all__ = ["KINDS", "kind", "kinds", "recognise", "shrink", "without_loss"]
