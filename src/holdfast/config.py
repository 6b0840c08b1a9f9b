"""The configuration: one TOML or YAML file for all options, with environment variables over it.

Later sources win: the profile that the file extends, the file, ``HOLDFAST_*`` variables, and the
arguments of the command line.
"""

import json
import os
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, cast

from holdfast.config_files import (
    READERS,
    ConfigFile,
    Table,
    check_keys,
    inside,
    read_config,
    unknown_key,
)
from holdfast.engine import positions
from holdfast.files import name_of
from holdfast.formats import FORMATS
from holdfast.formats.payloads import schemas
from holdfast.kernel.budget import Budget, written_tokens
from holdfast.kernel.errors import ConfigError, FormatError
from holdfast.kernel.forks import cached_property
from holdfast.kernel.registry import Registry, imported, similar
from holdfast.kernel.typed import is_object, walked
from holdfast.options import USUAL_PROFILE, Options, check, chosen
from holdfast.profiles import PROFILE_KEYS, Layers, Profile, named_profile, profile_of
from holdfast.providers import check_embedder, check_model
from holdfast.stores import check_store
from holdfast.tokens import meter_for

NAME = "holdfast"
_PROJECT, _PROJECT_TABLE = "pyproject.toml", ("tool", NAME)
PREFIX = "HOLDFAST_"
FILE = "HOLDFAST_CONFIG"
"""The variable that names the configuration file."""

TABLES = Registry(
    "table",
    "tables",
    """
        budget holdfast.kernel.budget:Budget
        limits holdfast.calls.lineup:CallLimits
        cache holdfast.calls.cache:CompressionCache
        costs holdfast.cost:Costs
        costs.price holdfast.providers.prices:Price
        relevance holdfast.memory.relevance:Relevance
        tiers holdfast.memory.tiers:TierSizes
    """,
)
"""The tables of a file by path, with the class of each; their keys are its arguments."""


_CHECKS: Mapping[str, Callable[[Any], object]] = {
    "llm": check_model,
    "embedder": check_embedder,
    "format": FORMATS.load,
    "store": check_store,
    "counter": lambda name: meter_for(None, name),
    "strategy": lambda names: chosen({"strategy": names}),
    "pin": positions,
}
"""Functions that raise ConfigError for a wrong value, by key."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of a key, and its source: a line of a file, a profile or a variable."""

    value: object
    origin: str


class Config:
    """A configuration, made by ``load_config``.

    Use it as ``compress(messages, config.budget, **config.options)`` and ``Session(thread,
    **config.session)``. ``files`` are the files that were read.
    """

    def __init__(self, layers: Layers, files: Sequence[ConfigFile] = ()) -> None:
        self._layers = layers
        self.files = tuple(file.name for file in files)
        self._said = {key for file in files for key in file.data}
        with layers.telling():
            self._check()

    @cached_property
    def budget(self) -> Budget:
        """The budget; if none is set, the window of the model."""
        return cast("Budget | None", self.table("budget")) or Budget()

    @cached_property
    def profile(self) -> Profile:
        """The profile, with the changes of the file."""
        return profile_of(self._layers)

    @cached_property
    def options(self) -> Options:
        """The options of ``compress`` that are set."""
        return cast("Options", self._of(Options.__annotations__))

    @cached_property
    def session(self) -> dict[str, Any]:
        """The arguments of ``Session`` that are set, with the budget."""
        named = self._of(_session().keys() - {"thread"})
        return {**named, "budget": self.budget} if "budget" in self._layers.data else named

    @cached_property
    def settings(self) -> dict[str, Setting]:
        """Every key that is set, by its path, such as ``limits.timeout``."""
        return {
            path: Setting(value, self._layers.origin(path))
            for path, value in walked(self._layers.data)
            if not is_object(value) and "[" not in path
        }

    def table(self, name: str) -> object:
        """The object of a table, such as ``CallLimits`` for ``limits``; None if it is not set."""
        said: Any = self._layers.data
        for key in name.split("."):
            said = said and said.get(key)
        if said is None:
            return None
        make = TABLES.load(name)
        arguments = signature(make).parameters
        with self._layers.telling():
            if not is_object(said):
                raise ConfigError(f"{said!r} is not a table", place=name, advice=f"write [{name}]")
            check_keys(said, list(arguments), name)
            for key, argument in arguments.items():
                if argument.default is Parameter.empty and key not in said:
                    raise ConfigError(f"it has no {key}", place=name, advice=f"add {key} = ...")
            given = {
                key: self.table(f"{name}.{key}") if f"{name}.{key}" in TABLES.table else value
                for key, value in _given(said).items()
            }
            with inside(name, arguments):
                return make(**given)

    def _of(self, names: Collection[str]) -> dict[str, Any]:
        found = {key: value for key, value in _given(self._layers.data).items() if key in names}
        for name in TABLES.table.keys() & found.keys():
            found[name] = self.table(name)
        found.pop("profile", None)
        if self._said & PROFILE_KEYS - Options.__annotations__.keys() or "profile" in self._said:
            found["profile"] = self.profile
        if "tools" in found:
            found["tools"] = self._tools
        return found

    @cached_property
    def _tools(self) -> object:
        """The given tool schemas, or those of a JSON file: a list, or ``tools`` of a request body.

        Read once: later the working directory may be another.
        """
        found = self._layers.data["tools"]
        with inside("tools"):
            if isinstance(found, str):
                try:
                    read = json.loads(Path(found).read_text("utf-8"))
                except (OSError, ValueError) as fault:
                    raise ConfigError(
                        f"{found!r} cannot be read ({fault})", advice="name a JSON file"
                    ) from fault
                found = read.get("tools") if is_object(read) else read
            try:
                schemas(found)
            except FormatError as fault:
                raise ConfigError(fault.problem, place=fault.place, advice=fault.advice) from fault
        return found

    def _check(self) -> None:
        """Raise ConfigError for an unknown key or a wrong value."""
        given = _given(self._layers.data)
        if self._said:
            check_keys(self._layers.data, _known())
        for key in _CHECKS.keys() & given.keys():
            with inside(key):
                _CHECKS[key](given[key])
        if "tools" in given:
            _ = self._tools
        if "strategy" in given and self._said & {"extends", "profile", "steps"}:
            raise ConfigError(
                "a profile and strategies exclude each other",
                place="strategy",
                advice="give the one or the other",
            )
        for name in TABLES.table:
            self.table(name)
        if self.budget.limit or self.budget.window:
            self.budget.tokens()
        plain = {key: value for key, value in given.items() if key not in TABLES.table}
        check(cast("Options", {key: plain[key] for key in Options.__annotations__ & plain.keys()}))
        if self._said:
            imported("holdfast.session.arguments:own_options")(plain)
        _ = self.profile


_OBJECTS = frozenset({"condenser", "clock"})
"""Arguments of a session that cannot be written in a file."""

# similarity by difflib; "modle" and "model" have 0.8. Its usual 0.6 takes "host", "user" and
# "server" for misspelled keys
_NEARLY = 0.75


def load_config(
    path: str | Path | None = None,
    *,
    folder: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Config:
    """Read the configuration from a file and the environment.

    Without ``path``, the file is the one that ``HOLDFAST_CONFIG`` names, else ``holdfast.toml``,
    ``holdfast.yaml`` or ``[tool.holdfast]`` of a ``pyproject.toml`` in ``folder`` (by default the
    working directory) or the nearest directory above it. No file is needed. Raises ConfigError,
    with file, line and the nearest known key, for an unknown key or a wrong value.
    """
    variables = os.environ if environ is None else environ
    named = path or variables.get(FILE)
    start = Path(name_of(folder or ".", "folder"))
    file = _named(Path(name_of(named))) if named else _found(start)
    files = [each for each in (file, _environment(variables)) if each and each.data]
    layers = Layers(lambda name, folder: _usable(named_profile(name, folder)))
    layers.add(named_profile(USUAL_PROFILE))
    for each in files:
        layers.add(each)
    return Config(layers, files)


def _named(path: Path) -> ConfigFile:
    return _usable(read_config(path, *(_PROJECT_TABLE if path.name == _PROJECT else ())))


def _found(folder: Path) -> ConfigFile | None:
    """The nearest file with a configuration."""
    start = folder.resolve()
    for place in (start, *start.parents):
        for suffix in READERS.table:
            file = place / f"{NAME}{suffix}"
            if file.is_file():
                return _named(_shown(file, start))
        project = place / _PROJECT
        if project.is_file() and NAME.encode() in project.read_bytes():
            found = _named(_shown(project, start))
            if found.data:
                return found
    return None


def _shown(path: Path, folder: Path) -> Path:
    """The path relative to the working directory, if it was searched from there."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) and folder == here else path


def _usable(file: ConfigFile) -> ConfigFile:
    """The file with its budget as a table, and a name if it has steps of its own."""
    data: dict[str, Any] = dict(file.data)
    if "budget" in data and not isinstance(data["budget"], Mapping | None):
        said = data["budget"]
        with inside(f"{file.origin('budget')}: budget"):
            data["budget"] = {"limit": written_tokens(said) if isinstance(said, str) else said}
    if isinstance(data.get("steps"), list):
        data = {"name": Path(file.name).stem, "description": "", **data}
    return file._replace(data=data)


def _environment(variables: Mapping[str, str]) -> ConfigFile:
    """The settings of ``HOLDFAST_*`` variables; ``__`` separates the name of a table from a key.

    Raises ConfigError for a variable that is nearly a key; others may belong to other programs.
    """
    data: dict[str, Any] = {}
    for name, value in sorted(variables.items()):  # HOLDFAST_BUDGET before HOLDFAST_BUDGET__LIMIT
        if not name.startswith(PREFIX) or name == FILE:
            continue
        *tables, last = path = name.removeprefix(PREFIX).lower().split("__")
        if path[0] not in _known():
            if similar(path[0], _known(), _NEARLY):
                raise unknown_key(name, [f"{PREFIX}{key.upper()}" for key in _known()])
            continue
        table = data
        for key in tables:
            below = table.setdefault(key, {})
            if not isinstance(below, dict):
                raise ConfigError(
                    f"another variable sets {key}",
                    place=name,
                    advice=f"give each of its keys a variable, such as {PREFIX}BUDGET__LIMIT",
                )
            table = cast("dict[str, Any]", below)
        table[last] = _value(value, path)

    def variable(path: str) -> str:
        return f"{PREFIX}{path.replace('.', '__').upper()}"

    return _usable(ConfigFile("the environment", data, variable))


def _value(text: str, path: Sequence[str]) -> object:
    """The value, read as TOML; the text itself if the key takes text or it is not TOML."""
    hint = _hints().get(path[0], "")
    if len(path) > 1:
        known = path[0] in TABLES.table
        argument = signature(TABLES.load(path[0])).parameters.get(path[1]) if known else None
        hint = str(argument.annotation) if argument else ""
    if "str" in hint.split(" | "):
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _session() -> Mapping[str, Parameter]:
    """The arguments of ``Session``."""
    return signature(imported("holdfast.session:Session")).parameters


@cache
def _hints() -> dict[str, str]:
    """The type hints of all keys outside tables, as they are written in the source."""
    hints = dict.fromkeys(PROFILE_KEYS, "") | {"extends": "str"}
    hints |= {name: str(each.annotation) for name, each in _session().items()}
    options = Options.__annotations__.items()
    return hints | {name: str(getattr(hint, "__forward_arg__", hint)) for name, hint in options}


@cache
def _known() -> list[str]:
    return sorted(key for key in {*_hints(), *TABLES.table} - _OBJECTS if "." not in key)


def _given(data: Table) -> dict[str, Any]:
    """The keys that are set; null in YAML unsets a key."""
    return {key: value for key, value in data.items() if value is not None}
