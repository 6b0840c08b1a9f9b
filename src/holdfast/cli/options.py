"""Options that several commands have in common are given to each of them in one order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., int])


def having(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Give a command these options; its help shows them in this order."""

    def decorated(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


def as_typed(command: click.Command) -> click.Command:
    """The command, whose help shows its examples as they are typed."""
    if command.help:  # click's mark of a paragraph that is not rewrapped, as a raw docstring writes it
        command.help = command.help.replace(r"\b", "\b")
    return command
