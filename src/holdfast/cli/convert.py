"""``holdfast convert``: the same conversation in the form of another provider."""

from __future__ import annotations

import click

from holdfast.cli import DONE
from holdfast.cli.files import check_targets, json_bytes, read_conversation, within
from holdfast.cli.options import FORM, OUTPUT, known
from holdfast.cli.terminal import deliver
from holdfast.formats import FORMATS
from holdfast.formats.convert import convert


@click.command("convert")
@click.argument("file", metavar="FILE|-")
@click.option(
    "--to",
    callback=known(FORMATS.load),
    required=True,
    metavar="P",
    help="The format to write: openai_chat, openai_responses, anthropic, gemini, converse, "
    "langchain, pydantic_ai.",
)
@FORM
@OUTPUT
def command(file: str, to: str, form: str | None, output: str | None) -> int:
    r"""Write the conversation in FILE (- is standard input) as a request of another provider.

    Its messages, system prompt and tools are written, as far as the other format can express them.
    Reasoning is left out, since only the vendor that signed it accepts it.

    \b
    holdfast convert chat.json --to gemini -o request.json
    holdfast convert session.json --to openai_responses
    """
    check_targets({"-o": output}, file, onto_source="-o")
    document = read_conversation(file)
    with within(file):
        body = convert(document.payload, to, form)
    deliver(json_bytes(body, indent=2), output)
    return DONE
