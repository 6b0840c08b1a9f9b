"""The terminal door: ``holdfast``, one file a command."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import cast

import click

from holdfast import __version__
from holdfast.cli.complaint import BROKEN, INTERRUPTED, PIPE_CLOSED, UNMET, WRONG, complaint
from holdfast.cli.options import as_typed
from holdfast.cli.terminal import PipeClosed, tell
from holdfast.kernel.errors import BudgetError, HoldfastError
from holdfast.kernel.registry import Registry

COMMANDS = Registry(
    "command",
    "commands",
    {
        "compress": "holdfast.cli.compress:command",
        "count": "holdfast.cli.count:command",
        "explain": "holdfast.cli.explain:command",
        "validate": "holdfast.cli.validate:command",
        "restore": "holdfast.cli.restore:command",
        "recall": "holdfast.cli.recall:command",
        "shrink": "holdfast.cli.shrink:command",
        "session": "holdfast.cli.session:command",
    },
)

_EXIT_CODES = """\b
Exit codes:
  0  done
  1  the budget cannot be met, or the conversation is not valid
  2  the input or the arguments are wrong
 70  a fault of Holdfast itself
130  interrupted; 141 the reader of the output has gone
"""


class _Commands(click.Group):
    """The commands of the registry, each loaded when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the registry, those of other packages last."""
        del ctx
        outside = [name for name in COMMANDS.names() if name not in COMMANDS.table]
        return [*COMMANDS.table, *outside]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Raises ConfigError, naming the known ones, for an unknown command."""
        del ctx
        return as_typed(cast("click.Command", COMMANDS.load(cmd_name)))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    epilog=_EXIT_CODES,
)
@click.version_option(__version__, prog_name="holdfast")
@click.option("--debug", is_flag=True, help="Show the traceback of a fault.")
@click.pass_context
def app(ctx: click.Context, *, debug: bool) -> None:
    """Fit an LLM conversation to a token budget, keep it valid, and hold fast to everything that is taken out."""
    del debug  # ``main`` looks for it before anything can fail
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code. A person's mistake gives one line on standard error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = given[:1] == ["--debug"]
    try:
        return int(app.main(given, prog_name="holdfast", standalone_mode=False) or 0)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except PipeClosed:
        return PIPE_CLOSED
    except Exception as fault:  # noqa: BLE001 - the outermost door: whatever it is, a person reads one line
        if debug:
            traceback.print_exc()
        return _told(fault)


def _told(fault: Exception) -> int:
    """Say what went wrong; the exit code that it amounts to."""
    if isinstance(fault, click.ClickException | HoldfastError):
        tell(f"holdfast: {complaint(fault)}")
        return UNMET if isinstance(fault, BudgetError) else WRONG
    advice = "please report it with what `holdfast --debug ...` prints"
    tell(f"holdfast: a fault of Holdfast itself: {type(fault).__name__}: {fault}; {advice}")
    return BROKEN
