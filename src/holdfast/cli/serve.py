"""``holdfast serve``: the proxy."""

from __future__ import annotations

from typing import Any

import click

from holdfast.cli.proxy_options import part, proxy_options, settings_of
from holdfast.cli.terminal import mention

_MEGABYTE = 1_000_000  # bytes, as disks and networks count


@click.command("serve")
@proxy_options
@click.option("--host", default="127.0.0.1", help="Where to listen.  [default: 127.0.0.1]")
@click.option("-p", "--port", type=click.IntRange(0, 65535), default=8400, help="[default: 8400]")
@click.option(
    "--token",
    default="",
    envvar="HOLDFAST_TOKEN",
    metavar="T",
    help="Protects the proxy's own pages; needed if other machines can reach it.",
)
@click.option(
    "--most-megabytes",
    type=click.IntRange(1),
    default=64,
    metavar="N",
    help="The largest request body.  [default: 64]",
)
@click.option(
    "--connections",
    type=click.IntRange(1),
    default=1_000,
    metavar="N",
    help="The most connections at once.  [default: 1000]",
)
@click.option(
    "--grace",
    type=click.IntRange(1),
    default=10,
    metavar="S",
    help="Seconds for running requests when it stops.  [default: 10]",
)
def command(**given: Any) -> int:
    r"""Run a proxy that fits what agents send to their providers, until it is interrupted.

    Set the agent's base URL to its address; keys and headers are passed on. Requests that fit are
    not changed, and neither is any request if Holdfast fails. Its page is at /holdfast.

    \b
    holdfast serve --budget 80% --store originals.db --recall
    ANTHROPIC_BASE_URL=http://127.0.0.1:8400 claude
    """
    named = ("host", "port", "token", "connections", "grace")
    more = {name: given.pop(name) for name in named}
    most = given.pop("most_megabytes") * _MEGABYTE
    settings = settings_of(given, most_bytes=most, **more)
    part("serve")(settings, _announce)
    return 0


def _announce(address: str) -> None:
    mention(f"Holdfast listens on {address}; its page is {address}/holdfast\n")
