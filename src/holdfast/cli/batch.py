"""``holdfast batch``: many conversations, from files to a file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from time import monotonic
from typing import Any

import click

from holdfast.batch import CHUNK, Summary, batch
from holdfast.cli.options import (
    LIMITS,
    PROFILE,
    REDACT,
    budget_of,
    form_options,
    having,
    kept_in,
    model_options,
    options_of,
)
from holdfast.cli.terminal import mention, say_json, tell

_PAUSE = 0.5  # seconds between two lines of progress


@click.command(short_help="Fit many conversations, from files to a file.")
@click.argument("sources", nargs=-1, required=True, metavar="IN...")
@click.argument("target", metavar="OUT")
@having(*LIMITS)
@PROFILE
@click.option(
    "--engine",
    metavar="URL",
    help="Who works: processes://4, dask://host:8786, ray://host:10001.  "
    "[default: a process for each processor]",
)
@click.option("--work", metavar="DIR", help="Where what is done stands.  [default: OUT.work]")
@click.option(
    "--chunk", default=CHUNK, show_default=True, help="Conversations that are done at once."
)
@click.option("--store", metavar="URL", help="Where originals are kept.")
@model_options
@REDACT
@form_options
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(
    sources: tuple[str, ...],
    target: str,
    engine: str | None,
    work: str | None,
    chunk: int,
    store: str | None,
    *,
    as_json: bool,
    **given: Any,
) -> int:
    r"""Fit every conversation of IN to the budget, and write them to OUT in their order.

    IN and OUT are JSON lines (.jsonl: a list of messages or a request body each) or Parquet
    (.parquet: a column "messages"), here or as s3://bucket/file; IN may be a pattern in quotes.
    What cannot be read goes to OUT.bad.jsonl with the reason. When the command is ended before it
    is done, the same command goes on from there.

    \b
    holdfast batch 'logs/*.jsonl' fitted.jsonl --budget 8000
    """
    options = options_of(given)
    if store is not None:
        options["store"] = kept_in(store, None)
    summary = batch(
        sources,
        target,
        budget_of(given),
        engine=engine,
        work=work,
        chunk=max(1, chunk),
        progress=_progress(),
        **options,
    )
    if as_json:
        say_json(asdict(summary))
    else:
        mention(_told(summary, target))
    return 0


def _progress() -> Callable[[int], None] | None:
    """Tells how many are done, on a terminal, now and then."""
    if not sys.stderr.isatty():
        return None
    begun, told, first = monotonic(), 0.0, -1

    def progress(done: int) -> None:
        nonlocal told, first
        first = done if first < 0 else first
        now = monotonic()
        if now - told > _PAUSE:
            told = now
            rate = (done - first) / max(now - begun, _PAUSE)
            tell(f"{done:,} conversations are done, {rate:,.0f} a second")

    return progress


def _told(summary: Summary, target: str) -> str:
    share = summary.tokens_after / max(1, summary.tokens_before)
    lines = [
        (
            f"{summary.fitted:,} of {summary.inputs:,} conversations stand in {target}: "
            f"{summary.tokens_before:,} tokens became {summary.tokens_after:,} ({share:.0%})."
        ),
        (
            f"{summary.untouched:,} of them fitted as they were; {summary.unmet:,} are above the "
            f"budget; {summary.degraded:,} took a cheaper step in place of one that failed."
        ),
    ]
    if summary.bad:
        lines.append(f"{summary.bad:,} could not be read: see {target}.bad.jsonl.")
    if summary.resumed:
        lines.append(f"{summary.resumed:,} had been done before.")
    if summary.requests:
        lines.append(f"Models were asked {summary.requests:,} times, for ${summary.cost:,.2f}.")
    rate = (summary.inputs - summary.resumed) / max(summary.elapsed, 1e-9)
    lines.append(
        f"It took {summary.elapsed:,.1f} s, {rate:,.1f} conversations a second, "
        f"{summary.seconds:,.1f} s of processor time."
    )
    return "\n".join(lines) + "\n"
