"""Whose tokens are counted and how: the options of every command that counts."""

from __future__ import annotations

from typing import cast

import click

from holdfast.cli.options import having
from holdfast.cli.reading import object_in, read_json, within
from holdfast.cli.terminal import mention
from holdfast.cli.values import known
from holdfast.formats import FORMATS
from holdfast.kernel.errors import InputError
from holdfast.reports.visible import one_line
from holdfast.tokens import COUNTERS, counter_for, family_of

_NAME = 60  # cells of a model's name


def _check_counter(name: str) -> None:
    """A name that is no counter's would count as that of a model."""
    if name not in COUNTERS.table and not name.startswith("fixed:"):
        COUNTERS.load(name)


_COUNTER = (
    click.option("--model", metavar="M", help="Count as this model does.  [default: o200k_base, approximate]"),
    click.option(
        "--counter",
        callback=known(_check_counter),
        metavar="C",
        help=f"Count by this vocabulary or formula instead ({', '.join(COUNTERS.table)}, fixed:N).",
    ),
)
_FORM = click.option(
    "--format",
    "form",
    callback=known(FORMATS.load),
    metavar="F",
    help=f"The form of the messages ({', '.join(FORMATS.table)}).  [default: detected]",
)
_TOOLS = click.option("--tools", metavar="FILE", help="JSON list of tool schemas that are sent along.")

counter_options = having(*_COUNTER)
"""Give a command the options ``model`` and ``counter``."""

form_options = having(*_COUNTER, _FORM)
"""Give a command the options ``model``, ``counter`` and ``form``."""

counting_options = having(*_COUNTER, _FORM, _TOOLS)
"""Give a command the options ``model``, ``counter``, ``form`` and ``tools``."""


def mention_unknown(model: str | None, counter: str | None) -> None:
    """Say that the name of a model says nothing, where tokens are counted by it: it may be a slip."""
    if model is None or counter is not None or family_of(model).accuracy.kind != "unknown":
        return
    used = counter_for(model)
    if used.accuracy.kind == "unknown" and used.name != model:
        mention(
            f"The model {one_line(model, _NAME)!r} is not known here: tokens are counted by {used.name}, an "
            "estimate whose error is not known. Check the name, or leave room with --headroom.\n"
        )


def read_tools(file: str | None) -> object:
    """The schemas in the file: a list, or the field ``tools`` of a request body."""
    if file is None:
        return None
    document = read_json(file)
    with within(file):
        found = object_in(document).get("tools", document.payload)
        if not isinstance(found, list):
            raise InputError("there is no list of schemas in it", advice='give a list, or an object with "tools"')
        return cast("object", found)
