"""``holdfast shrink``, ``recall`` and ``restore``: a text made smaller, and originals."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click

from holdfast.content import KINDS
from holdfast.kernel.errors import ConfigError
from holdfast.recovery import excerpt_of
from holdfast.result import restore
from holdfast.single_text import ShrunkText, shrink
from holdfast.stores import open_store
from holdfast.text.visible import amount

from .files import check_targets, json_bytes, read_json, read_text, within
from .options import (
    CONFIG,
    JSON,
    OUTPUT,
    counter_options,
    excerpt_options,
    flag,
    kept_in,
    known,
    note_unknown,
    option,
    store_options,
    tokens,
)
from .results import result_in
from .terminal import note, waiting, write, write_json, write_to


@click.command("recall")
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
    holdfast recall 3fa1c27b90de --store originals.db
    holdfast recall 3fa1c27b90de --store originals.db --pattern ERROR -n
    """
    place = kept_in(store, store_key, reading=True)
    if place is None:
        raise ConfigError(
            "it is missing", place="--store", advice="give the store of compress or shrink"
        )
    found = excerpt_of(key, open_store(place), thread, **part)
    if as_json:
        write_json(
            {"key": key, "text": found.text, "lines": list(found.numbers), "of": found.total}
        )
        return
    if not found.text:
        note("Nothing matches.\n")
    write(found.numbered() if numbers else found.text)


@click.command("restore")
@click.argument("file", metavar="RESULT|-")
@OUTPUT
def restore_command(file: str, output: str | None) -> None:
    """Print the original messages of a result that `holdfast compress --result` wrote.

    \b
    holdfast restore all.json -o chat.json
    """
    check_targets({"-o": output}, file)
    document = read_json(file)
    with within(file):
        advice = "give the file that `holdfast compress --result FILE` wrote"
        content = json_bytes(restore(result_in(document, advice)), indent=2)
    if write_to(output, content):
        note(f"The original messages are in {output}.\n")


@click.command("shrink")
@click.argument("file", metavar="FILE|-")
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

    With --store the original is kept, and the last line of the text names it for `holdfast recall`.

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
        note("".join(f"{line}\n" for line in _facts(shrunk, store)))
    note_unknown(said)
    if as_json:
        write_json(asdict(shrunk) | {"redacted": dict(shrunk.redacted)})
    else:
        whole = shrunk.text == text or shrunk.text.endswith("\n")
        write(shrunk.text if whole else f"{shrunk.text}\n")


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
