"""``holdfast batch``: many conversations, from files to a file."""

from dataclasses import asdict
from typing import Any, cast

import click

from holdfast.batch import CHUNK, Summary, batch

from .files import note, progress, write_json
from .options import (
    JSON,
    LIMITS,
    PROFILE,
    REDACT,
    Whole,
    budget_of,
    form_options,
    having,
    model_options,
    named_in,
    option,
    options_of,
    store_options,
)


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="IN...")
@click.argument("target", metavar="OUT")
@having(*LIMITS)
@PROFILE
@option(
    "--engine",
    "URL",
    "Where it runs: processes://4, dask://host:8786, ray://host:10001.  "
    "[default: a process for each processor]",
)
@option("--work", "DIR", "Where finished parts are kept.  [default: OUT.work]")
@click.option(
    "--chunk",
    default=CHUNK,
    show_default=True,
    type=Whole(1),
    help="Conversations in one part.",
)
@store_options
@model_options
@REDACT
@form_options
@JSON
def command(
    sources: tuple[str, ...],
    target: str,
    engine: str | None,
    work: str | None,
    chunk: int,
    store: str | None,
    store_key: str | None,
    *,
    as_json: bool,
    **given: Any,
) -> None:
    """Fit every conversation of IN to the budget, and write them to OUT in their order.

    IN and OUT are JSON lines (.jsonl: a list of messages or a request body each) or Parquet
    (.parquet: a column "messages"), here or as s3://bucket/file; IN may be a pattern in quotes.
    Conversations that cannot be read go to OUT.bad.jsonl with the reason; those whose budget cannot
    be met are written with what remains, and counted. If the command is interrupted, run it again:
    it continues where it stopped.

    \b
    holdfast batch 'logs/*.jsonl' fitted.jsonl --budget 8000
    """
    options = options_of(given)
    if place := named_in(store, store_key):
        options["store"] = cast("str", place)
    summary = batch(
        sources,
        target,
        budget_of(given),
        engine=engine,
        work=work,
        chunk=chunk,
        progress=progress(lambda done: f"{done:,} conversations done"),
        **options,
    )
    if as_json:
        write_json(asdict(summary))
    else:
        note(_summary_lines(summary, target))


def _summary_lines(summary: Summary, target: str) -> str:
    share = summary.tokens_after / max(1, summary.tokens_before)
    lines = [
        (
            f"{summary.fitted:,} of {summary.inputs:,} conversations are in {target}: "
            f"{summary.tokens_before:,} tokens became {summary.tokens_after:,} ({share:.0%})."
        ),
        (
            f"{summary.untouched:,} of them fitted already; {summary.unmet:,} exceed the budget; "
            f"in {summary.degraded:,} a step failed and a cheaper one took its place."
        ),
    ]
    if summary.bad:
        lines.append(f"{summary.bad:,} could not be read: see {target}.bad.jsonl.")
    if summary.resumed:
        lines.append(f"{summary.resumed:,} were finished before.")
    if summary.requests:
        lines.append(f"Models were asked {summary.requests:,} times, for ${summary.cost:,.2f}.")
    rate = (summary.inputs - summary.resumed) / max(summary.elapsed, 1e-9)
    lines.append(
        f"It took {summary.elapsed:,.1f} s, {rate:,.1f} conversations a second, "
        f"{summary.seconds:,.1f} s of processor time."
    )
    return "\n".join(lines) + "\n"
