"""Parts of a text: a field of JSON, a range of lines, lines that match a pattern."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from holdfast.kernel.errors import ConfigError, InputError
from holdfast.kernel.registry import imported, needed_by
from holdfast.text.visible import first_of

STEP = re.compile(r'\.?([^.\[\]"]+)|\[(-?\d+)\]|\[("(?:[^"\\]|\\.)*")\]')
GAP = re.compile(r"[ \t\n\r,:]*")
"""What stands between documents, and between the names and the values in one."""

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
    place, advice = f"field {path!r:.80}", "read it by lines or by pattern"
    steps = parse_path(path)
    try:
        value = _value_at(text, steps)
    except InputError as fault:
        raise fault.at(place) from fault
    except (ValueError, RecursionError) as fault:
        is_deep = isinstance(fault, RecursionError)
        problem = "nested too deeply" if is_deep else f"not JSON ({fault})"
        raise InputError(f"the text is {problem}", place=place, advice=advice) from fault
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
            raise ConfigError(
                f"{path[at:]!r:.80} is not understood",
                place=f"field {path!r:.80}",
                advice='a path is written a.b[3].c, a name with signs in it ["so"]',
            )
        name, number, quoted = step.groups()
        steps.append(name or number or str(json.loads(quoted, strict=False)))
        at = step.end()
    return steps


def _value_at(text: str, steps: Sequence[str]) -> str:
    """The value as it is written. Raises ValueError for a text that is not JSON."""
    text = text.removeprefix(BOM)
    values = [value for _, value in _values(text, slice(0, len(text)))]
    if not values:
        raise ValueError("it is empty")
    span = values[0]
    if len(values) > 1:
        if not steps:
            return text
        span, steps = _nth(values, steps[0]), steps[1:]
    for step in steps:
        span = _child(text, span, step)
    return text[span]


def _child(text: str, parent: slice, step: str) -> slice:
    sign = text[parent.start]
    if sign not in "[{":
        raise InputError(
            f"there is no {step!r:.80} in a value that is not an object or an array",
            advice="shorten it",
        )
    inside = slice(parent.start + 1, parent.stop - 1)
    items = list(_values(text, inside, named=sign == "{"))
    if sign == "[":
        return _nth([value for _, value in items], step)
    members = dict(items)
    if step not in members:
        known = first_of(members) or "no fields"
        raise InputError(f"there is no {step!r:.80}", advice=f"there are {known}")
    return members[step]


def _nth(items: Sequence[slice], step: str) -> slice:
    try:
        return items[int(step)]
    except (ValueError, IndexError) as fault:
        raise InputError(
            f"there is no item {step!r:.80}", advice=f"there are {len(items):,}, counted from 0"
        ) from fault


def _values(text: str, inside: slice, *, named: bool = False) -> Iterator[tuple[str, slice]]:
    """The places of the values in a part of the text, with the names that stand before them."""
    at = _after_gap(text, inside.start)
    while at < inside.stop:
        name = ""
        if named:
            name, at = DECODER.raw_decode(text, at)
            at = _after_gap(text, at)
        end = DECODER.raw_decode(text, at)[1]
        yield name, slice(at, end)
        at = _after_gap(text, end)


def _after_gap(text: str, at: int) -> int:
    found = GAP.match(text, at)
    return found.end() if found else at


SIGNS = frozenset(r"\.^$*+?{}[]|()")


@dataclass(frozen=True)
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
    every = split_lines(whole)
    first, last = lines or (1, len(every))
    if lines and not 1 <= first <= last:
        raise ConfigError(
            f"{first}:{last} is not a range",
            place="lines",
            advice="write the first and the last line, counted from 1",
        )
    found = _matcher(pattern or "")
    numbers = [
        n for n, line in enumerate(every[first - 1 : last], first) if found(line.rstrip("\r\n"))
    ]
    return TextExcerpt("".join(every[n - 1] for n in numbers), numbers, len(every))


def split_lines(text: str) -> list[str]:
    """The lines with their ends. Only a line feed ends a line, as in grep and sed."""
    return StringIO(text, newline="\n").readlines()


def _matcher(pattern: str) -> Callable[[str], bool]:
    """Plain words, or a pattern of RE2, which takes linear time for any pattern and text.

    Raises ConfigError, with the problem, for a malformed one.
    """
    if SIGNS.isdisjoint(pattern):
        return lambda line: pattern in line
    with needed_by("a pattern that is more than plain text"):
        # not a plain import: the package has no types for the checkers
        re2: Any = imported("re2")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(_utf8(pattern), options)
    except re2.error as fault:
        raise ConfigError(
            fault.args[0].decode("utf-8", "replace")[:80],
            place=f"pattern {pattern!r:.80}",
            advice="a pattern is a regular expression of RE2, "
            "without look-around and back-references",
        ) from fault
    return lambda line: compiled.search(_utf8(line)) is not None


def _utf8(text: str) -> bytes:
    # a lone surrogate becomes a question mark, since RE2 refuses it
    return text.encode("utf-8", "replace")
