"""``holdfast count``, ``convert`` and ``sample``: conversations that are read or written whole."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from holdfast.api import TokenBreakdown, count
from holdfast.cli import DONE
from holdfast.cli.files import check_targets, json_bytes, read_conversation, within
from holdfast.cli.options import (
    FORM,
    JSON,
    OUTPUT,
    counting_options,
    known,
    mention_unknown,
    read_tools,
)
from holdfast.cli.terminal import SCREEN, deliver, say, say_json, waiting
from holdfast.formats import FORMATS
from holdfast.formats.convert import convert
from holdfast.kernel.registry import imported
from holdfast.names import ProviderName
from holdfast.samples import sample


@click.command("count")
@click.argument("file", metavar="FILE|-")
@counting_options
@JSON
def count_command(
    file: str,
    model: str | None,
    counter: str | None,
    form: ProviderName | None,
    tools: str | None,
    *,
    as_json: bool,
) -> int:
    r"""Count the tokens of the conversation in FILE (- is standard input), message by message.

    \b
    holdfast count chat.json --model gpt-4o
    """
    document = read_conversation(file)
    schemas = read_tools(tools)
    with waiting(len(document.text)), within(file, tools):
        counted = count(document.payload, model=model, counter=counter, format=form, tools=schemas)
    if as_json:
        say_json(_facts(counted))
    else:
        say(imported(f"{SCREEN}:breakdown")(counted, sys.stdout))
    mention_unknown(model, counter)
    return 0


def _facts(counted: TokenBreakdown) -> dict[str, object]:
    messages = [{"index": i, **asdict(message)} for i, message in enumerate(counted.messages)]
    return {
        "total": counted.total,
        "overhead": counted.overhead,
        "counter": counted.counter,
        "accuracy": asdict(counted.accuracy),
        "messages": messages,
    }


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
def convert_command(file: str, to: str, form: str | None, output: str | None) -> int:
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


@click.command("sample")
@OUTPUT
def sample_command(output: str | None) -> int:
    r"""Write a recorded conversation for trying the other commands.

    \b
    holdfast sample -o chat.json
    """
    check_targets({"-o": output}, "")
    deliver(json_bytes(sample(), indent=2), output)
    return 0
