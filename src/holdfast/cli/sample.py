"""``holdfast sample``: a recorded conversation, to try the other commands on."""

from __future__ import annotations

import click

from holdfast.cli.files import STDOUT, check_targets, json_bytes
from holdfast.cli.terminal import say
from holdfast.files import write_all
from holdfast.samples import sample


@click.command("sample")
@click.option("-o", "--output", metavar="FILE|-", default=STDOUT, help="Where the messages go.")
def command(output: str) -> int:
    r"""Write a recorded conversation, to try the other commands on.

    \b
    holdfast sample -o chat.json
    """
    check_targets({"-o": output}, "")
    content = json_bytes(sample(), indent=2)
    if output == STDOUT:
        say(content)
    else:
        write_all({output: content})
    return 0
