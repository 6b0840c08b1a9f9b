"""``holdfast compress``: fit a conversation to a budget."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from holdfast.cli.counting import mention_unknown
from holdfast.cli.models import calls_told
from holdfast.cli.reading import STDIN, within
from holdfast.cli.request import Request, report_form, request_options
from holdfast.cli.summary import printed, summary
from holdfast.cli.terminal import mention, say
from holdfast.cli.writing import STDOUT, check_targets, like, text_bytes, write_all
from holdfast.kernel.errors import ConfigError
from holdfast.reports.text import overview
from holdfast.result import CompressionResult


@click.command("compress", short_help="Fit a conversation to a budget of tokens.")
@request_options
@click.option("-o", "--output", metavar="FILE|-", help="Where the messages go, in the form in which they came.")
@click.option("--result", "kept", metavar="FILE", help="Keep all that was taken out, for `holdfast restore`.")
@click.option("--report", "told", metavar="FILE", help="What was done to each message: .html or .txt.")
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON on standard output.")
@click.option("-q", "--quiet", is_flag=True, help="No summary on standard error.")
def command(
    request: Request, output: str | None, kept: str | None, told: str | None, *, as_json: bool, quiet: bool
) -> int:
    r"""Fit the conversation in FILE (- is standard input) to a budget of tokens.

    The messages go to the file of -o, else to standard output unless that is a terminal (-o - forces it). The
    summary goes to standard error. The budget is hard: where it cannot be met nothing is written and the exit
    code is 1, unless --soft is given.

    \b
    holdfast compress chat.json --budget 8000 -o short.json --result all.json
    holdfast compress - --model gpt-4o --reserve 4000 < chat.json > short.json
    holdfast restore all.json -o chat.json
    """
    if as_json and output == STDOUT:
        advice = "name a file for the messages"
        raise ConfigError("--json and the messages both want standard output", place="-o", advice=advice)
    form = report_form(told)
    check_targets({"-o": output, "--result": kept, "--report": told}, request.file, onto_source="-o")
    document, result = request.run()
    if as_json and not request.accepts(result):
        say(printed(summary(result)))
    request.refuse_over(result)
    with within(request.file):
        messages = like(document, result.messages)
    files: dict[str, bytes] = {}
    if output is not None and output != STDOUT:
        files[output] = messages
    if kept is not None:
        files[kept] = text_bytes(f"{result.to_json()}\n")
    if told is not None:
        files[told] = text_bytes(request.report(result, form))
    write_all(files)
    if not quiet:
        told_last = [*calls_told(result.model_usage), *_whereabouts(result, request.file, output, kept, told)]
        mention("\n".join([*overview(result), "", *told_last, ""]))
        mention_unknown(request.model, request.counter)
    if as_json:
        say(printed(summary(result)))
    elif output == STDOUT or (output is None and not sys.stdout.isatty()):
        say(messages)
    return 0


def _whereabouts(
    result: CompressionResult, source: str, output: str | None, kept: str | None, told: str | None
) -> Iterator[str]:
    """Where the messages are, what was taken out of them, and the report."""
    if output is not None and output != STDOUT:
        yield f"The messages are in {output}."
    elif output is None and sys.stdout.isatty():
        yield "The messages are not written: give -o FILE."
    if not result.edits:
        yield "Nothing was taken out."
    elif kept is not None:
        yield f"What was taken out is in {kept}: `holdfast restore {kept}` gives the original back."
    elif source in (STDIN, output):
        yield "What was taken out is not kept: give --result FILE to be able to restore it."
    else:
        yield f"The original is in {source}, as it was."
    if told is not None:
        yield f"The report is in {told}."
