"""``holdfast shrink``: one text on its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict

import click

from holdfast.cli.files import read_text
from holdfast.cli.options import (
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
    "-t", "--tokens", "room", required=True, callback=tokens, metavar="N", help="What it may take."
)
@click.option("--query", default="", metavar="Q", help="What the reader wants to know.")
@click.option(
    "--kind",
    callback=known(KINDS.load),
    metavar="K",
    help=f"What it is ({', '.join(KINDS.table)}).",
)
@counter_options
@store_options
@click.option("--redact", is_flag=True, help="Mask secrets first.")
@click.option("--json", "as_json", is_flag=True, help="Print the text with its facts as JSON.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Say what was done, though standard error is no terminal."
)
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
    r"""Fit the text in FILE (- is standard input) to so many tokens: whole, or what says most.

    With --store the original is kept, and the last line of the text names it for `holdfast recall`.

    \b
    make 2>&1 | holdfast shrink - --tokens 800 --query "why does the build fail?"
    holdfast shrink app.log --tokens 2000 --store sqlite:///originals.db
    """
    keeper = kept_in(store, store_key)
    # an original is kept as it was, or not at all
    text = read_text(file, "strict" if store else "replace")
    with waiting(len(text)):
        shrunk = shrink(
            text, room, query, kind=kind, model=model, counter=counter, store=keeper, redact=redact
        )
    if verbose or sys.stderr.isatty():
        mention("".join(f"{line}\n" for line in _told(shrunk, store)))
    mention_unknown(model, counter)
    if as_json:
        say_json(asdict(shrunk) | {"redacted": dict(shrunk.redacted)})
    else:
        whole = shrunk.text == text or shrunk.text.endswith("\n")
        pour(shrunk.text if whole else f"{shrunk.text}\n")
    return 0


def _told(shrunk: ShrunkText, store: str | None) -> Iterator[str]:
    yield f"{shrunk.kind}: {shrunk.tokens_before:,} -> {amount(shrunk.tokens_after, 'token')}"
    if shrunk.omitted:
        yield f"left out: {shrunk.omitted}"
    elif shrunk.lossless:
        yield "nothing is left out"
    for secret, number in shrunk.redacted:
        yield f"masked: {number:,} {secret}"
    if shrunk.key:
        yield f"the original: holdfast recall {shrunk.key} --store {store}"
