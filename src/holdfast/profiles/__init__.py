"""Named pipelines as data: one TOML file each, checked when it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from inspect import signature
from os import PathLike, fspath
from pathlib import Path

from holdfast.compressors import COMPRESSORS
from holdfast.compressors.pipeline import Named, Pipeline, Stepwise
from holdfast.config_files import (
    ConfigFile,
    Layers,
    Table,
    check_keys,
    config_of,
    inside,
    is_config_file,
    read_config,
)
from holdfast.kernel.budget import Share
from holdfast.kernel.compressor import Compressor, Planner
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.registry import nearest
from holdfast.kernel.transcript import Preference
from holdfast.kernel.typed import Portion, check_fields, check_type, is_list, is_object

PREFERS: tuple[Preference, ...] = ("task", "newest_user")


@dataclass(frozen=True, slots=True)
class Profile:
    """A pipeline under a name."""

    name: str
    description: str = ""
    """One line for people."""

    prefers: tuple[Preference, ...] = PREFERS
    """What stays while it fits: the user's first message (the task), and the newest one."""

    step: Portion = 0.0
    """Messages are removed in steps of this share of the budget, unless the budget has its own."""

    headroom: Portion = 0.0
    """Share of the budget that stays free, unless the budget has its own."""

    trigger: Share = 1.0
    """What starts a compression, in tokens or as a share of the budget, unless the budget has its
    own.
    """

    counter: str = ""
    """The counter for which its numbers are meant; used if the caller names neither counter nor
    model.
    """

    redact: bool = False
    """Whether secrets are masked before anything is stored, summarised or referred to."""

    by_cost: bool = False
    """Whether costs decide between trigger and limit, if the model's price is known."""

    steps: tuple[Planner, ...] = ()
    """The strategies, in order of rising cost."""

    def __post_init__(self) -> None:
        check_fields(self)


PROFILE_KEYS = ("extends", *(field.name for field in fields(Profile)))
"""The keys of a profile's file; ``extends`` names the profile or file that it changes."""

_HERE = Path(__file__).parent
_DESIGNS = _HERE.parent / "designs"
_PRESETS = _DESIGNS / "presets"


def profile_names() -> list[str]:
    """The built-in pipelines; each ends with a step that meets the budget."""
    return sorted(_paths(_HERE, _DESIGNS))


def preset_names() -> list[str]:
    """Single strategies of published designs, with their numbers, which ignore the budget."""
    return sorted(_paths(_PRESETS))


def has_profile(name: str) -> bool:
    """Whether there is a built-in profile or preset of this name."""
    return name in _paths(_HERE, _DESIGNS, _PRESETS)


@lru_cache
def _paths(*places: Path) -> Mapping[str, Path]:
    return {path.stem: path for place in places for path in place.glob("*.toml")}


def load_profile(profile: str | PathLike[str] | Profile) -> Profile:
    """Return the profile of this name, or read it from a TOML or YAML file.

    A file is read at each call. Raises ConfigError, listing the known profiles or keys, for an
    unknown one.
    """
    if isinstance(profile, Profile):
        return profile
    name = fspath(profile)
    return _built_in(name) if has_profile(name) else _read(named_profile(name))


@lru_cache(maxsize=64)
def _built_in(name: str) -> Profile:
    return _read(named_profile(name))


def read_profile(text: str, place: str = "profile") -> Profile:
    """Read a profile from TOML text."""
    return _read(config_of(text, place))


def profile_layers() -> Layers:
    """Empty layers, for files that may extend profiles."""
    return Layers(named_profile, _names_of, PROFILE_KEYS)


def named_profile(name: str, folder: Path | None = None) -> ConfigFile:
    """The file of a built-in profile, or of one in the folder."""
    if is_config_file(name):
        return read_config(name if folder is None else folder / name)
    paths = _paths(_HERE, _DESIGNS, _PRESETS)
    if name not in paths:
        advice = nearest(name, [*profile_names(), *preset_names()])
        raise ConfigError(f"there is no profile named {name!r}", advice=advice)
    return config_of(paths[name].read_text("utf-8"), f"profile {name}")


def _read(file: ConfigFile) -> Profile:
    layers = profile_layers()
    layers.add(file)
    with layers.telling(file):
        check_keys(layers.data, PROFILE_KEYS)
        if not layers.data.get("name"):
            raise ConfigError("it has no name", advice='add name = "..."')
    return profile_of(layers)


def profile_of(layers: Layers) -> Profile:
    """The profile of all layers; keys outside of ``PROFILE_KEYS`` are ignored."""
    data = {key: value for key, value in layers.data.items() if key in PROFILE_KEYS}
    data.pop("extends", None)
    with layers.telling():
        tables = data.pop("steps", {})
        if not is_object(tables):
            raise ConfigError("they are not tables", place="steps", advice="write [[steps]]")
        if is_list(prefers := data.get("prefers")):
            data["prefers"] = tuple(prefers)
        steps = tuple(read_step(table, f"steps.{label}") for label, table in tables.items())
        with inside("", data):
            return Profile(**data, steps=steps)


def _names_of(step: Table) -> set[str]:
    """The names of a step: those of its strategy in the table and in records."""
    called = str(step.get("strategy"))
    try:
        return {called, _made(called, {}, "").name}
    except ConfigError:  # unknown, or with required knobs
        return {called}


def read_step(data: object, place: str = "strategy") -> Compressor:
    """The strategy that a table describes, or the ``strategy`` of a result, with its knobs.

    ``as`` is its name in records, ``strategies`` are the steps of a pipeline, and ``step`` is that
    of ``Stepwise``.
    """
    if not is_object(data) or "strategy" not in data:
        raise ConfigError(
            "a step is a table with a strategy", place=place, advice='add strategy = "..."'
        )
    table = dict(data)
    name, shown = table.pop("strategy"), table.pop("as", None)
    check_type(name, str, f"{place}.strategy")
    check_type(shown, str | None, f"{place}.as")
    parts, step = table.pop("strategies", None), table.pop("step", None)
    if is_list(parts):
        numbered = enumerate(parts)
        steps = tuple(read_step(part, f"{place}.strategies[{n}]") for n, part in numbered)
        made: Compressor = Pipeline(steps, name)
    else:
        made = _made(name, table, place)
    with inside(place, ("step",)):
        made = made if shown is None else Named(made, shown)
        return made if step is None else Stepwise(made, step)


def _made(name: str, table: Table, place: str) -> Compressor:
    with inside(f"{place}.strategy"):
        factory: Callable[..., Compressor] = COMPRESSORS.load(name)
    check_keys(table, list(signature(factory).parameters), place)
    knobs = {key: _knob(value, f"{place}.{key}") for key, value in table.items()}
    try:
        with inside(place, knobs):
            return factory(**knobs)
    except TypeError as fault:
        raise ConfigError(f"these knobs do not fit ({fault})", place=place) from fault


def _knob(value: object, place: str) -> object:
    """A knob from TOML or JSON: lists become tuples, a table with a strategy becomes one."""
    if is_list(value):
        return tuple(_knob(each, place) for each in value)
    return read_step(value, place) if is_object(value) and "strategy" in value else value
