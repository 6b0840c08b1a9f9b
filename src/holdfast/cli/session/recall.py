"""``holdfast session recall``: an original, whole or in part."""

from __future__ import annotations

import re

import click

from holdfast.cli.session.opening import begun, place_of, thread_options
from holdfast.cli.terminal import mention, pour
from holdfast.session import Session

_POSITION = re.compile(r"-?\d{1,11}", re.ASCII)  # a key of an original has 12 digits or more


@click.command("recall", short_help="Give back an original, whole or in part.")
@click.argument("key")
@thread_options
@click.option("--lines", metavar="A:B", help="Only these lines, counted from 1.")
@click.option("--pattern", metavar="RE", help="Only lines that match this regular expression (RE2).")
@click.option("--field", metavar="PATH", help="Only this field of JSON, such as orders[3].status.")
def recall(key: str, store: str, thread: str, lines: str | None, pattern: str | None, field: str | None) -> int:
    r"""Give back an original.

    KEY is what stands after "original:" in a shortened text, or the position or the id of a message. A position
    from the end, such as -1, stands last, after two dashes.

    \b
    holdfast session recall 3fa1c27b90de --store agent.db --thread t1 --pattern ERROR
    holdfast session recall --store agent.db --thread t1 -- -1
    """
    with begun(Session(thread, store=place_of(store)), store) as session:
        which = int(key) if _POSITION.fullmatch(key) else key
        found = session.recall(which, lines=lines, pattern=pattern, field=field)
    if not found:
        mention("Nothing of the original matches.\n" if lines or pattern or field else "It has no text.\n")
    pour(found)
    return 0
