"""Markup: what the document says, and of that what the room allows."""

from __future__ import annotations

import re

from holdfast.kernel.ports import Room, Shrunk
from holdfast.text.fit import choose, clip, fits
from holdfast.text.question import Question

from .reading import of_page, of_tree

_SAMPLE = 20_000  # characters from which a text is recognised
_BEGINS = re.compile(
    r"[\s\ufeff]{0,200}<(?:[A-Za-z_][\w.:-]{0,80}(?:\s[^<>]{0,4000})?/?>|!--|!doctype|\?xml)", re.IGNORECASE
)
_TAG = re.compile(r"</?[A-Za-z_][\w.:-]{0,80}(?:\s[^<>]{0,2000})?/?>")
_CLOSING = re.compile(r"</[A-Za-z_][\w.:-]{0,80}\s{0,9}>|/>")
_SPARSEST = 300  # characters a tag; a text with fewer tags only mentions some
_FEWEST = 3
_PAGE = re.compile(
    r"<(?:!doctype\s+html|html|head|body|div|p|span|table|tr|td|ul|ol|li|h[1-6]|br|nav|form|section|article|main)\b",
    re.IGNORECASE,
)
_SHORTEST_LINE = 160  # characters to which what an element says is cut at most
_TOKENS_A_PIECE = 6  # the fewest that a chosen piece is expected to take

_INDENTED = re.compile(r">(\s*+)<")
_LEAST_SAVING = 0.05
_SPACE_MATTERS = re.compile(
    r"<!--|<!\[CDATA|xml:space|<(?:script|pre|code)\b"  # white space between tags in them is content
    r"|</[^<>]*+>\s*+[^<\s]|[^<>\s]\s*+<[A-Za-z_]",  # as it is where an element has both text and elements
    re.IGNORECASE,
)


class Markup:
    """An HTML page or an XML document, or a part of one."""

    name = "markup"

    def recognises(self, text: str) -> bool:
        """Whether it begins with a tag and has tags all through."""
        if not _BEGINS.match(text):
            return False
        sample = text[:_SAMPLE]
        tags = len(_TAG.findall(sample))
        return tags >= max(_FEWEST, len(sample) // _SPARSEST) and _CLOSING.search(sample) is not None

    def compact(self, text: str) -> str | None:
        """XML without the indentation between its tags, unless white space is content there."""
        if "<" not in text or _is_page(text) or _SPACE_MATTERS.search(text):
            return None
        shorter = _INDENTED.sub(lambda gap: "><" if "\n" in gap[1] else gap.group(), text)
        return shorter if len(shorter) <= (1 - _LEAST_SAVING) * len(text) else None

    def expand(self, compacted: str) -> str:
        """The document itself: the same but for its indentation."""
        return compacted

    def shrink(self, text: str, room: Room) -> Shrunk:
        """Headings, texts, links, tables and forms of a page, or the elements of a document, the most telling."""
        if fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        reading = of_page(text) if _is_page(text) else of_tree(text, max(_SHORTEST_LINE, 2 * room.tokens))
        whole = reading.whole()
        if fits(whole, room.tokens, room.count) and whole:
            return Shrunk(whole, self.name, reading.dropped)
        order = reading.order(Question.of(room.question), room.tokens // _TOKENS_A_PIECE + 1)
        choice = choose(order, reading.sizes, reading.written, room.tokens, room.count)
        if choice is None:
            return Shrunk(
                clip(whole or text, room.tokens, room.count, mark="…"), self.name, "all but the beginning"
            )
        left_out = len(reading.sizes) - len(choice.pieces)
        return Shrunk(
            choice.text, self.name, f"{reading.dropped}, {left_out:,} of {len(reading.sizes):,} {reading.noun}"
        )


def _is_page(text: str) -> bool:
    return _PAGE.search(text, 0, _SAMPLE) is not None
