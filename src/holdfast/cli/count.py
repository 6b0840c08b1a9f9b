"""``holdfast count``: the tokens of each message."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from holdfast.api import TokenBreakdown, count
from holdfast.cli.files import read_conversation, within
from holdfast.cli.options import JSON, counting_options, mention_unknown, read_tools
from holdfast.cli.terminal import SCREEN, say, say_json, waiting
from holdfast.kernel.registry import imported
from holdfast.names import ProviderName


@click.command("count")
@click.argument("file", metavar="FILE|-")
@counting_options
@JSON
def command(
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
