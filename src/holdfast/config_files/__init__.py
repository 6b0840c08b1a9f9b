"""Configuration files as data that knows the line of each key, and TOML."""

import re
import tomllib
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.kernel.errors import ConfigError
from holdfast.kernel.registry import Registry, nearest
from holdfast.kernel.typed import is_object, walked

READERS = Registry(
    "form of a configuration file",
    "config_files",
    """
        .toml holdfast.config_files:read
        .yaml holdfast.config_files.yaml:read
        .yml holdfast.config_files.yaml:read
    """,
)
"""The readers by file ending.

Each returns the tables of a text, and a function that gives the line of each key, from 1.
"""

Table = Mapping[str, Any]


class ConfigFile(NamedTuple):
    """The tables of a file or of the environment.

    ``name`` begins the place in errors; ``origin`` returns where a key is set.
    """

    name: str
    data: Table
    origin: Callable[[str], str]
    folder: Path | None = None
    """The folder of relative paths in it; by default the working directory."""


def read_config(path: str | Path, *within: str) -> ConfigFile:
    """Read a file, or one of its tables; a missing table is empty.

    Raises ConfigError if it cannot be read.
    """
    name, place = str(path), Path(path)
    try:
        text = place.read_text("utf-8-sig")
    except (OSError, ValueError) as fault:
        said = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8"
        raise ConfigError(
            f"it cannot be read ({said})", place=name, advice="name a TOML or YAML file"
        ) from fault
    return config_of(text, name, place.suffix.lower(), *within, folder=place.parent)


def config_of(
    text: str, name: str, suffix: str = ".toml", *within: str, folder: Path | None = None
) -> ConfigFile:
    """Read text in the format of files with this suffix."""
    head = ".".join(within)
    with inside(name):
        found: object
        found, lines = READERS.load(suffix)(text)
    for key in within:
        found = found.get(key, {}) if is_object(found) else {}
    known = cache(lines)

    def origin(path: str) -> str:
        whole = f"{head}.{path}" if head else path
        while whole and whole not in known():
            whole = above(whole)
        return f"{name}:{known()[whole]}" if whole else name

    if not is_object(found):
        place = f"{origin('')}: {head}"
        raise ConfigError(f"{found!r} is not a table", place=place, advice=f"write [{head}]")
    return ConfigFile(name, found, origin, folder)


def above(path: str) -> str:
    """The path of the table that contains a key."""
    return re.sub(r"(^|\.|\[)[^.\[]*$", "", path)


def check_keys(data: Table, known: Collection[str], place: str = "") -> None:
    """Raise ConfigError for an unknown key, with the nearest known one."""
    for key in data:
        if key not in known:
            raise unknown_key(f"{place}.{key}" if place else key, known)


def unknown_key(path: str, known: Collection[str], noun: str = "key") -> ConfigError:
    """The error for an unknown key."""
    advice = nearest(path.rpartition(".")[2], known) if known else "nothing can be set here"
    return ConfigError(f"there is no such {noun}", place=path, advice=advice)


@contextmanager
def inside(place: str, keys: Collection[str] = ()) -> Generator[None]:
    """Add a place to an error, unless its place is one of these keys."""
    try:
        yield
    except ConfigError as fault:
        key = fault.place.rpartition(".")[2]
        if key in keys:
            whole = f"{place}.{key}" if place else key
        elif fault.place.startswith(place):
            whole = fault.place
        else:
            whole = f"{place}: {fault.place}" if fault.place else place
        raise fault.at(whole) from fault


def read(text: str) -> tuple[dict[str, object], Callable[[], dict[str, int]]]:
    """Return the tables and a function for their lines. Raises ConfigError for invalid TOML."""
    try:
        return tomllib.loads(text), partial(_lines, text)
    except tomllib.TOMLDecodeError as fault:
        raise ConfigError(f"this is not TOML ({fault})") from fault


def _lines(text: str) -> dict[str, int]:
    """The line at which each key of the text first appears, by its path."""
    found: dict[str, int] = {}
    lines = text.split("\n")
    start = 1
    for end in range(1, len(lines) + 1):
        with suppress(tomllib.TOMLDecodeError):  # the value continues on the next line
            for path, _ in walked(tomllib.loads("\n".join(lines[:end]))):
                found.setdefault(path, start)
            start = end + 1
    return found
