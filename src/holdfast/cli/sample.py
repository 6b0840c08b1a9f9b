"""``holdfast sample``: a recorded conversation for trying the other commands."""

from __future__ import annotations

import click

from holdfast.cli.files import check_targets, json_bytes
from holdfast.cli.options import OUTPUT
from holdfast.cli.terminal import deliver
from holdfast.samples import sample


@click.command("sample")
@OUTPUT
def command(output: str | None) -> int:
    r"""Write a recorded conversation for trying the other commands.

    \b
    holdfast sample -o chat.json
    """
    check_targets({"-o": output}, "")
    deliver(json_bytes(sample(), indent=2), output)
    return 0
