"""``holdfast convert``: the same conversation in the form of another provider."""

from __future__ import annotations

import json

import click

from holdfast.cli import DONE
from holdfast.cli.files import (
    STDOUT,
    check_output,
    check_targets,
    read_conversation,
    text_bytes,
    within,
)
from holdfast.cli.options import known
from holdfast.cli.terminal import say
from holdfast.files import write_all
from holdfast.formats import FORMATS
from holdfast.formats.convert import convert


@click.command("convert")
@click.argument("file", metavar="FILE|-")
@click.option(
    "--to",
    callback=known(FORMATS.load),
    required=True,
    metavar="P",
    help="The form to write: openai_chat, openai_responses, anthropic, gemini, converse, "
    "langchain, pydantic_ai.",
)
@click.option(
    "--format",
    "form",
    callback=known(FORMATS.load),
    metavar="F",
    help="The form that the messages have.  [default: detected]",
)
@click.option("-o", "--output", metavar="FILE|-", help="Where it goes.  [default: standard output]")
def command(file: str, to: str, form: str | None, output: str | None) -> int:
    r"""Write the conversation in FILE (- is standard input) as a request of another provider.

    Its messages, system prompt and tools are written, as far as the other form can express them.
    Reasoning stays behind: only the vendor that signed it reads it.

    \b
    holdfast convert chat.json --to gemini -o request.json
    holdfast convert session.json --to openai_responses
    """
    check_output(output, as_json=False)
    check_targets({"-o": output}, file, onto_source="-o")
    document = read_conversation(file)
    with within(file):
        body = convert(document.payload, to, form)
    text = json.dumps(body, ensure_ascii=False, indent=2) + "\n"
    if output is None or output == STDOUT:
        say(text)
    else:
        write_all({output: text_bytes(text)})
    return DONE
