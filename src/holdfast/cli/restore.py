"""``holdfast restore``: everything that was taken out, back in its place."""

from __future__ import annotations

import click

from holdfast.cli.reading import Document, object_in, read_json, within
from holdfast.cli.terminal import mention, say
from holdfast.cli.writing import STDOUT, check_targets, json_bytes, write_all
from holdfast.kernel.errors import InputError
from holdfast.result import CompressionResult, restore


@click.command("restore", short_help="Give back the original messages of a result.")
@click.argument("file", metavar="RESULT|-")
@click.option("-o", "--output", metavar="FILE", help="Where the messages go.  [default: standard output]")
def command(file: str, output: str | None) -> int:
    r"""Give back the original messages of the result in the file that `holdfast compress --result` wrote.

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
        raise InputError("this is no result", advice="give the file that `holdfast compress --result FILE` wrote")
    return CompressionResult.from_json(document.text)
