"""Parts of a text: a field of JSON, a range of lines, lines that match a pattern."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.kernel.errors import ConfigError, InputError, MissingExtraError
from holdfast.kernel.registry import imported
from holdfast.text.visible import LISTED

STEP = re.compile(r'\.?([^.\[\]"]+)|\[(-?\d+)\]|\[("(?:[^"\\]|\\.)*")\]')
SPACE = re.compile(r"[ \t\n\r]*")
BOM = "\ufeff"

# Numbers stay text: values are only skipped, and an integer of 5,000 digits must not stop the
# reader.
DECODER = json.JSONDecoder(parse_int=str, parse_float=str, strict=False)


def field_of(text: str, path: str) -> str:
    """The value at a path such as ``a.b[3].c``, ``[-1].id`` or ``["a key"]``.

    A string is returned decoded, any other value as it is written. In JSON lines the first step is
    the number of the line, from 0. If an object repeats a name, the last value counts. Raises
    ConfigError for a malformed path, and InputError if the text is not JSON or has no such field.
    """
    steps = parse_path(path)
    reader = _Reader(text, f"field {path!r}")
    try:
        value = reader.value_at(steps)
    except ValueError as fault:
        raise reader.error(
            f"the text is not JSON ({fault})", "read it by lines or by pattern"
        ) from fault
    except RecursionError as fault:
        raise reader.error(
            "the text is nested too deeply", "read it by lines or by pattern"
        ) from fault
    return str(json.loads(value, strict=False)) if value.startswith('"') else value


def parse_path(path: str) -> list[str]:
    """The steps of a path, each a name or an index.

    Raises ConfigError for a malformed path.
    """
    steps: list[str] = []
    at = 1 if path.startswith("$") else 0
    while at < len(path):
        step = STEP.match(path, at)
        if step is None:
            advice = 'a path is written a.b[3].c, a name with signs in it ["so"]'
            raise ConfigError(
                f"{path[at:]!r} is not understood", place=f"field {path!r}", advice=advice
            )
        name, number, quoted = step.groups()
        steps.append(name or number or str(json.loads(quoted, strict=False)))
        at = step.end()
    return steps


@dataclass(frozen=True, slots=True)
class _Span:
    """The start and end of a value in the text."""

    start: int
    end: int


class _Reader:
    def __init__(self, text: str, place: str) -> None:
        self._text = text
        self._place = place

    def error(self, problem: str, advice: str) -> InputError:
        return InputError(problem, place=self._place, advice=advice)

    def value_at(self, steps: Sequence[str]) -> str:
        values = list(self._values())
        if len(values) == 1:
            span = values[0]
        elif not values:
            raise ValueError("it is empty")
        elif not steps:
            return self._text
        else:
            span, steps = self._nth(values, steps[0]), steps[1:]
        for step in steps:
            span = self._child(span, step)
        return self._text[span.start : span.end]

    def _values(self) -> Iterator[_Span]:
        at = self._space(len(BOM) if self._text.startswith(BOM) else 0)
        while at < len(self._text):
            span = self._skip(at)
            yield span
            at = self._space(span.end)

    def _child(self, parent: _Span, step: str) -> _Span:
        sign = self._text[parent.start]
        if sign == "[":
            return self._nth([value for _, value in self._inside(parent, named=False)], step)
        if sign != "{":
            raise self.error(
                f"there is no {step!r} in a value that is not an object or an array", "shorten it"
            )
        members = dict(self._inside(parent, named=True))
        if step not in members:
            more = f" and {len(members) - LISTED:,} more" if len(members) > LISTED else ""
            known = ", ".join(list(members)[:LISTED]) or "no fields"
            raise self.error(f"there is no {step!r}", f"there are {known}{more}")
        return members[step]

    def _nth(self, items: Sequence[_Span], step: str) -> _Span:
        try:
            return items[int(step)]
        except (ValueError, IndexError) as fault:
            raise self.error(
                f"there is no item {step!r}", f"there are {len(items):,}, counted from 0"
            ) from fault

    def _inside(self, parent: _Span, *, named: bool) -> Iterator[tuple[str, _Span]]:
        """The values of an object with their names, or of an array without."""
        at = self._space(parent.start + 1)
        while at < parent.end - 1:
            name = ""
            if named:
                name, end = DECODER.raw_decode(self._text, at)
                at = self._space(self._space(end) + 1)
            value = self._skip(at)
            yield name, value
            at = self._space(self._space(value.end) + 1)

    def _skip(self, at: int) -> _Span:
        return _Span(at, DECODER.raw_decode(self._text, at)[1])

    def _space(self, at: int) -> int:
        found = SPACE.match(self._text, at)
        return found.end() if found else at


SIGNS = frozenset(r"\.^$*+?{}[]|()")


@dataclass(frozen=True, slots=True)
class TextExcerpt:
    """Lines of a text with their line ends, unchanged.

    ``numbers`` are their numbers, from 1; ``total`` is the number of lines before the selection.
    """

    text: str
    numbers: Sequence[int]
    total: int

    def numbered(self) -> str:
        """The lines after their numbers, as ``grep -n`` prints them."""
        return "".join(
            f"{n}:{line}" for n, line in zip(self.numbers, split_lines(self.text), strict=True)
        )


def excerpt(
    text: str,
    *,
    lines: tuple[int, int] | None = None,
    pattern: str | None = None,
    field: str | None = None,
) -> TextExcerpt:
    """Select the field, then the range of its lines, then those that match the pattern.

    ``lines`` is first and last, from 1, both included; lines beyond the end are ignored. A pattern
    of plain words is searched literally, any other is a regular expression of RE2. ``field``: see
    ``field_of``. Raises ConfigError for a malformed argument, InputError if there is no such field,
    and MissingExtraError if the pattern needs RE2 and it is not installed.
    """
    whole = text if field is None else field_of(text, field)
    if lines is None and pattern is None:
        return TextExcerpt(whole, range(1, _count(whole) + 1), _count(whole))
    every = split_lines(whole)
    first, last = _checked(lines) if lines else (1, len(every))
    found = _matcher(pattern)
    numbers = [
        n for n, line in enumerate(every[first - 1 : last], first) if found(line.rstrip("\r\n"))
    ]
    return TextExcerpt("".join(every[n - 1] for n in numbers), numbers, len(every))


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
    compiled = _compiled(pattern)
    return lambda line: compiled.search(_utf8(line)) is not None


def _compiled(pattern: str) -> Any:
    """The pattern of RE2, which takes linear time for any pattern and text.

    Raises ConfigError, with the problem, for a malformed one.
    """
    try:
        # not a plain import: the package has no types for the checkers
        re2: Any = imported("re2")
    except ImportError as missing:
        raise MissingExtraError("a pattern that is more than plain text") from missing
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(_utf8(pattern), options)
    except re2.error as fault:
        reason = fault.args[0].decode("utf-8", "replace")
        advice = "a pattern is a regular expression of RE2, without look-around and back-references"
        raise ConfigError(reason, place=f"pattern {pattern!r}", advice=advice) from fault


def _utf8(text: str) -> bytes:
    # a lone surrogate becomes a question mark, since RE2 refuses it
    return text.encode("utf-8", "replace")
