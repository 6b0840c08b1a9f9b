"""Results: the files that are written, and the facts that ``--json`` prints."""

import sys
from collections.abc import Iterator, Mapping

from holdfast.api import TokenBreakdown
from holdfast.files import write_all
from holdfast.kernel.errors import InputError
from holdfast.kernel.typed import attributes
from holdfast.model_usage import ModelUsage
from holdfast.reports import MessageAccount
from holdfast.reports.text import edits_by_kind, trust
from holdfast.result import CompressionResult, facts
from holdfast.text.visible import amount, clip, one_line

from .files import STDOUT, Document, like, object_in, text_bytes, within, write

_BAR = 12  # cells of the bar that shows the share of a message


def write_result(
    document: Document,
    result: CompressionResult,
    output: str | None,
    result_file: str | None,
    more: Mapping[str, bytes] | None = None,
    *,
    to_pipe: bool,
) -> None:
    """Write the messages to ``output``, the result to ``result_file``, and more files: all or none.

    Without ``output`` the messages go to standard output if that is a pipe and ``to_pipe``.
    """
    with within(document.name):
        messages = like(document, result.messages)
    files = dict(more or {})
    if output is not None and output != STDOUT:
        files[output] = messages
    if result_file is not None:
        files[result_file] = text_bytes(f"{result.to_json()}\n")
    write_all(files)
    if output == STDOUT or (output is None and to_pipe and not sys.stdout.isatty()):
        write(messages)


def result_in(document: Document, advice: str) -> CompressionResult:
    """The result that a file holds. Raises InputError, with the advice, for another file."""
    if "holdfast" not in object_in(document):
        raise InputError("this is not a result", advice=advice)
    return CompressionResult.from_json(document.text)


def summary(result: CompressionResult) -> dict[str, object]:
    """Status, sizes and steps of a result, without message text."""
    return {**facts(result), "strategy": result.strategy_name, "steps": steps_of(result)}


def steps_of(result: CompressionResult) -> list[dict[str, object]]:
    """The steps, with the numbers of messages that each dropped, changed and inserted."""
    names = "name before after applied status reason detail"
    return [{"edits": edits_by_kind(step), **attributes(step, names)} for step in result.steps]


def fate(entry: MessageAccount) -> dict[str, object]:
    """What became of a message, and why; a position is null where the message does not exist."""
    decided = entry.decided
    return {
        **attributes(entry, "before after role state tokens_before tokens_after covers"),
        "step": decided and decided.step,
        "reason": decided and decided.reason,
        "key": (decided and decided.key) or None,
    }


def breakdown(counted: TokenBreakdown, width: int) -> Iterator[str]:
    """A line for each message with its share and its beginning, and the total."""
    yield f"{'#':>3}  {'role':<9}  {'tokens':>9}   share  {'':{_BAR}}  message"
    for i, message in enumerate(counted.messages):
        share = message.tokens / max(counted.total, 1)
        bar = "━" * round(share * _BAR)
        size = f"{i:>3}  {message.role:<9}  {message.tokens:>9,}  {share:>6.1%}  {bar:<{_BAR}}"
        yield clip(f"{size}  {one_line(message.preview)}", width).rstrip()
    beside = f", {counted.overhead:,} of them beside the messages" if counted.overhead else ""
    yield ""
    yield (
        f"{counted.total:,} tokens{beside}, counted with {counted.counter}: "
        f"{trust(counted.accuracy)}"
    )


def calls_line(usage: ModelUsage) -> Iterator[str]:
    """A line about the calls of models, if there were any."""
    if not usage.calls:
        return
    cost = "" if not usage.cost else f", about ${usage.cost:.4f}"
    failed = f", {amount(usage.failures, 'call')} without an answer" if usage.failures else ""
    tokens = f"{usage.input_tokens:,} tokens in and {usage.output_tokens:,} out"
    yield f"Models: {amount(usage.requests, 'request')}, {tokens}{cost}{failed}."
