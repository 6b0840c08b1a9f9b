"""One segment made smaller, brought back, or cut: the same segment, with what became of it in its metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from holdfast.text.memo import Memo

from .clauses import Count
from .condensing import Condenser, Form
from .entities import Entity, entities, relations
from .segments import HEAVY, VERBATIM, Segment, at_topic_shifts


def demoted(
    segment: Segment, original: str, level: int, condenser: Condenser, count: Count, now: float, before: str = ""
) -> Segment:
    """The segment at the level, made of the original; who it is and how it was used stay (V.10).

    ``before`` is what the original goes on with: it is read with it, unless the form then is the longer one.
    """
    content = condenser.condense(before + original, level, count)
    if before and count(content) > count(original):
        content = original
    return _formed(segment, original, level, content, count, now)


def reformed(segment: Segment, original: str, form: Form, writer: str, count: Count, now: float) -> Segment:
    """The segment with a form that was asked for: ``written_by`` says whose it is, ``refused`` why it is not."""
    told = {"written_by": writer, **({"refused": form.refused} if form.refused else {})}
    after = _formed(segment, original, segment.level, form.text, count, now)
    return replace(after, metadata={**after.metadata, **told})


def _formed(segment: Segment, original: str, level: int, content: str, count: Count, now: float) -> Segment:
    tokens = count(content)
    metadata: dict[str, object] = {
        "original_length": count(original),
        "compressed_length": tokens,
        "compression_ratio": count(original) / max(1, tokens),
        "original_entities": [entity.text for entity in entities(original, None)],
        "retained_entities": list(_RETAINED((original, content))),
        "compression_level": level,
        "compression_timestamp": now,
    }
    if level == HEAVY:
        metadata["original_relationships"] = [
            (found.subject, found.verb, found.object) for found in relations(original)
        ]
    return replace(segment, content=content, tokens=tokens, level=level, metadata=metadata)


def recalled(segment: Segment, original: str, count: Count, now: float) -> Segment:
    """The segment verbatim again: no model is asked, for the original was kept (V.19)."""
    metadata: Mapping[str, object] = segment.metadata
    if segment.level != VERBATIM:
        metadata = {
            "was_compressed": True,
            "original_compression_level": segment.level,
            "expansion_timestamp": now,
        }
    return replace(read(segment, now), content=original, tokens=count(original), level=VERBATIM, metadata=metadata)


def read(segment: Segment, now: float) -> Segment:
    """The segment, read once more."""
    return replace(segment, accessed=max(now, segment.accessed), access_count=segment.access_count + 1)


def split(segment: Segment, most: int, count: Count) -> list[Segment]:
    """Segments of at most ``most`` tokens whose contents joined are this one's."""
    pieces: list[Segment] = []
    start = segment.span[0] if segment.span else 0
    for number, content in enumerate(at_topic_shifts(segment.content, most, count), 1):
        span = (start, start + len(content))
        pieces.append(
            replace(segment, id=f"{segment.id}.{number}", content=content, tokens=count(content), span=span)
        )
        start = span[1]
    return pieces


def original_of(segment: Segment, whole: str) -> str:
    """What the segment said at first, given the whole text of its origin."""
    return whole if segment.span is None else whole[segment.span[0] : segment.span[1]]


def _retained(key: tuple[str, str]) -> tuple[str, ...]:
    """What the first text names and the second one too."""
    original, content = key
    return tuple(entity.text for entity in entities(original, None) if _stands(entity, content))


_RETAINED: Memo[tuple[str, str], tuple[str, ...]] = Memo(
    _retained, lambda key, found: len(key[0]) + len(key[1]) + 64 * len(found), 8_000_000
)
"""What is found rises and is demoted again to the form that it had."""


def _stands(entity: Entity, content: str) -> bool:
    return entity.text in content or (entity.kind == "phrase" and entity.text in content.lower())
