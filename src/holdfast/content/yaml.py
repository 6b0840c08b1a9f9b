"""YAML: lists of records as tables, everything else as its own lines, the telling ones first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import ClassVar

from holdfast.kernel.ports import Room, Shrunk
from holdfast.text import fit
from holdfast.text.importance import alarm
from holdfast.text.question import Question

from .lossy import Lossy
from .structured import yaml_values
from .structured.shrink import shrunk
from .structured.tables import tables
from .structured.values import Value, dump

_PARSED = 500_000  # characters: a longer text is shrunk by its lines alone
_TABULAR = 0.5  # of the text in lists of records: then tables say more than lines
_SAMPLE = 400  # lines that decide whether it is YAML
_FEWEST = 3  # lines
_MOSTLY = 0.9  # of the lines have the shape of YAML
_ASKED, _ALARM, _DEPTH, _COMMON, _BARE = 2.0, 2.0, 0.45, 0.4, 0.6
"""What a line's rank is made of: the question, trouble, nesting, how often its key and it are there, no value."""
_INHERITED = 0.6  # of what a line says of the question is said by each line under it

_ENTRY = re.compile(r"""(?:- +)*(?:[\w.$/@*<-][\w.$/@*<~+-]*|"[^"\n]*"|'[^'\n]*'):(?: |$)|- +\S|-$""")
_KEYED = re.compile(r"""(?:- +)*(?:[\w.$/@*<-][\w.$/@*<~+-]*|"[^"\n]*"|'[^'\n]*'):(?: |$)""")
_BREAK = re.compile(r"---(?: |$)|\.\.\.$|%YAML")
_BLOCK = re.compile(r"[:-] +(?:[&!][\w./!-]{1,80} +){0,2}[|>][+-]?\d?(?: +#.*)?$")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that says something: its text, how far in it stands, the number of the line above it in the tree."""

    text: str
    indent: int
    depth: int
    parent: int


class Yaml(Lossy):
    """YAML, one document or several; comments are kept as lines."""

    name: ClassVar[str] = "yaml"

    def recognises(self, text: str) -> bool:
        """Whether nearly all lines are keys with their values, or entries of lists, under consistent indents."""
        lines = text.removeprefix("\ufeff").split("\n", _SAMPLE)[:_SAMPLE]
        if len(lines) < _FEWEST:
            return False
        shaped = keyed = seen = 0
        keys: Counter[str] = Counter()
        for line in _outside_blocks(lines):
            bare = line.strip()
            if not bare or bare.startswith("#"):
                continue
            seen += 1
            if "\t" in line[: len(line) - len(line.lstrip())]:
                return False
            if _BREAK.match(line):
                keys.clear()
                shaped += 1
            elif _ENTRY.match(bare):
                shaped += 1
                keyed += _KEYED.match(bare) is not None
                if line[0] not in " -":
                    keys[bare.partition(":")[0]] += 1
            elif seen - shaped > (1 - _MOSTLY) * len(lines):
                return False
        twice = sum(count - 1 for count in keys.values())
        return seen >= _FEWEST and keyed >= 2 and shaped >= _MOSTLY * seen and twice <= keyed // 20

    def shrink(self, text: str, room: Room) -> Shrunk:
        """Tables where most of it is lists of records; else the lines that say most, with those above them."""
        if fit.fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        documents = _tabular(text)
        if documents:
            found = shrunk(documents, room, self.name)
            return Shrunk(found.text, self.name, omitted=found.omitted or "comments and layout")
        return self._lines(text, room)

    def _lines(self, text: str, room: Room) -> Shrunk:
        lines = list(_tree(text.removeprefix("\ufeff").splitlines()))
        order = _order(lines, Question.of(room.question))
        sizes = [len(line.text) + 1 for line in lines]
        found = fit.choose(order, sizes, lambda chosen: _written(lines, chosen), room.tokens, room.count)
        if found is None:
            cut = fit.clip(text, room.tokens, room.count, mark="…")
            return Shrunk(cut, self.name, omitted="all but the beginning")
        kept = len(_with_parents(lines, found.pieces))
        return Shrunk(found.text, self.name, omitted=f"{len(lines) - kept:,} of {len(lines):,} lines")


def _tabular(text: str) -> list[Value]:
    """The documents, where most of them is lists of records; else none."""
    if len(text) > _PARSED or not yaml_values.AVAILABLE:
        return []
    try:
        found = yaml_values.parse(text)
    except ValueError:
        return []
    documents: list[Value] = found if len(found) == 1 else [found]
    in_tables = sum(len(dump(table.value())) for table in tables(documents)[1])
    return documents if in_tables > _TABULAR * len(dump(documents)) else []


def _outside_blocks(lines: Sequence[str]) -> Iterator[str]:
    """The lines without those of block texts (``|`` and ``>``), which may be anything."""
    inside = -1
    for line in lines:
        indent = len(line) - len(line.lstrip(" "))
        if inside >= 0 and (indent > inside or not line.strip()):
            continue
        inside = indent if _BLOCK.search(line) else -1
        yield line


def _tree(lines: Sequence[str]) -> Iterator[_Line]:
    """The lines that are not empty, each with the one that it belongs to: the last that stands farther out."""
    above: list[tuple[int, int, int]] = []  # how far in, number, depth
    number = 0
    for text in lines:
        bare = text.lstrip(" ")
        if not bare:
            continue
        indent = len(text) - len(bare)
        level = -1 if _BREAK.match(text) else 2 * indent + bare.startswith("-")
        while above and above[-1][0] >= level:
            above.pop()
        parent = above[-1][1] if above else -1
        depth = above[-1][2] + 1 if above else 0
        above.append((level, number, depth if level >= 0 else -1))
        yield _Line(text.rstrip(), indent, depth, parent)
        number += 1


def _order(lines: Sequence[_Line], question: Question) -> list[int]:
    """The numbers of the lines, the most telling in front."""
    bare = [line.text.strip() for line in lines]
    keys = [text.partition(":")[0] for text in bare]
    same, alike = Counter(bare), Counter(keys)
    asked = _asked(lines, question)

    def score(number: int) -> float:
        text = bare[number]
        common = log(same[text]) + log(alike[keys[number]]) / 2
        empty = _BARE if text.endswith((":", "|", ">")) or text.startswith(("#", "---")) else 0.0
        told = _ASKED * asked[number] + _ALARM * alarm(text)
        return told - _DEPTH * lines[number].depth - _COMMON * common - empty

    return sorted(range(len(lines)), key=lambda number: -score(number))


def _asked(lines: Sequence[_Line], question: Question) -> list[float]:
    """How much each line, with what it stands under, says of what the question names."""
    asked: list[float] = []
    for line in lines:
        above = asked[line.parent] * _INHERITED if line.parent >= 0 else 0.0
        asked.append(above + (question.score(line.text) if question else 0.0))
    return asked


def _with_parents(lines: Sequence[_Line], chosen: Sequence[int]) -> list[int]:
    kept: set[int] = set()
    for number in chosen:
        above = number
        while above >= 0 and above not in kept:
            kept.add(above)
            above = lines[above].parent
    return sorted(kept)


def _written(lines: Sequence[_Line], chosen: Sequence[int]) -> str:
    """The chosen lines under those that they belong to, and how many they are."""
    kept = _with_parents(lines, chosen)
    note = [f"# {len(kept):,} of {len(lines):,} lines"] if len(kept) < len(lines) else []
    return "\n".join([*note, *(lines[number].text for number in kept)])
