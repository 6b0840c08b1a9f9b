"""``holdfast mcp``: recall, search and shortening for agents that speak MCP."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast.cli.options import kept_in, store_options
from holdfast.kernel.errors import ConfigError, MissingExtraError
from holdfast.kernel.registry import imported

_PACKAGES = ("mcp", "pydantic")


@click.command("mcp")
@store_options
@click.option("--thread", metavar="ID", default="", help="The thread for calls that name none.")
@click.option(
    "--root",
    metavar="DIR",
    default=".",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder whose files agents may read.  [default: the working directory]",
)
@click.option(
    "--http",
    "port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="Serve streamable HTTP on 127.0.0.1 instead of standard input and output.",
)
def command(
    store: str | None, store_key: str | None, thread: str, root: Path, port: int | None
) -> int:
    r"""Offer an agent tools over MCP: recall, search, compress_file, stats and remember.

    \b
    holdfast mcp --store agent.db
    claude mcp add holdfast -- holdfast mcp --store agent.db
    """
    place = kept_in(store, store_key)
    if place is None:
        advice = "name one, such as agent.db"
        raise ConfigError("it is missing", place="--store", advice=advice)
    try:
        serve = imported("holdfast.mcp.server:serve")
    except ModuleNotFoundError as fault:
        if fault.name in _PACKAGES:
            raise MissingExtraError("the MCP server", "mcp") from fault
        raise
    serve(place, thread, root, port)
    return 0
