"""``holdfast compress`` and ``holdfast explain``: fit a conversation, or show how."""

import sys
from collections.abc import Iterator, Mapping
from shutil import get_terminal_size
from typing import Any

import click

from holdfast.api import compress
from holdfast.compressors import COMPRESSORS
from holdfast.files import write_all
from holdfast.kernel.errors import ConfigError
from holdfast.reports import Account, account, written
from holdfast.reports.text import WIDTH, overview, text_report
from holdfast.result import CompressionResult, report_form, too_large

from .files import (
    STDIN,
    STDOUT,
    Document,
    check_output,
    check_targets,
    read_conversation,
    text_bytes,
    within,
)
from .options import (
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
    counting_options,
    having,
    kept_in,
    known,
    model_options,
    note_unknown,
    option,
    options_of,
    positions,
    share,
    store_options,
)
from .results import calls_line, fate, summary, write_result
from .terminal import note, report, waiting, write_json


def _fitted(
    given: Mapping[str, Any], *, rehearsal: bool = False
) -> tuple[Document, CompressionResult]:
    """Read and fit the conversation of the options ``given``; a rehearsal stores nothing.

    Does not raise if the budget cannot be met.
    """
    options = options_of(given)
    if given["profile"] and given["strategy"]:
        raise ConfigError(
            "a profile and strategies exclude each other",
            place="profile",
            advice="give one of them",
        )
    budget = budget_of(given)
    document = read_conversation(given["file"])
    options["tools"] = given["tools"]
    options["store"] = (
        "memory://" if given["store"] and rehearsal else kept_in(given["store"], given["store_key"])
    )
    with waiting(len(document.text)), within(given["file"]):
        return document, compress(document.payload, budget, **options)


def _account(result: CompressionResult, given: Mapping[str, Any]) -> Account:
    """The data of a report, counted as the result was."""
    return account(result, model=given["model"], counter=given["counter"])


_REPORT = option(
    "--report report_file", "FILE", "Write what was done to each message: .html or .txt."
)
_request_options = having(
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
    model_options,
    store_options,
    counting_options,
)


@click.command("compress")
@_request_options
@having(OUTPUT, RESULT, _REPORT, JSON, QUIET)
def compress_command(
    output: str | None,
    result_file: str | None,
    report_file: str | None,
    *,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Fit the conversation in FILE (- is standard input) to a budget of tokens.

    Without -o the messages go to standard output, unless that is a terminal (-o - forces it). The
    summary goes to standard error. The budget is hard: if it cannot be met, nothing is written and
    the exit code is 1, unless --soft is given.

    \b
    holdfast compress chat.json --budget 8000 -o short.json --result all.json
    holdfast compress - --model gpt-4o --reserve 4000 < chat.json > short.json
    holdfast restore all.json -o chat.json
    """
    check_output(output, as_json=as_json)
    form = report_form(report_file, "--report")
    file: str = given["file"]
    check_targets(
        {"-o": output, "--result": result_file, "--report": report_file}, file, onto_source="-o"
    )
    document, result = _fitted(given)
    if not (given["soft"] or result.budget_met):
        if as_json:
            write_json(summary(result))
        raise too_large(result)
    reports: dict[str, bytes] = {}
    if report_file is not None:
        reports[report_file] = text_bytes(written(_account(result, given), form))
    write_result(document, result, output, result_file, reports, to_pipe=not as_json)
    if not quiet:
        ends = [
            *calls_line(result.model_usage),
            *_whereabouts(result, file, output, result_file, report_file),
        ]
        report("\n".join([*overview(result), "", *ends, ""]), sys.stderr)
        note_unknown(given)
    if as_json:
        write_json(summary(result))


def _whereabouts(
    result: CompressionResult,
    source: str,
    output: str | None,
    result_file: str | None,
    report_file: str | None,
) -> Iterator[str]:
    """The files of the messages, of what was removed, and of the report."""
    if output is not None and output != STDOUT:
        yield f"The messages are in {output}."
    elif output is None and sys.stdout.isatty():
        yield "The messages are not written: give -o FILE."
    if not result.edits:
        yield "Nothing was removed."
    elif result_file is not None:
        how = f"`holdfast restore {result_file}` prints the original"
        yield f"What was removed is in {result_file}: {how}."
    elif source in (STDIN, output):
        yield "What was removed is not kept: give --result FILE to be able to restore it."
    else:
        yield f"The original is still in {source}."
    if report_file is not None:
        yield f"The report is in {report_file}."


@click.command("explain")
@_request_options
@having(_REPORT, JSON)
def explain(report_file: str | None, *, as_json: bool, **given: Any) -> None:
    """Show what `holdfast compress` would do to FILE, without writing anything.

    Lists for each message whether it is kept, changed, offloaded, dropped or inserted, by which
    step, why, and its tokens before and after. The exit code is that of compress.

    \b
    holdfast explain chat.json --budget 8000
    holdfast explain chat.json --budget 8000 --report why.html
    """
    form = report_form(report_file, "--report")
    check_targets({"--report": report_file}, given["file"])
    _, result = _fitted(given, rehearsal=True)
    found = _account(result, given)
    if report_file is not None:
        write_all({report_file: text_bytes(written(found, form))})
        note(f"The report is in {report_file}.\n")
    if as_json:
        write_json(summary(result) | {"messages": [fate(entry) for entry in found.entries]})
    elif report_file is None:
        report(text_report(found, get_terminal_size((WIDTH, 0)).columns), sys.stdout)
    note_unknown(given)
    if not (given["soft"] or result.budget_met):
        raise too_large(result)
