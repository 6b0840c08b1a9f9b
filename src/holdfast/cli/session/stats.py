"""``holdfast session stats``: how much there is, and what happened."""

from __future__ import annotations

import click

from holdfast.cli.counting import counter_options, mention_unknown
from holdfast.cli.request import report_form
from holdfast.cli.session.opening import begun, place_of, thread_options
from holdfast.cli.summary import printed
from holdfast.cli.terminal import mention, say
from holdfast.cli.writing import check_targets, text_bytes, write_all
from holdfast.session import Session


@click.command("stats", short_help="How much there is, and what happened.")
@thread_options
@counter_options
@click.option("--report", "told", metavar="FILE", help="The story of the conversation: .html or .txt.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def stats(
    store: str, thread: str, model: str | None, counter: str | None, told: str | None, *, as_json: bool
) -> int:
    r"""Print how much there is and what happened: tiers, compactions, recalls, each with its reason.

    \b
    holdfast session stats --store agent.db --thread t1 --report session.html
    """
    form = report_form(told)
    check_targets({"--report": told}, store)
    with begun(Session(thread, store=place_of(store), model=model, counter=counter), store) as session:
        if told is not None:
            write_all({told: text_bytes(session.report(form))})
            mention(f"The report is in {told}.\n")
        say(printed(session.stats().to_dict()) if as_json else session.report())
    mention_unknown(model, counter)
    return 0
