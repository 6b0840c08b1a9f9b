"""Separates words from pasted material in a user's message: logs, code and files.

If it is unclear, a passage counts as words: words are never shortened while anything else can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.text.memo import Memo
from holdfast.text.sentences import reads_as_words
from holdfast.text.words import DIGITS

_FENCES = ("```", "~~~")
_OPENING = 12  # characters that lines of a log have in common at their start
_ENDS = tuple(".!?:,。！？：")
_TYPED = 800  # characters; few people type more
_SAYING = 5  # words; fewer say little more than what they open with
_FEWEST = 6  # lines in a row that are not sentences; fewer may be a list, an address, a poem


def passages_of(text: str) -> Sequence[tuple[bool, str]]:
    """The passages of a text in order, and whether each is material."""
    return _PASSAGES(text)


def _passages(text: str) -> Iterator[tuple[bool, str]]:
    held: list[str] = []
    kind = False
    for is_material, line in _lines(text):
        if held and is_material != kind:
            yield kind, "\n".join(held)
            held = []
        kind = is_material
        held.append(line)
    if held:
        yield kind, "\n".join(held)


_PASSAGES: Memo[str, Sequence[tuple[bool, str]]] = Memo(lambda text: tuple(_passages(text)))
"""Cached, since a growing conversation is read at each call."""


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it is in a fence, a quotation or a long run that no person types.

    Many lines that all begin with the same characters and a number, as in a log, are such a run.
    """
    lines = text.split("\n")
    marks = [False] * len(lines)
    fenced = False
    unworded: list[int] = []
    alike: list[int] = []
    before = ""
    for number, line in enumerate(lines):
        bare = line.lstrip()
        opens = bare.startswith(_FENCES)
        if fenced or opens:
            marks[number] = True
            fenced = fenced != opens
            continue
        if bare.startswith(">"):
            marks[number] = True
        elif bare:
            opens_as = without_numbers(bare, _OPENING)
            if reads_as_words(line):
                unworded.clear()
            else:
                unworded.append(number)
            if opens_as != before or "0" not in opens_as:
                alike.clear()
            alike.append(number)
            before = opens_as
            for run in (unworded, alike):
                for each in run if len(run) == _FEWEST else run[-1:] if len(run) > _FEWEST else ():
                    marks[each] = True
    return zip(marks, lines, strict=True)


def without_numbers(text: str, most: int) -> str:
    """The first characters of a text, each number as 0."""
    return DIGITS.sub("0", text.lstrip()[:most])


def is_all_words(text: str) -> bool:
    """Whether each line reads as words."""
    return all(reads_as_words(line) for line in text.split("\n") if line)


def has_unworded_ends(text: str) -> bool:
    """Whether neither the first nor the last line reads as words; a person says what is pasted."""
    lines = text.strip().split("\n")
    return not reads_as_words(lines[0]) and not reads_as_words(lines[-1])


def is_pasted(text: str) -> bool:
    """Whether a text has material, and no sentence before or after it that a person would type."""
    lines = text.strip().split("\n")
    has_material = any(is_material for is_material, _ in passages_of(text))
    return has_material and not _is_sentence(lines[0]) and not _is_sentence(lines[-1])


def may_be_typed(text: str) -> bool:
    """Whether a person may have typed a text: some words, or anything and a last sentence."""
    is_of_typed_length = len(text) <= _TYPED and len(text.split()) >= _SAYING
    last = text.strip().rpartition("\n")[2]
    return is_of_typed_length and (is_all_words(text) or _is_sentence(last))


def _is_sentence(line: str) -> bool:
    ends = line.rstrip().endswith(_ENDS)
    return ends and line[0].isalpha() and len(line.split()) > 1 and reads_as_words(line)
