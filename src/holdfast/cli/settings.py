"""``holdfast config`` and ``holdfast prices``: what is set, and what models cost."""

import re
from dataclasses import asdict, replace

import click

from holdfast.cli import group
from holdfast.config import Setting
from holdfast.kernel.compressor import described
from holdfast.kernel.errors import NotFoundError
from holdfast.providers.prices import Price, price_list, price_of
from holdfast.text.visible import one_line

from .files import note, write, write_json
from .options import CONFIG, JSON, configured, option

_HIDDEN = "(hidden)"
# before the last @, as URLs are read, or an option of libpq
_PASSWORD = re.compile(r"((?<=://)[^/@:]*:)[^/]*(?=@)|([?&](?:ssl)?password=)[^&]*")


config_command = group(
    "config",
    """Set the options of all commands in one TOML or YAML file.

    \b
    holdfast config show
    """,
)


@config_command.command
@CONFIG
@JSON
def show(*, as_json: bool) -> None:
    """Print every key that is set, its value and its source.

    A source is a file and line, or a variable. The configuration is the file of --config or of
    HOLDFAST_CONFIG, else holdfast.toml, holdfast.yaml or [tool.holdfast] of a pyproject.toml here
    or above, with the variables HOLDFAST_* over it and the profile that it extends under it.

    \b
    holdfast config show
    HOLDFAST_LIMITS__TIMEOUT=5 holdfast config show --config team.toml
    """
    config = configured()
    settings = {path: _visible(path, setting) for path, setting in config.settings.items()}
    if as_json:
        told = {path: asdict(setting) for path, setting in settings.items()}
        steps = [described(step) for step in config.profile.steps]
        write_json({"files": config.files, "settings": told, "steps": steps})
        return
    values = {path: one_line(f"{setting.value}") for path, setting in settings.items()}
    width, cells = (max(map(len, texts)) for texts in (values, values.values()))
    for path, setting in settings.items():
        write(f"{path:{width}}  {values[path]:{cells}}  {setting.origin}\n")


def _visible(path: str, setting: Setting) -> Setting:
    """The setting without a secret or the password of a URL."""
    if path == "secret":
        return replace(setting, value=_HIDDEN)
    if isinstance(setting.value, str):
        return replace(setting, value=_PASSWORD.sub(rf"\1\2{_HIDDEN}", setting.value))
    return setting


@click.command
@click.argument("model", required=False)
@option(
    "--file",
    "FILE",
    "Your own prices: TOML or YAML with a table for each model.  [default: HOLDFAST_PRICES]",
)
@JSON
def prices(model: str | None, file: str | None, *, as_json: bool) -> None:
    """Print the prices of all models or of MODEL, in US dollars for a million tokens.

    The columns are input, output, and input that is read from or written to the vendor's prompt
    cache. The exit code is 2 for an unknown model.

    \b
    holdfast prices --json
    holdfast prices claude-sonnet-4-5
    """
    known = price_list(file)
    rows: dict[str, tuple[str, Price]] = {}
    for each in known.models:
        rows.setdefault(each.model, (each.vendor, each.price))
    if model is not None:
        price = price_of(None, model, known)
        if price is None:
            raise NotFoundError(model, where="the price list; check the name")
        rows = {model: ("", price)}
    if as_json:
        told = {name: {"vendor": vendor, **asdict(price)} for name, (vendor, price) in rows.items()}
        write_json({"source": known.source, "date": known.date, "models": told})
        return
    for name, (vendor, price) in rows.items():
        numbers = (price.input, price.output, price.cache_read, price.cache_write)
        cells = "".join(f"{'' if n is None else f'{n:g}':>9}" for n in numbers)
        write(f"{vendor:<10}{name:<42}{cells}\n")
    note(
        "US dollars for a million tokens: input, output, prompt cache read and prompt cache "
        "write.\n"
        f"From {known.source}, as of {known.date}.\n"
    )
