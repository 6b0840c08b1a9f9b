"""Configuration files as data that knows the line of each key, their merging, and TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.kernel.errors import ConfigError
from holdfast.kernel.registry import Registry, nearest, rows
from holdfast.kernel.typed import is_list, is_object, walked

READERS = Registry(
    "form of a configuration file",
    "config_files",
    rows("""
        .toml holdfast.config_files:read
        .yaml holdfast.config_files.yaml:read
        .yml holdfast.config_files.yaml:read
    """),
)
"""The readers by file ending.

Each returns the tables of a text, and a function that gives the line of each key, from 1.
"""

Table = Mapping[str, Any]

STEPS = "steps"
_BASES = frozenset({"extends", "profile"})
"""The keys that name what a file extends."""


class ConfigFile(NamedTuple):
    """The tables of a file or of the environment.

    ``name`` begins the place in errors; ``origin`` returns where a key is set.
    """

    name: str
    data: Table
    origin: Callable[[str], str]
    folder: Path | None = None
    """The folder of relative paths in it; by default the working directory."""


def is_config_file(name: str) -> bool:
    """Whether a file with this name can be read here."""
    return Path(name).suffix.lower() in READERS.table


def read_config(path: str | Path, *within: str) -> ConfigFile:
    """Read a file, or one of its tables; a missing table is empty.

    Raises ConfigError if it cannot be read.
    """
    name, place = str(path), Path(path)
    try:
        text = place.read_text("utf-8-sig")
    except (OSError, ValueError) as fault:
        said = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8"
        advice = "name a TOML or YAML file"
        raise ConfigError(f"it cannot be read ({said})", place=name, advice=advice) from fault
    return config_of(text, name, place.suffix.lower(), *within, folder=place.parent)


def config_of(
    text: str, name: str, suffix: str = ".toml", *within: str, folder: Path | None = None
) -> ConfigFile:
    """Read text in the format of files with this suffix."""
    if suffix not in READERS:
        problem = f"{suffix!r} is not a form of a configuration file"
        advice = f"let its name end in {', '.join(READERS.names())}"
        raise ConfigError(problem, place=name, advice=advice)
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
            whole = _above(whole)
        return f"{name}:{known()[whole]}" if whole else name

    if not is_object(found):
        place = f"{origin('')}: {head}"
        raise ConfigError(f"{found!r} is not a table", place=place, advice=f"write [{head}]")
    return ConfigFile(name, found, origin, folder)


@dataclass(slots=True)
class Layers:
    """Files merged table by table, where later ones win.

    A list of steps replaces earlier steps. A table of steps changes the knobs of earlier steps, and
    ``false`` removes one; a step is named as in records, or by its strategy. A table that has a
    strategy replaces the step.
    """

    find: Callable[[str, Path | None], ConfigFile]
    """Returns the file that ``extends`` or ``profile`` names in a file of this folder."""
    names_of: Callable[[Table], Collection[str]]
    """The names of a step, the one in records first."""

    whole: Collection[str] = ()
    """The keys that a file with a list of steps replaces together, whether or not it sets each."""

    data: dict[str, Any] = field(default_factory=dict[str, Any])
    _set: dict[str, tuple[ConfigFile, str]] = field(
        default_factory=dict[str, tuple[ConfigFile, str]]
    )
    """The file that set the key of a path, and the path as written there."""

    def add(self, file: ConfigFile, above: tuple[str, ...] = ()) -> None:
        """Merge a file over the others, after the file that it extends."""
        for key in _BASES & file.data.keys():
            with self.telling(file), inside(key):
                below = self._below(file, key, above)
            if isinstance(below.data.get(STEPS), list):
                for each in self.whole:
                    self.data.pop(each, None)
            self.add(below, (*above, below.name))
        self._lay(file, file.data, self.data, "", "")

    def _below(self, file: ConfigFile, key: str, above: tuple[str, ...]) -> ConfigFile:
        name = file.data[key]
        if not isinstance(name, str):
            raise ConfigError(f"{name!r} is not a name", advice="name a profile or a file")
        if len(_BASES & file.data.keys()) > 1:
            raise ConfigError(f"{' and '.join(sorted(_BASES))} say the same", advice="give one")
        below = self.find(name, file.folder)
        if below.name in above:
            raise ConfigError(f"{name!r} extends itself", advice="name another")
        return below

    @contextmanager
    def telling(self, file: ConfigFile | None = None) -> Generator[None]:
        """Add the file and line of the wrong key to an error."""
        try:
            yield
        except ConfigError as fault:
            path, place = fault.place.partition(": ")[0], fault.place
            if file is not None:
                place = f"{file.origin(path)}: {place}" if place else file.name
            else:
                while path and path not in self._set:
                    path = _above(path)
                if path:
                    written = self._set[path][1]
                    place = f"{self.origin(path)}: {written}{place.removeprefix(path)}"
            raise fault.at(place) from fault

    def origin(self, path: str) -> str:
        """The file and line that set the key of a path, such as ``limits.timeout``."""
        file, written = self._set[path]
        return file.origin(written)

    def _lay(
        self,
        file: ConfigFile,
        upper: Table,
        lower: dict[str, Any],
        head: str,
        written: str,
    ) -> None:
        for key, value in upper.items():
            path, said = f"{head}{key}", f"{written}{key}"
            if path == STEPS and is_list(value):
                lower[key] = {}
                self._list(file, value, lower[key])
            elif path == STEPS and is_object(value):
                self._change(file, value, lower.setdefault(key, {}))
            elif is_object(value):
                below = lower.get(key)
                lower[key] = below if is_object(below) else {}
                self._lay(file, value, lower[key], f"{path}.", f"{said}.")
            else:
                lower[key] = value
            self._set[path] = file, said

    def _list(self, file: ConfigFile, steps: Sequence[object], made: dict[str, Any]) -> None:
        """Add the steps of a list."""
        for n, step in enumerate(steps):
            written = f"{STEPS}[{n}]"
            with self.telling(file):
                if not is_object(step) or not isinstance(step.get("strategy"), str):
                    problem, advice = "a step is a table with a strategy", 'add strategy = "..."'
                    raise ConfigError(problem, place=written, advice=advice)
            label = str(step.get("as", step["strategy"]))
            while label in made:  # a prime for each step before it of the same name
                label += "'"
            made[label] = {}
            self._set[f"{STEPS}.{label}"] = file, written
            self._lay(file, step, made[label], f"{STEPS}.{label}.", f"{written}.")

    def _change(self, file: ConfigFile, steps: Table, made: dict[str, Any]) -> None:
        """Change or remove the steps that a table names."""
        for name, knobs in steps.items():
            written = f"{STEPS}.{name}"
            with self.telling(file):
                label = self._label(name, made)
                if not is_object(knobs) and knobs is not False:
                    advice = "give a table of knobs, or false to leave the step out"
                    raise ConfigError(f"{knobs!r} are not knobs", place=written, advice=advice)
            self._set[f"{STEPS}.{label}"] = file, written
            if not is_object(knobs):
                del made[label]
                continue
            if "strategy" in knobs:
                made[label] = {}
            self._lay(file, knobs, made[label], f"{STEPS}.{label}.", f"{written}.")

    def _label(self, name: str, made: Table) -> str:
        called = {label: {label, *self.names_of(step)} for label, step in made.items()}
        found = [label for label, names in called.items() if name in names]
        if found:
            return name if name in found else found[0]
        known = sorted({each for names in called.values() for each in names})
        if not known:
            advice = "name what it extends, or write [[steps]]"
            raise ConfigError(
                "there are no steps to change", place=f"{STEPS}.{name}", advice=advice
            )
        raise unknown_key(f"{STEPS}.{name}", known, "step")


def _above(path: str) -> str:
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
