"""A part of a text: a field of it, a range of its lines, the lines that match a pattern, or all three in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from holdfast.kernel.errors import ConfigError
from holdfast.kernel.registry import Registry

from .fields import field_of

PATTERNS = Registry(
    noun="kind of pattern", group="patterns", table={"re2": "holdfast.stores.artifacts.patterns:Pattern"}
)

SIGNS = frozenset(r"\.^$*+?{}[]|()")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a text, exactly as they stand there, line ends included.

    ``numbers`` are theirs, from 1; ``total`` is how many lines there are to choose from.
    """

    text: str
    numbers: Sequence[int]
    total: int

    def numbered(self) -> str:
        """Each line after its number, as ``grep -n`` prints it."""
        return "".join(f"{n}:{line}" for n, line in zip(self.numbers, split_lines(self.text), strict=True))


def excerpt(
    text: str,
    *,
    lines: tuple[int, int] | None = None,
    pattern: str | None = None,
    field: str | None = None,
) -> Excerpt:
    """First the field, then the range of its lines, then of these the ones that match.

    ``lines`` is first and last, from 1, both included; what is beyond the end is not an error. A pattern of plain
    words is looked for as it is, any other is a regular expression of RE2. ``field``: see ``field_of``.
    Raises ConfigError if an argument is not understood, InputError if there is no such field, MissingExtraError
    if the pattern needs RE2 and it is not installed.
    """
    whole = text if field is None else field_of(text, field)
    if lines is None and pattern is None:
        return Excerpt(whole, range(1, _count(whole) + 1), _count(whole))
    every = split_lines(whole)
    first, last = _checked(lines) if lines else (1, len(every))
    found = _matcher(pattern)
    numbers = [n for n, line in enumerate(every[first - 1 : last], first) if found(line.rstrip("\r\n"))]
    return Excerpt("".join(every[n - 1] for n in numbers), numbers, len(every))


def split_lines(text: str) -> list[str]:
    """The lines with their ends. Only a line feed ends a line, as in grep and sed."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _count(text: str) -> int:
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def _checked(lines: tuple[int, int]) -> tuple[int, int]:
    first, last = lines
    if not 1 <= first <= last:
        advice = "write the first and the last line, counted from 1"
        raise ConfigError(f"{first}:{last} is not a range", place="lines", advice=advice)
    return lines


def _matcher(pattern: str | None) -> Callable[[str], bool]:
    if pattern is None:
        return lambda _: True
    if SIGNS.isdisjoint(pattern):
        return lambda line: pattern in line
    compiled = cast("Callable[[str], Callable[[str], bool]]", PATTERNS.load("re2"))
    return compiled(pattern)
