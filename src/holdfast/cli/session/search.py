"""``holdfast session search``: what answers a question."""

from __future__ import annotations

from dataclasses import asdict

import click

from holdfast.cli.summary import printed
from holdfast.cli.terminal import mention, pour, say
from holdfast.reports.visible import one_line
from holdfast.session import Session

from .opening import begun, place_of, thread_options

_PREVIEW = 300  # cells of a message that was found


@click.command("search", short_help="The messages that answer a question best.")
@click.argument("query")
@thread_options
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1), help="How many.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON, with what gave each its score.")
def search(query: str, store: str, thread: str, limit: int, *, as_json: bool) -> int:
    r"""Print the messages of the conversation that answer QUERY best, best first: position, score and text.

    \b
    holdfast session search "which retries did we agree on?" --store agent.db --thread t1
    """
    with begun(Session(thread, store=place_of(store)), store) as session:
        found = session.search(query, limit)
    if as_json:
        say(printed([asdict(each) for each in found]))
        return 0
    if not found:
        mention("Nothing answers it.\n")
    pour("".join(f"{each.position}\t{each.score:.2f}\t{one_line(each.text, _PREVIEW)}\n" for each in found))
    return 0
