"""``holdfast compress`` and ``holdfast explain``.

Fit a conversation to a budget, or show how it would be.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import update_wrapper
from inspect import signature
from pathlib import Path
from typing import Any, Literal, cast

import click

from holdfast.api import compress
from holdfast.cli.facts import calls_told, fate, summary
from holdfast.cli.files import (
    STDIN,
    STDOUT,
    Document,
    check_output,
    check_targets,
    like,
    read_conversation,
    text_bytes,
    within,
)
from holdfast.cli.options import (
    LIMITS,
    PROFILE,
    REDACT,
    SOFT,
    budget_of,
    configured,
    counting_options,
    having,
    kept_in,
    known,
    mention_unknown,
    model_options,
    options_of,
    positions,
    read_tools,
    share,
    store_options,
)
from holdfast.cli.terminal import mention, say, say_json, show, waiting, width
from holdfast.compressors import COMPRESSORS
from holdfast.files import write_all
from holdfast.kernel.errors import BudgetError, ConfigError
from holdfast.reports import Account, account, written
from holdfast.reports.text import overview, text_report
from holdfast.result import CompressionResult

Form = Literal["text", "html"]
_FORMS: Mapping[str, Form] = {".html": "html", ".htm": "html", ".txt": "text"}


class Request:
    """One conversation, one budget, and how it is to be met, as the command line says it."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.file: str = given["file"]
        self.soft: bool = given["soft"]
        self._given = given
        self._options = options_of(given)
        self.counted = self._options.get("model"), cast("str | None", self._options.get("counter"))
        """The model and the counter by which tokens are counted."""

    def run(self, *, rehearsal: bool = False) -> tuple[Document, CompressionResult]:
        """Read, and fit; in a rehearsal nothing is put into the store.

        A budget that cannot be met is the caller's to refuse, with ``refuse_over``.
        """
        given = self._given
        if given["profile"] and given["strategy"]:
            advice = "give the one or the other"
            raise ConfigError(
                "a profile and strategies exclude each other", place="profile", advice=advice
            )
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

    def accepts(self, result: CompressionResult) -> bool:
        """Whether the result fits, or need not."""
        return self.soft or result.budget_met

    def refuse_over(self, result: CompressionResult) -> None:
        """Raise BudgetError for a result that is not accepted."""
        if not self.accepts(result):
            before, smallest = result.metrics.tokens_before, result.smallest or result.spent.tokens
            raise BudgetError(
                limit=result.spent.limit, tokens=before, smallest=smallest, reason=result.detail
            )

    def account(self, result: CompressionResult) -> Account:
        """The result message by message, counted as it was."""
        return account(result, model=self.counted[0], counter=self.counted[1])

    def report(self, result: CompressionResult, form: Form) -> str:
        """The report in this form."""
        return written(self.account(result), form)


def request_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a request; its first argument is the Request."""

    def asked(**given: Any) -> int:
        return command(
            Request(given),
            **{name: given[name] for name in given if name in signature(command).parameters},
        )

    # click keeps what the options of the command itself have left on its function
    decorated = counting_options(cast("Callable[..., int]", update_wrapper(asked, command)))
    return having(*_OPTIONS)(model_options(store_options(decorated)))


def report_form(file: str | None) -> Form:
    """The form of report that the name of a file asks for.

    Raises ConfigError for a name that asks for none.
    """
    suffix = Path(file).suffix.lower() if file else ".txt"
    if suffix not in _FORMS:
        advice = f"let its name end in {' or '.join(_FORMS)}"
        raise ConfigError(
            "the name says no form of report", place=f"--report {file}", advice=advice
        )
    return _FORMS[suffix]


_OPTIONS = (
    click.argument("file", metavar="FILE|-"),
    *LIMITS,
    click.option(
        "--step",
        callback=share,
        metavar="X",
        help="Let go in steps of this share: prompt caches hold.",
    ),
    SOFT,
    PROFILE,
    click.option(
        "--strategy",
        callback=known(COMPRESSORS.load),
        multiple=True,
        metavar="S",
        help=f"Instead of a profile; again for the next ({', '.join(COMPRESSORS.table)}).",
    ),
    click.option(
        "--query", metavar="Q", help="The question in view.  [default: the newest user message]"
    ),
    click.option(
        "--pin",
        multiple=True,
        callback=positions,
        metavar="I",
        help="Messages that never leave: 0,3,-1.",
    ),
    REDACT,
)


@click.command("compress")
@request_options
@click.option(
    "-o",
    "--output",
    metavar="FILE|-",
    help="Where the messages go, in the form in which they came.",
)
@click.option(
    "--result", "kept", metavar="FILE", help="Keep all that was taken out, for `holdfast restore`."
)
@click.option(
    "--report", "told", metavar="FILE", help="What was done to each message: .html or .txt."
)
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON on standard output.")
@click.option("-q", "--quiet", is_flag=True, help="No summary on standard error.")
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

    The messages go to the file of -o, else to standard output unless that is a terminal (-o -
    forces it). The summary goes to standard error. The budget is hard: where it cannot be met
    nothing is written and the exit code is 1, unless --soft is given.

    \b
    holdfast compress chat.json --budget 8000 -o short.json --result all.json
    holdfast compress - --model gpt-4o --reserve 4000 < chat.json > short.json
    holdfast restore all.json -o chat.json
    """
    check_output(output, as_json=as_json)
    form = report_form(told)
    check_targets(
        {"-o": output, "--result": kept, "--report": told}, request.file, onto_source="-o"
    )
    document, result = request.run()
    if as_json and not request.accepts(result):
        say_json(summary(result))
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
        told_last = [
            *calls_told(result.model_usage),
            *_whereabouts(result, request.file, output, kept, told),
        ]
        mention("\n".join([*overview(result), "", *told_last, ""]))
        mention_unknown(*request.counted)
    if as_json:
        say_json(summary(result))
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


@click.command("explain")
@request_options
@click.option("--report", "told", metavar="FILE", help="Write it to a file instead: .html or .txt.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the facts, and the fate of each message, as JSON.",
)
def explain(request: Request, told: str | None, *, as_json: bool) -> int:
    r"""Show what `holdfast compress` would do to FILE with these options, and change nothing.

    Each message is kept, changed, offloaded, dropped or inserted: by which step, why, and how many
    tokens it takes before and after. The exit code is that of compress.

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
        say_json(summary(result) | {"messages": messages})
    elif told is None:
        show(text_report(request.account(result), width()))
    mention_unknown(*request.counted)
    request.refuse_over(result)
    return 0
