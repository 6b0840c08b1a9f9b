"""The command line ``holdfast``, and where its commands are."""

import re
import sys
import traceback
from collections.abc import Sequence
from typing import cast

import click

from holdfast import __version__
from holdfast.kernel.errors import BudgetError, ConfigError, HoldfastError, InputError
from holdfast.kernel.registry import Registry, nearest
from holdfast.text.visible import visible

from .files import Command, let_go, note

_TABLE = """
    compress conversation:compress_command Fit a conversation to a budget of tokens.
    count conversation:count_command Count the tokens of a conversation, message by message.
    explain conversation:explain Show what compress would do, and change nothing.
    validate conversation:validate_command List what the provider would refuse, or repair it.
    convert conversation:convert_command Write a conversation in the form of another provider.
    restore conversation:restore_command Print the original messages of a result.
    recall conversation:recall Print the original that a shortened text names.
    shrink conversation:shrink_command Fit one text to a number of tokens, by its kind.
    session session:command Store a conversation, and fit it from the store.
    batch batch:command Fit many conversations, from files to a file.
    store store:command Check, migrate, copy, compact, export, import or erase a store.
    serve serve:serve Run a proxy that fits what agents send to their providers.
    run serve:run Run an agent or another program with such a proxy.
    config settings:config_command Show the options in force and their sources.
    sample conversation:sample_command Write a recorded conversation, for trying the others.
    mcp serve:mcp Offer recall, search and shortening to agents over MCP.
    prices settings:prices List the prices of models, with their source and date.
    eval eval:command Measure what a compaction kept, by kind.
"""
_ROWS = [line.split(maxsplit=2) for line in _TABLE.strip().splitlines()]
"""Each command, where it is in this package, and its line in the help, which imports none."""

COMMANDS = Registry(
    "command", "commands", "\n".join(f"{name} holdfast.cli.{place}" for name, place, _ in _ROWS)
)

# 2 is click's for wrong usage, 70 is EX_SOFTWARE of sysexits.h, and 130 and 141 are 128 + SIGINT
# and SIGPIPE
DONE, UNMET, WRONG, BROKEN, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 70, 130, 141

_EXIT_CODES = """\b
Exit codes:
  0  done
  1  the budget cannot be met, or the conversation is not valid
  2  the input or the arguments are wrong, or the output cannot be written
 70  an error in Holdfast itself
130  interrupted; 141 the reader of the output has gone
"""


class _Commands(click.Group):
    """The commands of the registry, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the table."""
        return list(COMMANDS.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import the command. Raises ConfigError, listing the known ones, for an unknown name."""
        command: click.Command = COMMANDS.load(cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for each command, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, _, about in _ROWS])


class Group(click.Group):
    """Commands under a name, such as ``holdfast session``, in the order of their definition."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of their definition."""
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The command. Raises ConfigError, listing the known ones, for an unknown name."""
        command = super().get_command(ctx, cmd_name)
        if command is None:
            raise ConfigError(
                f"there is no command named {cmd_name!r}",
                place=f"holdfast {self.name}",
                advice=nearest(cmd_name, self.commands),
            )
        return command


def group(name: str, about: str) -> Group:
    """A group of commands with this help, which is shown where no command is named."""
    return Group(name, callback=_show_help, invoke_without_command=True, help=about)


@click.pass_context
def _show_help(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    epilog=_EXIT_CODES,
)
@click.version_option(__version__, prog_name="holdfast")
@click.option("--debug", is_flag=True, help="Show the traceback of a fault.")
def app(*, debug: bool) -> None:
    """Fit LLM conversations to a token budget, keep them valid, and keep what is removed."""
    del debug  # ``main`` looks for it before anything can fail
    _show_help()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; an error is one line on standard error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return int(app.main(given, prog_name="holdfast", standalone_mode=False) or 0)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except SystemExit:  # click's way out when the reader of the output has gone
        let_go(sys.stdout)
        return PIPE_CLOSED
    except Exception as fault:  # noqa: BLE001 - the outermost function: a person reads one line
        if isinstance(fault.__cause__, KeyboardInterrupt):  # in a class body, before Python 3.12
            return INTERRUPTED
        if given[:1] == ["--debug"]:
            traceback.print_exc()
        return _report(fault)


def _report(fault: Exception) -> int:
    """Print the error and return its exit code."""
    while isinstance(fault, ExceptionGroup):  # of a server's tasks
        fault = cast("ExceptionGroup[Exception]", fault).exceptions[0]
    # an error of a file has become an InputError before
    if isinstance(fault, OSError) and fault.filename is None:
        let_go(sys.stdout)
        problem = f"it cannot be written ({fault.strerror or fault})"
        fault = InputError(problem, place="standard output", advice="name a file with room for it")
    if isinstance(fault, click.ClickException | HoldfastError):
        told, code = complaint(fault), UNMET if isinstance(fault, BudgetError) else WRONG
    else:
        advice = "please report it with the output of `holdfast --debug ...`"
        told = f"an error in Holdfast itself: {type(fault).__name__}: {fault}; {advice}"
        code = BROKEN
    line = visible(told).replace("\n", "\\n")
    note(f"holdfast: {line}\n")
    return code


_OPTIONS = {"limit": "--budget", "ids": "--id"} | {
    name: f"--{name}"
    for name in (
        "budget window reserve headroom step format profile strategy provider counter model tools "
        "pin store llm embedder thread lines pattern field tokens upstream token kind to engine "
        "judge probes"
    ).split()
}
"""Names of arguments in Python, and on the command line."""

_ARGUMENT = re.compile(r"\b([a-z]+)=(?![\w\"'.])")
_UNMET = "give that many, or --soft to write what remains"


def complaint(fault: HoldfastError | click.ClickException) -> str:
    """The error as place, problem and advice, with the names of options."""
    if isinstance(fault, click.ClickException):
        fault = _of_click(fault)
    if isinstance(fault, BudgetError):
        return with_options(f"{fault}; {_UNMET}")
    if not isinstance(fault, InputError):
        return str(fault)
    place = fault.place
    if isinstance(fault, ConfigError):
        place = _OPTIONS.get(place, place)
    return str(InputError(fault.problem, place=place, advice=with_options(fault.advice)))


def with_options(advice: str) -> str:
    """The advice with options where it names arguments of Python, such as ``llm=``."""
    return _ARGUMENT.sub(lambda each: _OPTIONS.get(each[1], each[0]), advice)


def _of_click(fault: click.ClickException) -> InputError:
    """An error of the argument parser, as one of ours."""
    context = fault.ctx if isinstance(fault, click.UsageError) else None
    advice = f"see {context.command_path if context else 'holdfast'} --help"
    if isinstance(fault, click.NoSuchOption):
        if fault.possibilities:
            advice = f"did you mean {fault.possibilities[0]}?"
        return InputError("there is no such option", place=fault.option_name, advice=advice)
    if isinstance(fault, click.BadParameter):
        place = fault.param.opts[-1] if fault.param else ""
        if isinstance(fault.param, click.Argument):
            place = fault.param.human_readable_name
        problem = fault.message.rstrip(".")
        if isinstance(fault, click.MissingParameter):
            problem = "it is missing"
        return InputError(problem, place=place, advice=advice)
    message = fault.format_message().rstrip(".")
    return InputError(f"{message[:1].lower()}{message[1:]}", advice=advice)
