"""Whose tokens are counted and how: the options of every command that counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import click

from holdfast.formats import FORMATS
from holdfast.kernel.errors import InputError
from holdfast.tokens import COUNTERS

from .reading import object_in, read_json, within
from .values import known


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
_OPTIONS = (
    *_COUNTER,
    click.option(
        "--format",
        "form",
        callback=known(FORMATS.load),
        metavar="F",
        help=f"The form of the messages ({', '.join(FORMATS.table)}).  [default: detected]",
    ),
    click.option("--tools", metavar="FILE", help="JSON list of tool schemas that are sent along."),
)


def counting_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options ``model``, ``counter``, ``form`` and ``tools``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def counter_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options ``model`` and ``counter``."""
    for option in reversed(_COUNTER):
        command = option(command)
    return command


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
