"""Named pipelines as data: one TOML file each, read strictly."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import lru_cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast, get_args

from holdfast.compressors import COMPRESSORS
from holdfast.compressors.knobs import check_knobs
from holdfast.compressors.pipeline import Named, Pipeline, Stepwise
from holdfast.kernel.budget import Share
from holdfast.kernel.compressor import Compressor
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.transcript import Preference

PREFERS: tuple[Preference, ...] = ("task", "newest_user")


@dataclass(frozen=True, slots=True)
class Profile:
    """A pipeline under a name."""

    name: str
    description: str = ""
    """One line for people."""

    prefers: tuple[Preference, ...] = PREFERS
    """What stays while it fits: the first message of a user (the task), the newest one."""

    step: float = 0.0
    """What goes, goes in steps of this share of the budget, unless the budget says otherwise."""

    headroom: float = 0.0
    """Share of the budget that stays free, unless the budget says otherwise."""

    trigger: Share = 1.0
    """What starts a compression, in tokens or as a share of the budget, unless the budget says
    otherwise."""

    counter: str = ""
    """By which its numbers are meant, where the caller names neither a counter nor a model."""

    redact: bool = False
    """Whether secrets are masked before anything is stored, summarised or referred to."""

    steps: tuple[Compressor, ...] = ()
    """The strategies, in order of rising cost."""

    def __post_init__(self) -> None:
        check_knobs(self)
        for name in ("step", "headroom"):
            if getattr(self, name) >= 1:
                raise ConfigError(
                    f"{getattr(self, name)!r} is not a share in [0, 1)", place=f"Profile.{name}"
                )


_HERE = Path(__file__).parent
_DESIGNS = _HERE.parent / "designs"
_ALIASES = {"cost_optimized": "economy"}


def profile_names() -> list[str]:
    """The pipelines that come with the package; each ends with what meets the budget."""
    return sorted(_paths(_HERE, _DESIGNS))


def preset_names() -> list[str]:
    """Single strategies of published designs, with their numbers: exact, whatever the budget."""
    return sorted(_paths(_DESIGNS / "presets"))


def has_profile(name: str) -> bool:
    """Whether a profile or a preset that comes with the package has this name."""
    return name in _paths(_HERE, _DESIGNS, _DESIGNS / "presets")


@lru_cache
def _paths(*places: Path) -> Mapping[str, Path]:
    return {path.stem: path for place in places for path in place.glob("*.toml")}


def load_profile(profile: str | PathLike[str]) -> Profile:
    """A profile by its name, or from a file ending in ``.toml``, which is read each time.

    Raises ConfigError, naming the known profiles or keys, for what it does not know.
    """
    name = fspath(profile)
    return read_profile(_file_text(name), place=name) if name.endswith(".toml") else _built_in(name)


@lru_cache(maxsize=64)
def _built_in(name: str) -> Profile:
    asked = _ALIASES.get(name, name)
    paths = _paths(_HERE, _DESIGNS, _DESIGNS / "presets")
    if asked not in paths:
        known = [*profile_names(), *preset_names()]
        raise ConfigError(f"there is no profile named {name!r}", advice=_known(name, known))
    return read_profile(paths[asked].read_text("utf-8"), place=f"profile {asked}")


def read_profile(text: str, place: str = "profile") -> Profile:
    """The profile that a TOML text describes."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise ConfigError(f"this is not TOML ({fault})", place=place) from fault
    _check_keys(data, [field.name for field in fields(Profile)], place)
    if not data.get("name"):
        raise ConfigError("it has no name", place=place, advice='add name = "..."')
    steps = data.pop("steps", [])
    if not isinstance(steps, list):
        raise ConfigError("steps are not a list of tables", place=place, advice="write [[steps]]")
    data["prefers"] = _preferences(data.get("prefers", PREFERS), place)
    numbered = enumerate(cast("list[object]", steps))
    read = tuple(read_step(step, f"{place}: steps[{n}]") for n, step in numbered)
    with _at(place):
        return Profile(**data, steps=read)


def read_step(data: object, place: str) -> Compressor:
    """The strategy that a table names, with the knobs that it sets; also of a result's ``strategy``.

    ``as`` is its name in records, ``strategies`` what a pipeline runs, ``step`` that of ``Stepwise``.
    """
    if not isinstance(data, Mapping) or "strategy" not in data:
        raise ConfigError(
            "a step is a table with a strategy", place=place, advice='add strategy = "..."'
        )
    table = dict(cast("Mapping[str, Any]", data))
    name, shown = table.pop("strategy"), table.pop("as", None)
    if not isinstance(name, str):
        raise ConfigError(
            f"{name!r} is no strategy", place=f"{place}.strategy", advice="give the name of one"
        )
    parts, step = table.pop("strategies", None), table.pop("step", None)
    if isinstance(parts, list):
        numbered = enumerate(cast("list[object]", parts))
        steps = tuple(read_step(part, f"{place}: strategies[{n}]") for n, part in numbered)
        made: Compressor = Pipeline(steps, name)
    else:
        made = _made(name, table, place)
    with _at(place):
        made = made if shown is None else Named(made, shown)
        return made if step is None else Stepwise(made, step)


def _made(name: str, table: Mapping[str, Any], place: str) -> Compressor:
    with _at(place):
        factory = COMPRESSORS.load(name)
    if table and is_dataclass(factory):
        _check_keys(table, [field.name for field in fields(factory) if field.init], place)
    knobs = {key: _knob(value, f"{place}.{key}") for key, value in table.items()}
    try:
        with _at(place):
            return cast("Callable[..., Compressor]", factory)(**knobs)
    except TypeError as fault:
        raise ConfigError(f"these knobs do not fit ({fault})", place=place) from fault


def _knob(value: object, place: str) -> object:
    """A knob as TOML and JSON write it: lists are tuples, a table with a strategy is that."""
    if isinstance(value, list):
        return tuple(_knob(each, place) for each in cast("list[object]", value))
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        return read_step(table, place) if "strategy" in table else table
    return value


@contextmanager
def _at(place: str) -> Generator[None, None, None]:
    """Say in which profile, and where in it, an error is."""
    try:
        yield
    except ConfigError as fault:
        inner = f"{place}: {fault.place}" if fault.place else place
        raise ConfigError(fault.problem, place=inner, advice=fault.advice) from fault


def _preferences(names: object, place: str) -> tuple[Preference, ...]:
    listed = cast("list[object]", names) if isinstance(names, list | tuple) else [names]
    if any(name not in get_args(Preference) for name in listed):
        advice = f"known are {', '.join(get_args(Preference))}"
        raise ConfigError(f"{names!r} are no preferences", place=place, advice=advice)
    return tuple(cast("list[Preference]", listed))


def _check_keys(data: Mapping[str, object], known: list[str], place: str) -> None:
    for key in data:
        if key not in known:
            raise ConfigError(f"{key!r} is not a key here", place=place, advice=_known(key, known))


def _known(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{hint}known are {', '.join(known)}"


def _file_text(name: str) -> str:
    try:
        return Path(name).read_text("utf-8")
    except (OSError, ValueError) as fault:
        said = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8"
        advice = "give the name of a profile, or the path of a TOML file"
        raise ConfigError(
            f"the profile cannot be read ({said})", place=name, advice=advice
        ) from fault
