"""Source code: signatures, the bodies that the question is about whole, of the others a line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from holdfast.content.lossy import Lossy
from holdfast.kernel.errors import MissingExtraError
from holdfast.kernel.ports import Room, Shrunk
from holdfast.kernel.registry import Registry
from holdfast.text.fit import choose, clip, fits
from holdfast.text.question import Question

from .languages import LEAST_SIGNS, OTHER, Language, language_of
from .lines import SourceLines
from .outline import Declaration, Outline
from .rank import ranked

Parse = Callable[[Sequence[str], str], list[Declaration] | None]

PARSERS = Registry(
    noun="parser",
    group="parsers",
    table={
        "tree": "holdfast.content.code.by_tree:declarations",
        "ast": "holdfast.content.code.by_ast:declarations",
        "indent": "holdfast.content.code.by_indent:declarations",
    },
)
"""The best first: where one is not installed, does not know the language or gives up, the next one is asked."""

_FEWEST_LINES, _MOST_LINES = 2, 12  # of a body that are kept or left out together, fewer in little room
_NOTE = 24  # characters that a part costs on top: the comment in the gap before it
_TOKENS_A_LINE = 60
_SAMPLE = 64_000  # characters from which a text is recognised


class Code(Lossy):
    """A source file or a part of one, with or without line numbers in front."""

    name = "code"

    def recognises(self, text: str) -> bool:
        """Whether the lines are statements of one of the known languages."""
        sample = text[:_SAMPLE]
        enough = sample.count("\n") + 1 >= LEAST_SIGNS
        return enough and language_of(SourceLines.of(sample).code) is not None

    def shrink(self, text: str, room: Room) -> Shrunk:
        """What is declared and what the question is about; where lines are left out, a comment says which."""
        if fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        lines = SourceLines.of(text)
        language = language_of(lines.code) or OTHER
        longest = min(_MOST_LINES, max(_FEWEST_LINES, room.tokens // _TOKENS_A_LINE))
        outline = Outline.of(lines.code, _declarations(lines.code, language), longest)
        order = ranked(lines.code, outline, Question.of(room.question))
        sizes = [_NOTE + sum(map(len, lines.shown[part.start : part.end + 1])) for part in outline.parts]
        shown = _Listing(lines, outline, language.gap)
        choice = choose(order, sizes, shown.written, room.tokens, room.count)
        if choice is None:
            return Shrunk(clip(text, room.tokens, room.count, mark="…"), self.name, "all but the first line")
        kept = sum(outline.parts[index].end - outline.parts[index].start + 1 for index in choice.pieces)
        return Shrunk(choice.text, self.name, f"{len(lines.shown) - kept:,} of {len(lines.shown):,} lines")


def _declarations(lines: Sequence[str], language: Language) -> list[Declaration]:
    for name in PARSERS.table:
        try:
            parse = cast("Parse", PARSERS.load(name))
            found = parse(lines, language.name)
        except MissingExtraError:
            continue
        if found is not None:
            return found
    return []


class _Listing:
    """How the lines are shown when some of them are left out."""

    def __init__(self, lines: SourceLines, outline: Outline, comment: str) -> None:
        self._lines, self._outline, self._comment = lines, outline, comment

    def written(self, chosen: Sequence[int]) -> str:
        """The chosen parts, with a comment in each gap."""
        shown: list[str] = []
        following = 0
        for index in chosen:
            part = self._outline.parts[index]
            shown += self._gap(following, part.start)
            shown += self._lines.shown[part.start : part.end + 1]
            following = part.end + 1
        shown += self._gap(following, len(self._lines.shown))
        return "\n".join(shown)

    def _gap(self, start: int, end: int) -> Iterator[str]:
        """What stands for the lines before ``end``: a comment, or they themselves if they are as short."""
        left_out = [line for line in range(start, end) if self._lines.code[line].strip()]
        if not left_out:
            return
        first, last = left_out[0], left_out[-1]
        numbers = self._lines.numbers
        which = f"lines {numbers[first]}-{numbers[last]}" if first != last else f"line {numbers[first]}"
        note = f"{self._lines.indentation(first)}{self._comment} {which}"
        if sum(len(self._lines.shown[line]) for line in left_out) <= len(note):
            yield from (self._lines.shown[line] for line in left_out)
        else:
            yield note
