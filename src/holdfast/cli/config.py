"""``holdfast config``: the options in force, and their sources."""

from __future__ import annotations

import re
from dataclasses import asdict, replace

import click

from holdfast.cli import group
from holdfast.cli.options import CONFIG, JSON, configured
from holdfast.cli.terminal import say, say_json
from holdfast.compressors.knobs import described
from holdfast.config import Setting
from holdfast.text.visible import one_line

_HIDDEN = "(hidden)"
_PASSWORD = re.compile(r"(?<=://)([^/@:]*):[^/@]*(?=@)")


@click.command("show", short_help="Print the options in force and their sources.")
@CONFIG
@JSON
def show(*, as_json: bool) -> int:
    r"""Print every key that is set, its value, and the file and line or the variable that sets it.

    The configuration is the file of --config or of HOLDFAST_CONFIG, else holdfast.toml,
    holdfast.yaml or [tool.holdfast] of a pyproject.toml here or above, with the variables
    HOLDFAST_* over it and the profile that it extends under it.

    \b
    holdfast config show
    HOLDFAST_LIMITS__TIMEOUT=5 holdfast config show --config team.toml
    """
    config = configured()
    settings = {path: _visible(path, setting) for path, setting in config.settings.items()}
    if as_json:
        told = {path: asdict(setting) for path, setting in settings.items()}
        steps = [described(step) for step in config.profile.steps]
        say_json({"files": config.files, "settings": told, "steps": steps})
        return 0
    values = {path: one_line(f"{setting.value}") for path, setting in settings.items()}
    width, cells = (max(map(len, texts)) for texts in (values, values.values()))
    for path, setting in settings.items():
        say(f"{path:{width}}  {values[path]:{cells}}  {setting.origin}\n")
    return 0


def _visible(path: str, setting: Setting) -> Setting:
    """The setting without a secret or the password of a URL."""
    if path == "secret":
        return replace(setting, value=_HIDDEN)
    if isinstance(setting.value, str):
        return replace(setting, value=_PASSWORD.sub(rf"\1:{_HIDDEN}", setting.value))
    return setting


command = group(
    "config",
    r"""Set the options of all commands in one TOML or YAML file.

    \b
    holdfast config show
    """,
)
command.add_command(show)
