"""``holdfast shrink``: fit a single text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict

import click

from holdfast.cli.files import read_text
from holdfast.cli.options import (
    JSON,
    counter_options,
    kept_in,
    known,
    mention_unknown,
    store_options,
    tokens,
)
from holdfast.cli.terminal import mention, pour, say_json, waiting
from holdfast.content import KINDS
from holdfast.single_text import ShrunkText, shrink
from holdfast.text.visible import amount


@click.command("shrink")
@click.argument("file", metavar="FILE|-")
@click.option(
    "--budget",
    "-t",
    "--tokens",
    "room",
    required=True,
    callback=tokens,
    metavar="N",
    help="The size of the result in tokens.",
)
@click.option("--query", default="", metavar="Q", help="The question that the text must answer.")
@click.option(
    "--kind",
    callback=known(KINDS.load),
    metavar="K",
    help=f"The kind of text ({', '.join(KINDS.table)}).  [default: detected]",
)
@counter_options
@store_options
@click.option("--redact", is_flag=True, help="Mask secrets first.")
@JSON
@click.option("-v", "--verbose", is_flag=True, help="Say what was done, also without a terminal.")
def command(
    file: str,
    room: int,
    query: str,
    kind: str | None,
    model: str | None,
    counter: str | None,
    store: str | None,
    store_key: str | None,
    *,
    redact: bool,
    as_json: bool,
    verbose: bool,
) -> int:
    r"""Fit the text in FILE (- is standard input) to a number of tokens.

    With --store the original is kept, and the last line of the text names it for `holdfast recall`.

    \b
    make 2>&1 | holdfast shrink - --tokens 800 --query "why does the build fail?"
    holdfast shrink app.log --tokens 2000 --store originals.db
    """
    keeper = kept_in(store, store_key)
    # an original must be kept exactly
    text = read_text(file, "strict" if store else "replace")
    with waiting(len(text)):
        shrunk = shrink(
            text, room, query, kind=kind, model=model, counter=counter, store=keeper, redact=redact
        )
    if verbose or sys.stderr.isatty():
        mention("".join(f"{line}\n" for line in _facts(shrunk, store)))
    mention_unknown(model, counter)
    if as_json:
        say_json(asdict(shrunk) | {"redacted": dict(shrunk.redacted)})
    else:
        whole = shrunk.text == text or shrunk.text.endswith("\n")
        pour(shrunk.text if whole else f"{shrunk.text}\n")
    return 0


def _facts(shrunk: ShrunkText, store: str | None) -> Iterator[str]:
    yield f"{shrunk.kind}: {shrunk.tokens_before:,} -> {amount(shrunk.tokens_after, 'token')}"
    if shrunk.omitted:
        yield f"left out: {shrunk.omitted}"
    elif shrunk.lossless:
        yield "nothing is left out"
    for secret, number in shrunk.redacted:
        yield f"masked: {number:,} {secret}"
    if shrunk.key:
        yield f"the original: holdfast recall {shrunk.key} --store {store}"
