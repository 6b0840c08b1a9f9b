"""Named pipelines as data: one TOML file each, merged with what it extends, and checked."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from functools import lru_cache
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any

from holdfast.compressors import COMPRESSORS
from holdfast.compressors.pipeline import Named, Pipeline, Stepwise
from holdfast.config_files import (
    READERS,
    ConfigFile,
    Table,
    above,
    check_keys,
    config_of,
    inside,
    read_config,
    unknown_key,
)
from holdfast.files import name_of
from holdfast.kernel.budget import Share
from holdfast.kernel.compressor import Compressor, Configured, Planner
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.registry import nearest
from holdfast.kernel.transcript import Preference
from holdfast.kernel.typed import Portion, check_type, is_list, is_object


@dataclass(frozen=True, slots=True)
class Profile(Configured):
    """A pipeline under a name."""

    name: str
    description: str = ""
    """One line for people."""

    prefers: tuple[Preference, ...] = ("task", "newest_user")
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


PROFILE_KEYS = ("extends", *(each.name for each in fields(Profile)))
"""The keys of a profile's file; ``extends`` names the profile or file that it changes."""

_HERE = Path(__file__).parent
_DESIGNS = _HERE.parent / "designs"
_PRESETS = _DESIGNS / "presets"


def profile_names() -> list[str]:
    """The built-in pipelines; each ends with a step that meets the budget."""
    return sorted(_paths(_HERE, _DESIGNS))


@lru_cache
def preset_names() -> Sequence[str]:
    """Single strategies of published designs, with their numbers, which ignore the budget."""
    return tuple(sorted(_paths(_PRESETS)))


@lru_cache
def built_in(name: str) -> Profile | None:
    """The built-in profile or preset of this name, None if there is none."""
    return _read(named_profile(name)) if name in _paths(_HERE, _DESIGNS, _PRESETS) else None


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
    known = built_in(profile) if isinstance(profile, str) else None
    return known or _read(named_profile(name_of(profile, "profile")))


def read_profile(text: str, place: str = "profile") -> Profile:
    """Read a profile from TOML text."""
    return _read(config_of(text, place))


def named_profile(name: str, folder: Path | None = None) -> ConfigFile:
    """The file of a built-in profile, or of one in the folder."""
    if Path(name).suffix.lower() in READERS.table:
        return read_config(name if folder is None else folder / name)
    paths = _paths(_HERE, _DESIGNS, _PRESETS)
    if name not in paths:
        raise ConfigError(
            f"there is no profile named {name!r}",
            advice=nearest(name, [*profile_names(), *preset_names()]),
        )
    return config_of(paths[name].read_text("utf-8"), f"profile {name}")


_STEPS = "steps"
_BASES = frozenset({"extends", "profile"})
"""The keys that name what a file extends."""


class Layers:
    """Files merged table by table, where later ones win.

    A list of steps replaces earlier steps. A table of steps changes the knobs of earlier steps, and
    ``false`` removes one; a step is named as in records, or by its strategy. A table that has a
    strategy replaces the step.
    """

    def __init__(self, find: Callable[[str, Path | None], ConfigFile] = named_profile) -> None:
        self.find = find
        """Returns the file that ``extends`` or ``profile`` names in a file of this folder."""
        self.data: dict[str, Any] = {}
        self._set: dict[str, tuple[ConfigFile, str]] = {}
        """The file that set the key of a path, and the path as written there."""

    def add(self, file: ConfigFile, uppers: tuple[str, ...] = ()) -> None:
        """Merge a file over the others, after the file that it extends."""
        for key in _BASES & file.data.keys():
            name = file.data[key]
            with inside(f"{file.origin(key)}: {key}"):
                if not isinstance(name, str):
                    raise ConfigError(f"{name!r} is not a name", advice="name a profile or a file")
                if len(_BASES & file.data.keys()) > 1:
                    raise ConfigError(
                        f"{' and '.join(sorted(_BASES))} say the same", advice="give one"
                    )
                below = self.find(name, file.folder)
                if below.name in uppers:
                    raise ConfigError(f"{name!r} extends itself", advice="name another")
            if isinstance(below.data.get(_STEPS), list):
                # a file with a list of steps replaces all of these, whether or not it sets each
                for each in PROFILE_KEYS:
                    self.data.pop(each, None)
            self.add(below, (*uppers, below.name))
        self._lay(file, file.data, self.data, "", "")

    @contextmanager
    def telling(self) -> Generator[None]:
        """Add the file and line of the wrong key to an error."""
        try:
            yield
        except ConfigError as fault:
            path, place = fault.place.partition(": ")[0], fault.place
            while path and path not in self._set:
                path = above(path)
            if path:
                written = f"{self._set[path][1]}{place.removeprefix(path)}"
                place = f"{self.origin(path)}: {written}"
            raise fault.at(place) from fault

    def origin(self, path: str) -> str:
        """The file and line that set the key of a path, such as ``limits.timeout``."""
        file, written = self._set[path]
        return file.origin(written)

    def _lay(
        self, file: ConfigFile, upper: Table, lower: dict[str, Any], head: str, written: str
    ) -> None:
        for key, value in upper.items():
            path, said = f"{head}{key}", f"{written}{key}"
            if path == _STEPS and is_list(value):
                lower[key] = {}
                for n, step in enumerate(value):
                    self._lay_step(file, f"{_STEPS}[{n}]", None, step, lower[key])
            elif path == _STEPS and is_object(value):
                for name, step in value.items():
                    self._lay_step(file, f"{_STEPS}.{name}", name, step, lower.setdefault(key, {}))
            elif is_object(value):
                if not is_object(lower.get(key)):
                    lower[key] = {}
                self._lay(file, value, lower[key], f"{path}.", f"{said}.")
            else:
                lower[key] = value
            self._set[path] = file, said

    def _lay_step(
        self, file: ConfigFile, written: str, name: str | None, step: object, made: dict[str, Any]
    ) -> None:
        """Add a step of a list, or change or remove the step of this name."""
        place = f"{file.origin(written)}: {written}"
        if name is None:
            if not is_object(step) or not isinstance(step.get("strategy"), str):
                raise _without_strategy(place)
            label = str(step.get("as", step["strategy"]))
            while label in made:  # a prime for each step before it of the same name
                label += "'"
        else:
            label = _label(name, made, place)
            if step is False:
                del made[label]
                return
            if not is_object(step):
                raise ConfigError(
                    f"{step!r} are not knobs",
                    place=place,
                    advice="give a table of knobs, or false to leave the step out",
                )
        if "strategy" in step:
            made[label] = {}
        path = f"{_STEPS}.{label}"
        self._set[path] = file, written
        self._lay(file, step, made[label], f"{path}.", f"{written}.")


def _without_strategy(place: str) -> ConfigError:
    problem, advice = "a step is a table with a strategy", 'add strategy = "..."'
    return ConfigError(problem, place=place, advice=advice)


def _label(name: str, made: Table, place: str) -> str:
    """The label of the step of this name: its own, that of its strategy, or that in records."""
    labels = dict(zip(made, made, strict=True))
    for label, step in made.items():
        strategy = str(step.get("strategy"))
        labels.setdefault(strategy, label)
        with suppress(ConfigError):  # unknown, or with required knobs
            labels.setdefault(_made(strategy, {}, "").name, label)
    if not labels:
        raise ConfigError(
            "there are no steps to change",
            place=place,
            advice="name what it extends, or write [[steps]]",
        )
    if name not in labels:
        raise unknown_key(place, sorted(labels), "step")
    return labels[name]


def _read(file: ConfigFile) -> Profile:
    layers = Layers()
    layers.add(file)
    with layers.telling():
        check_keys(layers.data, PROFILE_KEYS)
    if not layers.data.get("name"):
        raise ConfigError("it has no name", place=file.name, advice='add name = "..."')
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


def read_step(data: object, place: str = "strategy") -> Compressor:
    """The strategy that a table describes, or the ``strategy`` of a result, with its knobs.

    ``as`` is its name in records, ``strategies`` are the steps of a pipeline, and ``step`` is that
    of ``Stepwise``.
    """
    if not is_object(data) or "strategy" not in data:
        raise _without_strategy(place)
    table = dict(data)
    name, shown = table.pop("strategy"), table.pop("as", None)
    check_type(name, str, f"{place}.strategy")
    check_type(shown, str | None, f"{place}.as")
    parts, step = table.pop("strategies", None), table.pop("step", None)
    if is_list(parts):
        made: Compressor = Pipeline(
            tuple(read_step(part, f"{place}.strategies[{n}]") for n, part in enumerate(parts)), name
        )
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
