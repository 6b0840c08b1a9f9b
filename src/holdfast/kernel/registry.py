"""Names of implementations, with entry points of other packages, and old names that warn."""

import sys
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import lru_cache, wraps
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast
from warnings import warn

from .errors import ConfigError, MissingExtraError


def _rows(listed: str) -> dict[str, str]:
    pairs = (line.strip().partition(" ") for line in listed.strip().splitlines())
    return {name: meant for name, _, meant in pairs}


class Registry:
    """A table from names to ``"module:Attribute"``, imported on first use.

    ``table`` and ``aliases`` are texts, with a name and what it stands for in each line. ``noun``
    is used in errors. Other packages add names through the entry point group ``holdfast.<group>``;
    a built-in name takes precedence. An entry point in one of the groups ``formerly`` causes a
    warning.
    """

    def __init__(
        self, noun: str, group: str, table: str, aliases: str = "", formerly: Iterable[str] = ()
    ) -> None:
        self.noun, self.group, self.formerly = noun, group, formerly
        self.table, self.aliases = map(_rows, (table, aliases))

    def load(self, name: str) -> Any:
        """Import what the name stands for. Raises ConfigError, listing the known names."""
        if not isinstance(cast("object", name), str):
            raise ConfigError(
                f"{name!r} is not a name of a {self.noun}",
                place=self.noun,
                advice=nearest("", self.names(), self.aliases),
            )
        target = self.table.get(self.aliases.get(name, name))
        if target is not None:
            return imported(target)
        for point in self._outside():
            if point.name == name:
                return point.load()
        raise self.unknown(name)

    def opened(self, scheme: str, url: str) -> Any:
        """What the class of this name makes of a URL, by its ``from_url``."""
        opener = getattr(self.load(scheme), "from_url", None)
        if opener is None:
            raise ConfigError(f"what {scheme!r} names has no from_url", place=self.noun)
        return opener(url)

    def unknown(self, name: str) -> ConfigError:
        """The error for a name that nothing has, listing the known ones."""
        advice = nearest(name, self.names(), self.aliases)
        return ConfigError(f"there is no {self.noun} named {name!r}", advice=advice)

    def __contains__(self, name: str) -> bool:
        """Whether the table or an installed package has the name."""
        return self.aliases.get(name, name) in self.table or name in self.added()

    def names(self) -> list[str]:
        """All known names, sorted."""
        return sorted([*self.table, *self.added()])

    def added(self) -> list[str]:
        """The names that installed packages add, sorted."""
        return sorted({point.name for point in self._outside()} - self.table.keys())

    def _outside(self) -> Iterable[Any]:
        """The entry points of installed packages; metadata is read only if there is one."""
        if not _brings(tuple(sys.path)):
            return ()
        from importlib.metadata import entry_points

        for group in self.formerly:
            for point in entry_points(group=f"holdfast.{group}"):
                warn(
                    f"nothing reads {point.name!r} of the entry point group holdfast.{group} "
                    f"any more; give a {self.noun} in holdfast.{self.group}",
                    DeprecationWarning,
                    stacklevel=3,
                )
        return entry_points(group=f"holdfast.{self.group}")


def imported(target: str) -> Any:
    """The object at ``"module:attribute"``, or the module, imported when it is needed."""
    name, _, attribute = target.partition(":")
    module = import_module(name)
    return getattr(module, attribute) if attribute else module


@contextmanager
def needed_by(need: str, extra: str = "") -> Generator[None]:
    """Turn a failed import inside the block into MissingExtraError."""
    try:
        yield
    except ImportError as missing:
        raise MissingExtraError(need, extra) from missing


def similar(name: str, known: Collection[str], least: float = 0.6) -> str:
    """The known name that is most similar, as difflib measures it; empty below ``least``."""
    return next(iter(imported("difflib:get_close_matches")(name, known, 1, least)), "")


def nearest(name: str, known: Collection[str], aliases: Iterable[str] = ()) -> str:
    """Advice for an unknown name: the most similar name, and all known ones."""
    near = similar(name, [*known, *aliases])
    hint = f"did you mean {near!r}? " if near else ""
    return f"{hint}known are {', '.join(known)}"


def moved_names(module: str, places: Mapping[str, str]) -> Callable[[str], object]:
    """A module ``__getattr__`` that finds moved names in their new modules, and warns."""

    def found(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn(f"{module}.{name} is now in {places[name]}", DeprecationWarning, stacklevel=2)
        return getattr(import_module(places[name]), name)

    return found


@lru_cache(maxsize=8)
def _brings(places: tuple[str, ...]) -> bool:
    """Whether a package in these directories may have an entry point of ours.

    Looking into the files takes 2 ms; loading ``importlib.metadata`` takes 30.
    """
    for place in map(Path, places):
        if place.is_file():  # an archive: importlib.metadata reads it
            return True
        for info in place.glob("*-info/entry_points.txt"):
            if b"[holdfast." in info.read_bytes():
                return True
    return False


F = TypeVar("F", bound=Callable[..., Any])


def renamed_argument(old: str, new: str) -> Callable[[F], F]:
    """Let a function accept an argument under its old name too."""

    def decorated(function: F) -> F:
        @wraps(function)
        def called(*given: Any, **named: Any) -> Any:
            if old in named:
                problem = f"{function.__name__}({old}=...) is deprecated: write {new}=..."
                warn(problem, DeprecationWarning, stacklevel=2)
                named[new] = named.pop(old)
            return function(*given, **named)

        return cast("F", called)

    return decorated
