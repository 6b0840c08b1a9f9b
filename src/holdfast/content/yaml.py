"""YAML, read by its indentation as records."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from holdfast.text.json_values import DEEPEST, Member, Value, record_of
from holdfast.text.pieces import Reading

from .lossy import FEWEST, MOSTLY, LossyKind, rows, sampled
from .structured import Pieces

_ENTRY = re.compile(
    r"""(?:- +)*+(?P<key>[\w.$/@*<-][\w.$/@*<~+-]*|"[^"\n]*"|'[^'\n]*'):(?: |$)|- +\S|-$"""
)
_SPACED = re.compile(r"(?P<key>[^\W\d_][\w.()/ -]{0,80}):(?: |$)")
"""A key of several words, where no text goes on."""
_BREAK = re.compile(r"---(?: |$)|\.\.\.$|%YAML")
_BLOCK = re.compile(r"[:-] +(?:[&!][\w./!-]{1,80} +){0,2}[|>][+-]?\d?(?: +#.*)?$")


class Yaml(LossyKind):
    """YAML, one document or several."""

    name = "yaml"
    least = MOSTLY

    def share(self, text: str) -> float:
        """The share of the lines that are keys with their values, or entries of lists."""
        shaped = keyed = seen = 0
        keys = Counter[str]()
        lines = rows(sampled(text))
        for line in _outside_blocks(lines):
            bare = line.strip()
            if not bare or bare.startswith("#"):
                continue
            seen += 1
            if "\t" in line[: len(line) - len(line.lstrip())]:
                return 0.0
            if _BREAK.match(line):
                keys.clear()
                shaped += 1
            elif entry := _ENTRY.match(bare):
                shaped += 1
                keyed += entry["key"] is not None
                if line[0] not in " -":
                    keys[entry["key"]] += 1
            elif seen - shaped > (1 - self.least) * len(lines):
                return 0.0
        is_of_labels = keys.total() > len(keys)  # as in a log
        return shaped / seen if seen >= FEWEST and keyed > 1 and not is_of_labels else 0.0

    def read(self, text: str) -> Reading:
        """The pieces of the records, as for JSON; comments are left out."""
        pieces = Pieces(len(text))
        pieces.add(list(_documents(rows(text))) or [""])
        return pieces.reading()


def _outside_blocks(lines: Sequence[str]) -> Iterator[str]:
    """The lines outside block scalars, which may contain anything."""
    inside = -1
    for line in lines:
        indent = len(line) - len(line.lstrip(" "))
        if inside >= 0 and (indent > inside or not line.strip()):
            continue
        inside = indent if _BLOCK.search(line) else -1
        yield line


@dataclass(slots=True)
class _Open:
    """A key or a list entry whose value is being read: its text, or its children."""

    level: int
    key: str = ""
    text: str = ""
    children: list[Member] = field(default_factory=list[Member])

    def value(self) -> Value:
        """The text, or the record or list of its children."""
        return record_of(self.children) if self.children else self.text.strip("\"'")


def _documents(lines: Sequence[str]) -> Iterator[Value]:
    """Each document, read by its indentation; scalars stay text."""
    around = [_Open(-1)]
    block = -1  # the indentation of a block text's key
    for line in (*lines, "---"):
        bare = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        if block >= 0 and (indent > block or not bare):
            around[-1].text += f"{bare}\n"
            continue
        block = -1
        if _BREAK.match(line):
            _close(around, 0)
            if around[0].children or around[0].text:
                yield around[0].value()
            around = [_Open(-1)]
            continue
        if not bare or bare.startswith("#"):
            continue
        while bare.startswith("- ") or bare == "-":
            _close(around, 2 * indent + 1)
            around.append(_Open(2 * indent + 1))
            rest = bare[1:].lstrip()
            indent, bare = indent + len(bare) - len(rest), rest
            if len(around) > DEEPEST:
                break
        goes_on = bool(around[-1].text) and 2 * indent > around[-1].level
        entry = _ENTRY.match(bare) or (None if goes_on else _SPACED.match(bare))
        if entry and entry["key"] is not None and len(around) <= DEEPEST:
            _close(around, 2 * indent)
            around.append(_Open(2 * indent, entry["key"].strip("\"'"), bare[entry.end() :].strip()))
            if ("|" in line or ">" in line) and _BLOCK.search(line):
                around[-1].text, block = "", indent
        else:
            around[-1].text = f"{around[-1].text} {bare}".strip()


def _close(around: list[_Open], level: int) -> None:
    """Close all open entries at this level or deeper."""
    while around[-1].level >= level:
        closed = around.pop()
        around[-1].children.append((closed.key, closed.value()))
