"""Options that several commands have, and reading their values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from holdfast.config import Config, load_config
from holdfast.files import as_input_errors
from holdfast.formats import FORMATS
from holdfast.formats.payloads import schemas
from holdfast.kernel.budget import Budget, written_tokens
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.registry import imported
from holdfast.kernel.typed import is_list
from holdfast.options import Options
from holdfast.profiles import load_profile, preset_names, profile_names
from holdfast.providers import EMBEDDERS, MODELS, check_embedder, check_model
from holdfast.stores import Encrypted, check_store
from holdfast.text.visible import one_line
from holdfast.tokens import COUNTERS, counter_for

from .files import FILE_URL, note, object_in, obstacle, read_json, within

F = TypeVar("F", bound=Callable[..., object])


class Whole(click.IntRange):
    """A number within bounds, by the name that errors give it."""

    name = "whole number"


def option(names: str, metavar: str, about: str, **more: Any) -> Callable[[F], F]:
    """An option with a value: its names, what stands for the value, and its line in the help."""
    return click.option(*names.split(), metavar=metavar, help=about, **more)


def flag(names: str, about: str) -> Callable[[F], F]:
    """An option without a value: its names, and its line in the help."""
    return click.option(*names.split(), is_flag=True, help=about)


def having(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Give a command these options, in this order."""

    def decorated(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


def converted(convert: Callable[[Any], object]) -> Callable[..., object]:
    """A callback that converts the value of an option, which its errors name."""

    def callback(ctx: click.Context, param: click.Parameter, value: object) -> object:
        del ctx
        try:
            return None if value is None else convert(value)
        except ConfigError as fault:
            option = param.opts[-1]
            place = option if fault.place in ("", param.name) else f"{option}: {fault.place}"
            raise fault.at(place) from fault

    return callback


def known(look_up: Callable[[str], object]) -> Callable[..., object]:
    """A callback that checks names with ``look_up``, whose ConfigError lists the known ones."""

    def checked(value: str | tuple[str, ...]) -> object:
        for name in (value,) if isinstance(value, str) else value:
            look_up(name)
        return value

    return converted(checked)


tokens = converted(partial(written_tokens, least=1))
"""A positive number of tokens: ``8000``, ``8_000``, ``8,000``, ``8k`` or ``8.5k``."""


@converted
def share(value: str) -> float:
    """A share in [0, 1]: ``0.05`` or ``5%``."""
    try:
        found = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise ConfigError(f"{value!r} is not a share in [0, 1]", advice="give one such as 0.05")
    return found


@converted
def moment(value: str) -> datetime:
    """A time: ``2026-05-08``, ``2026-05-08T13:56`` (both UTC) or ``2026-05-08T13:56+02:00``."""
    try:
        found = datetime.fromisoformat(value)
    except ValueError as fault:
        raise ConfigError(
            f"{value!r} is not a time",
            advice="give one such as 2026-05-08T13:56 or 2026-05-08T13:56+02:00",
        ) from fault
    return found if found.tzinfo else found.replace(tzinfo=UTC)


@converted
def positions(value: Sequence[str]) -> list[int]:
    """Positions of messages: ``0``, ``-1`` or ``0,3,-1``; the option may be repeated."""
    found: list[int] = []
    for given in value:
        try:
            found += [int(number) for number in given.split(",")]
        except ValueError as fault:
            raise ConfigError(
                f"{given!r} names no messages",
                advice="give a position such as 0, or several such as 0,3,-1",
            ) from fault
    return found


LIMITS = (
    option("-b --budget", "N", "The budget in tokens, such as 8000 or 8k.", callback=tokens),
    option(
        "--window",
        "N",
        "The model's window; the smaller of it and --budget counts.",
        callback=tokens,
    ),
    option(
        "--reserve",
        "N",
        "Tokens of the window or --budget kept for the answer.  [default: 0]",
        callback=converted(written_tokens),
    ),
    option("--headroom", "X", "Share kept free for counting errors.  [default: 0]", callback=share),
)
SOFT = flag("--soft", "Write what remains if the budget cannot be met.")
JSON = flag("--json as_json", "Print the facts as JSON.")
QUIET = flag("-q --quiet", "No summary on standard error.")
YES = flag("--yes", "Do not ask.")
OUTPUT = option("-o --output", "FILE|-", "The file for the output.  [default: standard output]")
RESULT = option("--result result_file", "FILE", "Keep what was removed, for `holdfast restore`.")
QUERY = option("--query", "Q", "The question to answer.  [default: the newest user message]")
PROFILE = option(
    "--profile",
    "P",
    f"A named pipeline ({', '.join(profile_names())}), a published design's strategy "
    f"({', '.join(preset_names())}), or a TOML file.  [default: balanced]",
    callback=known(load_profile),
)
REDACT = click.option(
    "--redact/--no-redact", default=None, help="Mask secrets before anything is stored."
)


_SETTINGS = "model counter format store thread llm embedder redact query".split()
"""Keys of a configuration that are the defaults of options."""


def configured() -> Config:
    """The configuration of the running command."""
    found = click.get_current_context().find_object(Config)
    return load_config() if found is None else found


def _configure(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    """Use the configuration as the defaults of options."""
    del param
    config = ctx.obj = load_config(value)
    settings = config.settings
    ctx.default_map = {
        key: settings[key].value
        for key in _SETTINGS
        if key in settings and isinstance(settings[key].value, str | bool)
    }


CONFIG = option(
    "--config",
    "FILE",
    "TOML or YAML with options.  [default: holdfast.toml, pyproject.toml]",
    is_eager=True,
    expose_value=False,
    callback=_configure,
)

COUNTER = (
    option("--model", "M", "Count tokens as this model does.  [default: o200k_base]"),
    option(
        "--counter",
        "C",
        f"Count with this vocabulary or formula ({', '.join(COUNTERS.table)}, fixed:N).",
        # an unknown counter would be taken for a model
        callback=known(
            lambda name: name in COUNTERS.table or name.startswith("fixed:") or COUNTERS.load(name)
        ),
    ),
)
FORM = option(
    "--format",
    "F",
    f"The format of the messages ({', '.join(FORMATS.table)}).  [default: detected]",
    callback=known(FORMATS.load),
)


def _read_tools(ctx: click.Context, param: click.Parameter, file: str | None) -> object:
    """The schemas in the file, a list or the field ``tools`` of a request body; or configured."""
    del ctx, param
    if file is None:
        return configured().options.get("tools")
    document = read_json(file)
    with within(file):
        found = object_in(document).get("tools", document.payload)
        if not is_list(found):
            raise InputError(
                "it has no list of schemas", advice='give a list, or an object with "tools"'
            )
        schemas(found)
        return found


_TOOLS = option(
    "--tools", "FILE", "JSON list of tool schemas that are sent too.", callback=_read_tools
)

counter_options = having(*COUNTER, CONFIG)
form_options = having(*COUNTER, FORM, CONFIG)
counting_options = having(*COUNTER, FORM, _TOOLS, CONFIG)


def note_unknown(given: Mapping[str, Any]) -> None:
    """Warn if tokens are counted for an unknown model, whose name may be misspelt."""
    model: str | None = given["model"]
    if model is None or given["counter"] is not None:
        return
    used = counter_for(model)
    if used.accuracy.kind == "unknown" and used.name != model:
        note(
            f"The model {one_line(model)!r} is not known: tokens are counted by {used.name},"
            " an estimate. Check the name, or leave room with --headroom.\n"
        )


STORE_KEY = option(
    "--store-key", "FILE", "The key of an encrypted store: 32 bytes or a passphrase."
)
store_options = having(
    option("--store", "FILE|URL", "Where originals are kept: a SQLite file or a URL."), STORE_KEY
)


excerpt_options = having(
    option("--lines", "A:B", "Only these lines, counted from 1."),
    option("--pattern", "RE", "Only lines that match this regular expression (RE2)."),
    option("--field", "PATH", "Only this field of JSON, such as orders[3].status."),
)


def kept_in(
    store: str | None, key_file: str | None, *, missing: str = "", option: str = "--store "
) -> str | KeyValueStore | None:
    """The store of these options.

    ``missing`` is the advice of the ConfigError if it must exist and does not.
    """
    kept = named_in(store, key_file, missing=missing, option=option)
    return kept.opened() if isinstance(kept, Encrypted) else kept


def named_in(
    store: str | None, key_file: str | None, *, missing: str = "", option: str = "--store "
) -> str | Encrypted | None:
    """The store of these options, to be opened where it is used.

    Raises ConfigError, before any work, for one that ends with this command.
    """
    if store is None:
        if key_file is not None:
            raise ConfigError(
                "there is no store to open with it", place="--store-key", advice="give --store too"
            )
        return None
    problem = advice = ""
    url = store if "://" in store or store.startswith("memory:") else f"{FILE_URL}{store}"
    file = Path(url.removeprefix(FILE_URL))
    if url.startswith("memory:"):
        problem, advice = "memory is lost when the command ends", "name a file, as originals.db"
    elif url.startswith(FILE_URL):
        if missing and not file.exists():
            problem, advice = "there is no such file", missing
        elif not (missing and file.is_file()):  # which may be only read
            problem, advice = obstacle(file)
    if problem:
        raise ConfigError(problem, place=f"{option}{store}", advice=advice)
    try:  # a server that opened it at its first request would run until then
        check_store(url)
    except ConfigError as fault:
        raise fault.at(option.strip() or store) from fault
    return url if key_file is None else Encrypted(url, _key_in(key_file))


def _key_in(file: str) -> bytes | str:
    """The key in a file: 32 bytes, or else a passphrase without its line end."""
    with as_input_errors(
        f"--store-key {file}", "read", "name a file with 32 bytes or a passphrase"
    ):
        content = Path(file).read_bytes()
        is_key = len(content) == imported("holdfast.stores.encrypt:KEY_BYTES")
        return content if is_key else content.decode().rstrip("\r\n")


def budget_of(given: Mapping[str, Any]) -> Budget:
    """The budget of the options in ``LIMITS``, and of the configuration for the others."""
    stated = configured().budget
    said = {"limit": given["budget"], "window": given["window"]}
    if not any(said.values()):
        said = {}
    beside = {name: given[name] for name in ("reserve", "headroom") if given[name] is not None}
    return replace(stated, **said, **beside, hard=False)


def options_of(given: Mapping[str, Any]) -> Options:
    """The options of a compression that were given or configured, except those read from files."""
    strategy: tuple[str, ...] = given.get("strategy", ())
    named = {
        **given,
        "strategy": strategy[0] if len(strategy) == 1 else strategy or None,
    }
    taken = Options.__annotations__.keys() - {"store", "tools"}
    said = {name: named[name] for name in taken if named.get(name) is not None}
    if said.keys() & _PIPELINES:
        taken -= _PIPELINES
    below = {name: value for name, value in configured().options.items() if name in taken}
    return cast("Options", {"on_failure": "fit"} | below | said)


_PIPELINES = frozenset({"profile", "strategy"})
"""Either is used instead of the other."""

LLM = option(
    "--llm",
    "V:NAME",
    f"The model for summaries ({', '.join(MODELS.table)}), such as openai:gpt-4o-mini.",
    callback=known(check_model),
)

model_options = having(
    LLM,
    option(
        "--embedder",
        "V:NAME",
        f"The embedder ({', '.join(EMBEDDERS.table)}).  [default: local or lexical]",
        callback=known(check_embedder),
    ),
    option("--thread", "ID", "The name of the thread, under which summaries are kept."),
)
