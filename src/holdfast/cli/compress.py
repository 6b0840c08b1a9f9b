"""``holdfast compress`` and ``holdfast explain``: fit a conversation, or show how."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import update_wrapper
from inspect import signature
from shutil import get_terminal_size
from typing import Any, cast

import click

from holdfast.api import compress
from holdfast.cli.files import (
    STDIN,
    STDOUT,
    Document,
    check_output,
    check_targets,
    read_conversation,
    text_bytes,
    within,
)
from holdfast.cli.options import (
    JSON,
    LIMITS,
    OUTPUT,
    PROFILE,
    QUERY,
    QUIET,
    REDACT,
    RESULT,
    SOFT,
    budget_of,
    configured,
    counting_options,
    having,
    kept_in,
    known,
    model_options,
    note_unknown,
    option,
    options_of,
    positions,
    read_tools,
    share,
    store_options,
)
from holdfast.cli.results import calls_line, fate, summary, write_result
from holdfast.cli.terminal import note, report, waiting, write_json
from holdfast.compressors import COMPRESSORS
from holdfast.files import write_all
from holdfast.kernel.errors import BudgetError, ConfigError
from holdfast.names import ReportForm
from holdfast.reports import Account, account, written
from holdfast.reports.text import WIDTH, overview, text_report
from holdfast.result import CompressionResult, report_form


class Request:
    """A conversation, a budget and options, as given on the command line."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.file: str = given["file"]
        self.soft: bool = given["soft"]
        self._given = given
        self._options = options_of(given)
        self.counted = self._options.get("model"), cast("str | None", self._options.get("counter"))
        """The model and the counter that count tokens."""

    def run(self, *, rehearsal: bool = False) -> tuple[Document, CompressionResult]:
        """Read and fit the conversation; a rehearsal stores nothing.

        Does not raise if the budget cannot be met: see ``unmet``.
        """
        given = self._given
        if given["profile"] and given["strategy"]:
            problem = "a profile and strategies exclude each other"
            raise ConfigError(problem, place="profile", advice="give one of them")
        budget = budget_of(given)
        document = read_conversation(self.file)
        options = self._options.copy()
        options["tools"] = read_tools(given["tools"]) or configured().options.get("tools")
        options["store"] = (
            "memory://"
            if given["store"] and rehearsal
            else kept_in(given["store"], given["store_key"])
        )
        with waiting(len(document.text)), within(self.file, given["tools"]):
            result = compress(document.payload, budget, **options)
        return document, result

    def unmet(self, result: CompressionResult) -> BudgetError | None:
        """The error of a result that does not fit, unless the budget is soft."""
        if self.soft or result.budget_met:
            return None
        return BudgetError(
            limit=result.spent.limit,
            tokens=result.metrics.tokens_before,
            smallest=result.smallest or result.spent.tokens,
            reason=result.detail,
        )

    def account(self, result: CompressionResult) -> Account:
        """The data of a report, counted as the result was."""
        return account(result, model=self.counted[0], counter=self.counted[1])

    def report(self, result: CompressionResult, form: ReportForm) -> str:
        """The report in this form."""
        return written(self.account(result), form)


def request_options(command: Callable[..., int]) -> Callable[..., int]:
    """Pass a Request as the first argument, and add its options."""

    def asked(**given: Any) -> int:
        return command(
            Request(given),
            **{name: given[name] for name in given if name in signature(command).parameters},
        )

    # click keeps a command's own options on its function
    decorated = counting_options(cast("Callable[..., int]", update_wrapper(asked, command)))
    return having(*_OPTIONS)(model_options(store_options(decorated)))


_REPORT = option("--report told", "FILE", "Write what was done to each message: .html or .txt.")
_OPTIONS = (
    click.argument("file", metavar="FILE|-"),
    *LIMITS,
    option("--step", "X", "Remove in steps of this share, for prompt caches.", callback=share),
    SOFT,
    PROFILE,
    option(
        "--strategy",
        "S",
        f"Instead of a profile; may be repeated ({', '.join(COMPRESSORS.table)}).",
        callback=known(COMPRESSORS.load),
        multiple=True,
    ),
    QUERY,
    option(
        "--pin", "I", "Positions of messages to keep: 0,3,-1.", multiple=True, callback=positions
    ),
    REDACT,
)


@click.command("compress")
@request_options
@having(OUTPUT, RESULT, _REPORT, JSON, QUIET)
def compress_command(
    request: Request,
    output: str | None,
    kept: str | None,
    told: str | None,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    r"""Fit the conversation in FILE (- is standard input) to a budget of tokens.

    Without -o the messages go to standard output, unless that is a terminal (-o - forces it). The
    summary goes to standard error. The budget is hard: if it cannot be met, nothing is written and
    the exit code is 1, unless --soft is given.

    \b
    holdfast compress chat.json --budget 8000 -o short.json --result all.json
    holdfast compress - --model gpt-4o --reserve 4000 < chat.json > short.json
    holdfast restore all.json -o chat.json
    """
    check_output(output, as_json=as_json)
    form = report_form(told, "--report")
    check_targets(
        {"-o": output, "--result": kept, "--report": told}, request.file, onto_source="-o"
    )
    document, result = request.run()
    if unmet := request.unmet(result):
        if as_json:
            write_json(summary(result))
        raise unmet
    reports = {} if told is None else {told: text_bytes(request.report(result, form))}
    write_result(document, result, output, kept, reports, to_pipe=not as_json)
    if not quiet:
        told_last = [
            *calls_line(result.model_usage),
            *_whereabouts(result, request.file, output, kept, told),
        ]
        report("\n".join([*overview(result), "", *told_last, ""]), sys.stderr)
        note_unknown(*request.counted)
    if as_json:
        write_json(summary(result))
    return 0


def _whereabouts(
    result: CompressionResult, source: str, output: str | None, kept: str | None, told: str | None
) -> Iterator[str]:
    """The files of the messages, of what was removed, and of the report."""
    if output is not None and output != STDOUT:
        yield f"The messages are in {output}."
    elif output is None and sys.stdout.isatty():
        yield "The messages are not written: give -o FILE."
    if not result.edits:
        yield "Nothing was removed."
    elif kept is not None:
        yield f"What was removed is in {kept}: `holdfast restore {kept}` prints the original."
    elif source in (STDIN, output):
        yield "What was removed is not kept: give --result FILE to be able to restore it."
    else:
        yield f"The original is still in {source}."
    if told is not None:
        yield f"The report is in {told}."


@click.command("explain")
@request_options
@having(_REPORT, JSON)
def explain(request: Request, told: str | None, *, as_json: bool) -> int:
    r"""Show what `holdfast compress` would do to FILE, without writing anything.

    Lists for each message whether it is kept, changed, offloaded, dropped or inserted, by which
    step, why, and its tokens before and after. The exit code is that of compress.

    \b
    holdfast explain chat.json --budget 8000
    holdfast explain chat.json --budget 8000 --report why.html
    """
    form = report_form(told, "--report")
    check_targets({"--report": told}, request.file)
    _, result = request.run(rehearsal=True)
    if told is not None:
        write_all({told: text_bytes(request.report(result, form))})
        note(f"The report is in {told}.\n")
    if as_json:
        messages = [fate(entry) for entry in request.account(result).entries]
        write_json(summary(result) | {"messages": messages})
    elif told is None:
        width = get_terminal_size((WIDTH, 0)).columns
        report(text_report(request.account(result), width), sys.stdout)
    note_unknown(*request.counted)
    if unmet := request.unmet(result):
        raise unmet
    return 0
