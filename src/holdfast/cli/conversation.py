"""Commands on one conversation or text: to fit, count, check and convert it, and its originals."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from shutil import get_terminal_size
from typing import Any

import click

from holdfast.api import compress, count, sample
from holdfast.cli import DONE, UNMET, with_options
from holdfast.compressors import COMPRESSORS
from holdfast.content import KINDS
from holdfast.formats import FORMATS, detect
from holdfast.formats.convert import convert
from holdfast.kernel.errors import ConfigError
from holdfast.names import ProviderName
from holdfast.recovery import excerpt_of
from holdfast.reports import account, written
from holdfast.reports.text import WIDTH, overview, steps, text_report
from holdfast.result import CompressionResult, report_form, restore, too_large
from holdfast.single_text import ShrunkText, shrink
from holdfast.stores import open_store
from holdfast.text.visible import amount
from holdfast.validity import repair, validate

from .files import (
    STDIN,
    STDOUT,
    Command,
    Document,
    json_bytes,
    note,
    read_conversation,
    read_json,
    read_text,
    report,
    text_bytes,
    waiting,
    within,
    write,
    write_json,
    write_report,
    write_to,
)
from .options import (
    CONFIG,
    FORM,
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
    counter_options,
    counting_options,
    excerpt_options,
    flag,
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
    tokens,
)
from .results import breakdown, calls_line, fate, result_in, steps_of, summary, write_result


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


def _columns() -> int:
    return get_terminal_size((WIDTH, 0)).columns


_FILE = click.argument("file", metavar="FILE|-")
_REPORT = option(
    "--report report_file", "FILE", "Write what was done to each message: .html or .txt."
)
_request_options = having(
    _FILE,
    *LIMITS,
    option(
        "--step", "X", "Share of the budget to free at a time, for prompt caches.", callback=share
    ),
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


@click.command("compress", cls=Command)
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
    document, result = _fitted(given)
    if not (given["soft"] or result.budget_met):
        if as_json:
            write_json(summary(result))
        raise too_large(result)
    reports: dict[str, bytes] = {}
    if report_file is not None:
        told = account(result, model=given["model"], counter=given["counter"])
        reports[report_file] = text_bytes(written(told, report_form(report_file)))
    write_result(document, result, output, result_file, reports, to_pipe=not as_json)
    if not quiet:
        lines = [*map(with_options, overview(result)), "", *calls_line(result.model_usage)]
        if given["llm"] and result.edits and not result.model_usage.calls:
            lines.append("No step asked the model of --llm; --profile quality has one that does.")
        lines += _whereabouts(result, given["file"], output, result_file)
        if report_file is not None:
            lines.append(f"The report is in {report_file}.")
        report("\n".join([*lines, ""]), sys.stderr)
        note_unknown(given)
    if as_json:
        write_json(summary(result))


def _whereabouts(
    result: CompressionResult, source: str, output: str | None, result_file: str | None
) -> Iterator[str]:
    """The files of the messages and of what was removed."""
    if output is not None and output != STDOUT:
        yield f"The messages are in {output}."
    elif output is None and sys.stdout.isatty():
        yield "The messages are not written: give -o FILE."
    if not result.edits:
        yield "Nothing was removed."
    elif result_file is not None:
        kept = f"What was removed is in {result_file}"
        yield f"{kept}: `holdfast restore {result_file}` prints the original."
    elif source in (STDIN, output):
        yield "What was removed is not kept: give --result FILE to be able to restore it."
    else:
        yield f"The original is still in {source}."


@click.command(cls=Command)
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
    _, result = _fitted(given, rehearsal=True)
    found = account(result, model=given["model"], counter=given["counter"])
    write_report(report_file, partial(written, found))
    if as_json:
        write_json(summary(result) | {"messages": [fate(entry) for entry in found.entries]})
    elif report_file is None:
        report(text_report(found, _columns()), sys.stdout)
    note_unknown(given)
    if not (given["soft"] or result.budget_met):
        raise too_large(result)


@click.command("restore", cls=Command)
@click.argument("file", metavar="RESULT|-")
@OUTPUT
def restore_command(file: str, output: str | None) -> None:
    """Print the original messages of a result that `holdfast compress --result` wrote.

    \b
    holdfast restore all.json -o chat.json
    """
    document = read_json(file)
    with within(file):
        result = result_in(document, "give the file that `holdfast compress --result FILE` wrote")
        content = json_bytes(restore(result), indent=2)
    if write_to(output, content):
        note(f"The original messages are in {output}.\n")


@click.command("count")
@_FILE
@counting_options
@JSON
def count_command(file: str, *, as_json: bool, **given: Any) -> None:
    """Count the tokens of the conversation in FILE (- is standard input), message by message.

    \b
    holdfast count chat.json --model gpt-4o
    """
    document = read_conversation(file)
    with waiting(len(document.text)), within(file):
        counted = count(document.payload, **given)
    if as_json:
        facts = asdict(counted)
        facts["messages"] = [{"index": i, **each} for i, each in enumerate(facts.pop("messages"))]
        write_json(facts)
    else:
        report("".join(f"{line}\n" for line in breakdown(counted, _columns())), sys.stdout)
    note_unknown(given)


@click.command("convert", cls=Command)
@_FILE
@option(
    "--to",
    "P",
    "The format to write: openai_chat, openai_responses, anthropic, gemini, converse, "
    "langchain, pydantic_ai.",
    callback=known(FORMATS.load),
    required=True,
)
@FORM
@OUTPUT
def convert_command(file: str, to: str, output: str | None, **given: Any) -> None:
    """Write the conversation in FILE (- is standard input) as a request of another provider.

    Its messages, system prompt and tools are written, as far as the other format can express them.
    Reasoning is left out, since only the vendor that signed it accepts it.

    \b
    holdfast convert chat.json --to gemini -o request.json
    holdfast convert session.json --to openai_responses
    """
    document = read_conversation(file)
    with within(file):
        body = convert(document.payload, to, **given)
    write_to(output, json_bytes(body, indent=2))


@click.command("sample", cls=Command)
@OUTPUT
def sample_command(output: str | None) -> None:
    """Write a recorded conversation for trying the other commands.

    \b
    holdfast sample -o chat.json
    """
    write_to(output, json_bytes(sample(), indent=2))


@click.command("validate", cls=Command)
@_FILE
@option(
    "--provider",
    "P",
    f"Whose rules apply ({', '.join(FORMATS.table)}).  [default: detected]",
    callback=known(FORMATS.load),
)
@flag("--repair repairs", "Repair it with as few changes as possible.")
@having(OUTPUT, RESULT, JSON)
def validate_command(
    file: str,
    provider: ProviderName | None,
    output: str | None,
    result_file: str | None,
    *,
    repairs: bool,
    as_json: bool,
) -> int:
    """Say what the provider would refuse in the conversation in FILE (- is standard input).

    The exit code is 1 if there is something (with --repair: if something is left). With --repair
    the messages go to the file of -o, else to standard output unless that is a terminal.

    \b
    holdfast validate chat.json --provider anthropic
    holdfast validate chat.json --repair -o chat.json --result before.json
    """
    if (output or result_file) and not repairs:
        raise ConfigError(
            "nothing is written without --repair", place="--result" if result_file else "-o"
        )
    document = read_conversation(file)
    with within(file):
        name = detect(document.payload, provider).name
        left = validate(document.payload, provider)
        facts: dict[str, object] = {"provider": name}
        if repairs:
            result = repair(document.payload, provider)
            left = validate(result.messages, provider)
            facts["repaired"] = steps_of(result)
            write_result(document, result, output, result_file, to_pipe=not as_json)
            report("".join(f"{line}\n" for line in steps(result)), sys.stderr)
    if as_json:
        write_json(facts | {"valid": not left, "violations": list(map(asdict, left))})
    else:
        told = ""
        for each in left:
            place = "" if each.index < 0 else f"messages[{each.index}]: "
            told += f"{document.name}: {place}{each.problem} ({each.rule})\n"
        found = f"not valid for {name}: {amount(len(left), 'violation')}"
        told += f"The conversation is {found if left else f'valid for {name}'}.\n"
        report(told, sys.stderr if repairs else sys.stdout)
    return UNMET if left else DONE


@click.command
@click.argument("key")
@store_options
@option("--thread", "ID", "The name of the thread, if it was compressed with one.", default="")
@excerpt_options
@CONFIG
@flag("-n --numbers", "Print the number of each line.")
@JSON
def recall(
    key: str,
    store: str | None,
    store_key: str | None,
    thread: str,
    *,
    numbers: bool,
    as_json: bool,
    **part: Any,
) -> None:
    """Print the original of a text whose last line names KEY after "original:".

    --field, --lines and --pattern are applied in this order, each to what the one before leaves.

    \b
    holdfast recall 38125504277140983120 --store originals.db
    holdfast recall 38125504277140983120 --store originals.db --pattern ERROR -n
    """
    place = kept_in(store, store_key, missing="check the path")
    if place is None:
        raise ConfigError(
            "it is missing", place="--store", advice="give the store of compress or shrink"
        )
    found = excerpt_of(key, open_store(place), thread, **part)
    if as_json:
        told = {"key": key, "text": found.text, "lines": list(found.numbers), "of": found.total}
        write_json(told)
        return
    if not found.text:
        note("Nothing matches.\n")
    write(found.numbered() if numbers else found.text)


@click.command("shrink")
@_FILE
@option(
    "--budget -t --tokens room",
    "N",
    "The size of the result in tokens.",
    required=True,
    callback=tokens,
)
@option("--query", "Q", "The question that the text must answer.", default="")
@option(
    "--kind",
    "K",
    f"The kind of text ({', '.join(KINDS.table)}).  [default: detected]",
    callback=known(KINDS.load),
)
@counter_options
@store_options
@flag("--redact", "Mask secrets first.")
@JSON
@flag("-v --verbose", "Say what was done, also without a terminal.")
def shrink_command(
    file: str,
    room: int,
    store: str | None,
    store_key: str | None,
    *,
    as_json: bool,
    verbose: bool,
    **said: Any,
) -> None:
    """Fit the text in FILE (- is standard input) to a number of tokens.

    With --store the original is kept, and the last line of the text names it for `holdfast recall`
    if there is room.

    \b
    make 2>&1 | holdfast shrink - --tokens 800 --query "why does the build fail?"
    holdfast shrink app.log --tokens 2000 --store originals.db
    """
    keeper = kept_in(store, store_key)
    # an original must be kept exactly
    text = read_text(file, "strict" if store else "replace")
    with waiting(len(text)):
        shrunk = shrink(text, room, store=keeper, **said)
    if verbose or sys.stderr.isatty():
        note("".join(f"{line}\n" for line in _done(shrunk, store)))
    if store and not (shrunk.key or shrunk.text == text):
        note("There was no room for the key of the original: give more --tokens, or keep it.\n")
    note_unknown(said)
    if as_json:
        write_json(asdict(shrunk) | {"redacted": dict(shrunk.redacted)})
    else:
        ends = shrunk.text == text or shrunk.text.endswith("\n")
        write(shrunk.text if ends else f"{shrunk.text}\n")


def _done(shrunk: ShrunkText, store: str | None) -> Iterator[str]:
    yield f"{shrunk.kind}: {shrunk.tokens_before:,} -> {amount(shrunk.tokens_after, 'token')}"
    if shrunk.omitted:
        yield f"left out: {shrunk.omitted}"
    elif shrunk.lossless:
        yield "nothing is left out"
    for secret, number in shrunk.redacted:
        yield f"masked: {number:,} {secret}"
    if shrunk.key:
        yield f"the original: holdfast recall {shrunk.key} --store {store}"
