"""TOML, read by the standard library; each statement is parsed alone to learn its line."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import cast

from holdfast.kernel.errors import ConfigError


def read(text: str) -> tuple[dict[str, object], Callable[[], dict[str, int]]]:
    """Return the tables and a function for their lines. Raises ConfigError for invalid TOML."""
    try:
        return tomllib.loads(text), partial(_lines, text)
    except tomllib.TOMLDecodeError as fault:
        raise ConfigError(f"this is not TOML ({fault})") from fault


def _lines(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    tables: dict[str, int] = {}
    head = statement = ""
    start = 1
    for number, line in enumerate(text.split("\n"), 1):
        statement += f"{line}\n"
        try:
            said = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:  # the value continues on the next line
            continue
        if statement.lstrip().startswith("["):
            head = _headed(said, tables)
            found.setdefault(head, start)
        else:
            for path in _paths(said, head):
                found.setdefault(path, start)
        start, statement = number + 1, ""
    return found


def _headed(said: object, tables: dict[str, int]) -> str:
    """The path of a table by its header; ``tables`` counts the entries of each array of tables."""
    head = ""
    while isinstance(said, dict) and said:
        ((key, said),) = cast("dict[str, object]", said).items()
        head = f"{head}.{key}" if head else key
        if isinstance(said, list):
            tables[head] = tables.get(head, 0) + 1
            said = None
        if head in tables:
            head = f"{head}[{tables[head] - 1}]"
    return head


def _paths(value: object, head: str = "") -> Iterator[str]:
    """The path of every key in a value, such as ``limits.timeout`` or ``steps[1].strategy``."""
    if isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, object]", value).items():
            path = f"{head}.{key}" if head else key
            yield path
            yield from _paths(inner, path)
    elif isinstance(value, list):
        for n, inner in enumerate(cast("list[object]", value)):
            yield from _paths(inner, f"{head}[{n}]")
