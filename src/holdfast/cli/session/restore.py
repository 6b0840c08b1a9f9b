"""``holdfast session restore``: everything that was ever appended."""

from __future__ import annotations

import click

from holdfast.cli.session.opening import begun, place_of, thread_options
from holdfast.cli.terminal import mention, say
from holdfast.cli.writing import STDOUT, check_targets, json_bytes, write_all
from holdfast.session import Session


@click.command("restore", short_help="Everything that was ever appended.")
@thread_options
@click.option("-o", "--output", metavar="FILE|-", default=STDOUT, help="Where the messages go.")
def restore(store: str, thread: str, output: str) -> int:
    r"""Write every message that was ever appended, as it was appended.

    \b
    holdfast session restore --store agent.db --thread t1 -o all.json
    """
    check_targets({"-o": output}, store)
    with begun(Session(thread, store=place_of(store)), store) as session:
        content, damage = json_bytes(session.restore()), session.faults
    if output == STDOUT:
        say(content)
    else:
        write_all({output: content})
    for fault in damage:
        mention(f"{fault}\n")
    return 0
