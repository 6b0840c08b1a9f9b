"""One line for what went wrong: where, what, and what to do; and the exit codes."""

from __future__ import annotations

import re

import click

from holdfast.kernel.errors import BudgetError, ConfigError, HoldfastError, InputError

DONE, UNMET, WRONG, BROKEN, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 70, 130, 141

_OPTIONS = {
    "budget": "--budget",
    "limit": "--budget",
    "window": "--window",
    "reserve": "--reserve",
    "headroom": "--headroom",
    "step": "--step",
    "format": "--format",
    "profile": "--profile",
    "strategy": "--strategy",
    "provider": "--provider",
    "counter": "--counter",
    "model": "--model",
    "tools": "--tools",
    "pin": "--pin",
    "store": "--store",
    "llm": "--llm",
    "embedder": "--embedder",
    "thread": "--thread",
    "ids": "--id",
    "lines": "--lines",
    "pattern": "--pattern",
    "field": "--field",
    "tokens": "--tokens",
    "kind": "--kind",
}
"""The name of an argument in Python, and on the command line."""

_EXAMPLES = {
    "budget": "8000",
    "limit": "8000",
    "window": "128000",
    "reserve": "4000",
    "headroom": "0.05",
    "step": "0.1",
}
"""What to give where an error of a number has no advice of its own."""

_UNMET = "give so much, or --soft to come as near to it as can be"


def complaint(fault: HoldfastError | click.ClickException) -> str:
    """The fault as place, problem and advice, in the words of the command line."""
    if isinstance(fault, click.ClickException):
        fault = _of_click(fault)
    if isinstance(fault, BudgetError):
        return f"{fault}; {_UNMET}"
    if not isinstance(fault, InputError):
        return str(fault)
    place, advice = fault.place, re.sub(r"\b([a-z]+)=(?![\w\"'.])", _as_option, fault.advice)
    if isinstance(fault, ConfigError):
        example = _EXAMPLES.get(place.rpartition(".")[2], "")
        place = _OPTIONS.get(place, place)
        advice = advice or (example and f"give one such as {example}")
    line = f"{place}: {fault.problem}" if place else fault.problem
    return f"{line}; {advice}" if advice else line


def _as_option(found: re.Match[str]) -> str:
    return _OPTIONS.get(found.group(1), found.group())


def _of_click(fault: click.ClickException) -> InputError:
    """What the parser of arguments objects to, as an error of ours."""
    command = fault.ctx.command_path if isinstance(fault, click.UsageError) and fault.ctx else "holdfast"
    advice = f"see {command} --help"
    if isinstance(fault, click.NoSuchOption):
        near = f"did you mean {' or '.join(sorted(fault.possibilities))}?" if fault.possibilities else advice
        return InputError("there is no such option", place=fault.option_name, advice=near)
    if isinstance(fault, click.BadParameter):
        parameter = fault.param
        place = parameter.opts[-1] if parameter else ""
        if isinstance(parameter, click.Argument):
            place = parameter.make_metavar(fault.ctx) if fault.ctx else parameter.human_readable_name
        missing = isinstance(fault, click.MissingParameter)
        problem = "it is missing" if missing else fault.message.rstrip(".")
        return InputError(problem, place=place, advice=advice)
    message = fault.format_message().rstrip(".")
    return InputError(f"{message[:1].lower()}{message[1:]}", advice=advice)
