"""``holdfast recall`` and ``holdfast restore``: what was taken out comes back."""

from __future__ import annotations

import click

from holdfast.cli.files import (
    STDOUT,
    Document,
    check_targets,
    json_bytes,
    object_in,
    read_json,
    within,
)
from holdfast.cli.options import CONFIG, excerpt_options, kept_in, store_options
from holdfast.cli.terminal import mention, pour, say, say_json
from holdfast.files import write_all
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.recovery import Place, excerpt_of
from holdfast.result import CompressionResult, restore
from holdfast.stores.answers import opened


@click.command("recall")
@click.argument("key")
@store_options
@click.option(
    "--thread",
    metavar="ID",
    default="",
    help="The conversation's name, if it was compressed with one.",
)
@excerpt_options
@CONFIG
@click.option("-n", "--numbers", is_flag=True, help="Put its number before each line.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the text with the numbers of its lines as JSON."
)
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
    r"""Give back the original of a text whose last line names KEY after "original:".

    With several of --field, --lines and --pattern, each chooses from what the one before it leaves,
    in this order.

    \b
    holdfast recall 3fa1c27b90de --store sqlite:///originals.db
    holdfast recall 3fa1c27b90de --store sqlite:///originals.db --pattern ERROR -n
    """
    place = kept_in(store, store_key, reading=True)
    if place is None:
        raise ConfigError(
            "it is missing", place="--store", advice="give the one that compress or shrink had"
        )
    found = excerpt_of(key, Place(opened(place), thread), lines=lines, pattern=pattern, field=field)
    if as_json:
        say_json({"key": key, "text": found.text, "lines": list(found.numbers), "of": found.total})
        return 0
    if not found.text:
        mention("Nothing of the original matches.\n")
    pour(found.numbered() if numbers else found.text)
    return 0


@click.command("restore")
@click.argument("file", metavar="RESULT|-")
@click.option(
    "-o", "--output", metavar="FILE", help="Where the messages go.  [default: standard output]"
)
def restore_command(file: str, output: str | None) -> int:
    r"""Give back the original messages of a result that `holdfast compress --result` wrote.

    \b
    holdfast restore all.json -o chat.json
    """
    check_targets({"-o": output}, file)
    document = read_json(file)
    with within(file):
        original = restore(_result(document))
        content = json_bytes(original, indent=2)
    if output is None or output == STDOUT:
        say(content)
    else:
        write_all({output: content})
        mention(f"The original messages are in {output}.\n")
    return 0


def _result(document: Document) -> CompressionResult:
    if "holdfast" not in object_in(document):
        raise InputError(
            "this is no result", advice="give the file that `holdfast compress --result FILE` wrote"
        )
    return CompressionResult.from_json(document.text)
