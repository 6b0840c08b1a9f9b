"""``holdfast explain``: what ``compress`` would do, message by message."""

from __future__ import annotations

import click

from holdfast.cli.counting import mention_unknown
from holdfast.cli.request import Request, report_form, request_options
from holdfast.cli.summary import fate, printed, summary
from holdfast.cli.terminal import mention, say, show, width
from holdfast.cli.writing import check_targets, text_bytes, write_all
from holdfast.reports.text import text_report


@click.command("explain", short_help="Show what compress would do, and change nothing.")
@request_options
@click.option("--report", "told", metavar="FILE", help="Write it to a file instead: .html or .txt.")
@click.option("--json", "as_json", is_flag=True, help="Print the facts, and the fate of each message, as JSON.")
def command(request: Request, told: str | None, *, as_json: bool) -> int:
    r"""Show what `holdfast compress` would do to the conversation in FILE with these options, and change nothing.

    Each message is kept, changed, offloaded, dropped or inserted: by which step, why, and how many tokens it
    takes before and after. The exit code is that of compress.

    \b
    holdfast explain chat.json --budget 8000
    holdfast explain chat.json --budget 8000 --report why.html
    """
    form = report_form(told)
    check_targets({"--report": told}, request.file)
    _, result = request.run(rehearsal=True)
    if told is not None:
        write_all({told: text_bytes(request.report(result, form))})
        mention(f"The report is in {told}.\n")
    if as_json:
        messages = [fate(entry) for entry in request.account(result).entries]
        say(printed(summary(result) | {"messages": messages}))
    elif told is None:
        show(text_report(request.account(result), width()))
    mention_unknown(request.model, request.counter)
    request.refuse_over(result)
    return 0
