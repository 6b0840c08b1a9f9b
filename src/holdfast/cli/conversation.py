"""``holdfast count``, ``convert``, ``sample`` and ``validate``: one conversation as it is."""

import sys
from dataclasses import asdict
from typing import Any

import click

from holdfast.api import count, sample
from holdfast.cli import DONE, UNMET
from holdfast.formats import FORMATS, detect
from holdfast.formats.convert import convert
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.registry import imported
from holdfast.names import ProviderName
from holdfast.reports.text import steps
from holdfast.text.visible import amount
from holdfast.validity import repair, validate

from .files import (
    check_output,
    check_targets,
    json_bytes,
    read_conversation,
    text_bytes,
    within,
)
from .options import (
    FORM,
    JSON,
    OUTPUT,
    RESULT,
    counting_options,
    flag,
    having,
    known,
    note_unknown,
    option,
)
from .results import steps_of, write_result
from .terminal import SCREEN, report, waiting, write, write_json, write_to


@click.command("count")
@click.argument("file", metavar="FILE|-")
@counting_options
@JSON
def count_command(file: str, *, as_json: bool, **given: Any) -> None:
    """Count the tokens of the conversation in FILE (- is standard input), message by message.

    \b
    holdfast count chat.json --model gpt-4o
    """
    document = read_conversation(file)
    with waiting(len(document.text)), within(file):
        counted = count(document.payload, **given)
    if as_json:
        facts = asdict(counted)
        facts["messages"] = [{"index": i, **each} for i, each in enumerate(facts.pop("messages"))]
        write_json(facts)
    else:
        write(text_bytes(imported(f"{SCREEN}:breakdown")(counted, sys.stdout)))
    note_unknown(given)


@click.command("convert")
@click.argument("file", metavar="FILE|-")
@option(
    "--to",
    "P",
    "The format to write: openai_chat, openai_responses, anthropic, gemini, converse, "
    "langchain, pydantic_ai.",
    callback=known(FORMATS.load),
    required=True,
)
@FORM
@OUTPUT
def convert_command(file: str, to: str, output: str | None, **given: Any) -> None:
    """Write the conversation in FILE (- is standard input) as a request of another provider.

    Its messages, system prompt and tools are written, as far as the other format can express them.
    Reasoning is left out, since only the vendor that signed it accepts it.

    \b
    holdfast convert chat.json --to gemini -o request.json
    holdfast convert session.json --to openai_responses
    """
    check_targets({"-o": output}, file, onto_source="-o")
    document = read_conversation(file)
    with within(file):
        body = convert(document.payload, to, **given)
    write_to(output, json_bytes(body, indent=2))


@click.command("sample")
@OUTPUT
def sample_command(output: str | None) -> None:
    """Write a recorded conversation for trying the other commands.

    \b
    holdfast sample -o chat.json
    """
    check_targets({"-o": output}, "")
    write_to(output, json_bytes(sample(), indent=2))


@click.command("validate")
@click.argument("file", metavar="FILE|-")
@option(
    "--provider",
    "P",
    f"Whose rules apply ({', '.join(FORMATS.table)}).  [default: detected]",
    callback=known(FORMATS.load),
)
@flag("--repair repairs", "Repair it with as few changes as possible.")
@having(OUTPUT, RESULT, JSON)
def validate_command(
    file: str,
    provider: ProviderName | None,
    output: str | None,
    result_file: str | None,
    *,
    repairs: bool,
    as_json: bool,
) -> int:
    """Say what the provider would refuse in the conversation in FILE (- is standard input).

    The exit code is 1 if there is something (with --repair: if something is left). With --repair
    the messages go to the file of -o, else to standard output unless that is a terminal.

    \b
    holdfast validate chat.json --provider anthropic
    holdfast validate chat.json --repair -o chat.json --result before.json
    """
    if (output or result_file) and not repairs:
        raise ConfigError(
            "nothing is written without --repair", place="--result" if result_file else "-o"
        )
    check_output(output, as_json=as_json)
    check_targets({"-o": output, "--result": result_file}, file, onto_source="-o")
    document = read_conversation(file)
    with within(file):
        name = detect(document.payload, provider).name
        left = validate(document.payload, provider)
        facts: dict[str, object] = {"provider": name}
        if repairs:
            result = repair(document.payload, provider)
            left = validate(result.messages, provider)
            facts["repaired"] = steps_of(result)
            write_result(document, result, output, result_file, to_pipe=not as_json)
            report("".join(f"{line}\n" for line in steps(result)), sys.stderr)
    if as_json:
        write_json(
            facts | {"valid": not left, "violations": [asdict(violation) for violation in left]}
        )
    else:
        told = ""
        for each in left:
            place = "" if each.index < 0 else f"messages[{each.index}]: "
            told += f"{document.name}: {place}{each.problem} ({each.rule})\n"
        told += f"The conversation is {'not ' if left else ''}valid for {name}"
        told += f": {amount(len(left), 'violation')}.\n" if left else ".\n"
        report(told, sys.stderr if repairs else sys.stdout)
    return UNMET if left else DONE
