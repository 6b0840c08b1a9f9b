"""``holdfast session search``: what answers a question."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

import click

from holdfast.cli.summary import printed
from holdfast.cli.terminal import mention, pour, say
from holdfast.memory.place import best_place
from holdfast.memory.times import day_name
from holdfast.reports.visible import one_line
from holdfast.session import Session
from holdfast.session.recall import Recalled

from .opening import begun, place_of, thread_options

_PREVIEW = 300  # cells of what is shown of a message


@click.command("search", short_help="The messages that answer a question best.")
@click.argument("query")
@thread_options
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1), help="How many.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON, with what gave each its score.")
def search(query: str, store: str, thread: str, limit: int, *, as_json: bool) -> int:
    r"""Print the messages of the conversation that answer QUERY best, best first.

    Each with its position, its score, its role, the day, and the sentence or line that answers best.

    \b
    holdfast session search "which retries did we agree on?" --store agent.db --thread t1
    """
    with begun(Session(thread, store=place_of(store)), store) as session:
        found = session.search(query, limit)
    if as_json:
        say(printed([asdict(each) | {"said": _moment(each.said)} for each in found]))
        return 0
    if not found:
        mention("Nothing answers it.\n")
    pour("".join(_line(each, query) for each in found))
    return 0


def _line(found: Recalled, query: str) -> str:
    day = "" if found.said is None else day_name(found.said)
    place = one_line(best_place(found.text, query, _PREVIEW), _PREVIEW)
    return f"{found.position}\t{found.score:.2f}\t{found.role}\t{day}\t{place}\n"


def _moment(said: float | None) -> str | None:
    """As ``--at`` takes it; what no calendar holds as none."""
    try:
        return None if said is None else datetime.fromtimestamp(said, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None
