"""``holdfast session``: a conversation that is kept whole in a store, held by a shell script or looked into."""

from __future__ import annotations

from difflib import get_close_matches

import click

from holdfast.cli.options import as_typed
from holdfast.cli.session.append import append
from holdfast.cli.session.fit import fit
from holdfast.cli.session.recall import recall
from holdfast.cli.session.restore import restore
from holdfast.cli.session.search import search
from holdfast.cli.session.stats import stats
from holdfast.kernel.errors import ConfigError


class _Commands(click.Group):
    """The commands of a session, in the order in which a script meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they were added."""
        del ctx
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Raises ConfigError, naming the known ones, for an unknown command."""
        command = super().get_command(ctx, cmd_name)
        if command is None:
            near = get_close_matches(cmd_name, self.commands, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            advice = f"{hint}known are {', '.join(self.list_commands(ctx))}"
            raise ConfigError(f"there is no command named {cmd_name!r}", place="session", advice=advice)
        return as_typed(command)


@click.group(
    "session",
    cls=_Commands,
    short_help="Keep a conversation in a store, and fit it from there.",
    invoke_without_command=True,
)
@click.pass_context
def command(ctx: click.Context) -> None:
    r"""Keep a conversation whole in a store, and send of it what fits and matters.

    \b
    holdfast session append turn.json --store agent.db --thread t1
    holdfast session fit --store agent.db --thread t1 --budget 8000 -o view.json
    holdfast session search "which retries did we agree on?" --store agent.db --thread t1
    holdfast session stats --store agent.db --thread t1 --report session.html
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for each in (append, fit, search, recall, stats, restore):
    command.add_command(each)
