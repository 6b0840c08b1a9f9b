"""``holdfast recall`` and ``holdfast restore``: originals and original messages."""

from __future__ import annotations

import click

from holdfast.cli.files import Document, check_targets, json_bytes, object_in, read_json, within
from holdfast.cli.options import CONFIG, JSON, OUTPUT, excerpt_options, kept_in, store_options
from holdfast.cli.terminal import deliver, mention, pour, say_json
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.recovery import Place, excerpt_of
from holdfast.result import CompressionResult, restore
from holdfast.stores import open_store


@click.command("recall")
@click.argument("key")
@store_options
@click.option(
    "--thread",
    metavar="ID",
    default="",
    help="The name of the thread, if it was compressed with one.",
)
@excerpt_options
@CONFIG
@click.option("-n", "--numbers", is_flag=True, help="Print the number of each line.")
@JSON
def recall(
    key: str,
    store: str | None,
    store_key: str | None,
    thread: str,
    lines: str | None,
    pattern: str | None,
    field: str | None,
    *,
    numbers: bool,
    as_json: bool,
) -> int:
    r"""Print the original of a text whose last line names KEY after "original:".

    --field, --lines and --pattern are applied in this order, each to what the one before leaves.

    \b
    holdfast recall 3fa1c27b90de --store originals.db
    holdfast recall 3fa1c27b90de --store originals.db --pattern ERROR -n
    """
    place = kept_in(store, store_key, reading=True)
    if place is None:
        advice = "give the store of compress or shrink"
        raise ConfigError("it is missing", place="--store", advice=advice)
    found = excerpt_of(
        key, Place(open_store(place), thread), lines=lines, pattern=pattern, field=field
    )
    if as_json:
        say_json({"key": key, "text": found.text, "lines": list(found.numbers), "of": found.total})
        return 0
    if not found.text:
        mention("Nothing in the original matches.\n")
    pour(found.numbered() if numbers else found.text)
    return 0


@click.command("restore")
@click.argument("file", metavar="RESULT|-")
@OUTPUT
def restore_command(file: str, output: str | None) -> int:
    r"""Print the original messages of a result that `holdfast compress --result` wrote.

    \b
    holdfast restore all.json -o chat.json
    """
    check_targets({"-o": output}, file)
    document = read_json(file)
    with within(file):
        original = restore(_result(document))
        content = json_bytes(original, indent=2)
    if deliver(content, output):
        mention(f"The original messages are in {output}.\n")
    return 0


def _result(document: Document) -> CompressionResult:
    if "holdfast" not in object_in(document):
        advice = "give the file that `holdfast compress --result FILE` wrote"
        raise InputError("this is not a result", advice=advice)
    return CompressionResult.from_json(document.text)
