"""``holdfast validate``: list what a provider would refuse, and repair it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click

from holdfast.cli import DONE, UNMET
from holdfast.cli.facts import steps_of
from holdfast.cli.files import (
    STDOUT,
    Document,
    check_output,
    check_targets,
    like,
    read_conversation,
    text_bytes,
    within,
)
from holdfast.cli.options import JSON, OUTPUT, RESULT, having, known
from holdfast.cli.terminal import mention, say, say_json, show
from holdfast.files import write_all
from holdfast.formats import FORMATS, detect
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.integrity import Violation
from holdfast.names import ProviderName
from holdfast.reports.text import steps
from holdfast.result import CompressionResult
from holdfast.text.visible import amount
from holdfast.validity import repair, validate


@click.command("validate")
@click.argument("file", metavar="FILE|-")
@click.option(
    "--provider",
    callback=known(FORMATS.load),
    metavar="P",
    help=f"Whose rules apply ({', '.join(FORMATS.table)}).  [default: detected]",
)
@click.option("--repair", "mend", is_flag=True, help="Repair it with as few changes as possible.")
@having(OUTPUT, RESULT, JSON)
def command(
    file: str,
    provider: ProviderName | None,
    output: str | None,
    kept: str | None,
    *,
    mend: bool,
    as_json: bool,
) -> int:
    r"""Say what the provider would refuse in the conversation in FILE (- is standard input).

    The exit code is 1 if there is something (with --repair: if something is left). With --repair
    the messages go to the file of -o, else to standard output unless that is a terminal.

    \b
    holdfast validate chat.json --provider anthropic
    holdfast validate chat.json --repair -o chat.json --result before.json
    """
    if (output or kept) and not mend:
        raise ConfigError("nothing is written without --repair", place="--result" if kept else "-o")
    check_output(output, as_json=as_json)
    check_targets({"-o": output, "--result": kept}, file, onto_source="-o")
    document = read_conversation(file)
    with within(file):
        name = detect(document.payload, provider).name
        left = validate(document.payload, provider)
        facts: dict[str, object] = {"provider": name}
        if mend:
            result = repair(document.payload, provider)
            left = validate(result.messages, provider)
            facts["repaired"] = steps_of(result)
            _write(document, result, output, kept, to_pipe=not as_json)
            mention("".join(f"{line}\n" for line in steps(result)))
    if as_json:
        say_json(
            facts | {"valid": not left, "violations": [asdict(violation) for violation in left]}
        )
    else:
        (mention if mend else show)("".join(f"{line}\n" for line in _verdict(name, document, left)))
    return UNMET if left else DONE


def _write(
    document: Document,
    result: CompressionResult,
    output: str | None,
    kept: str | None,
    *,
    to_pipe: bool,
) -> None:
    """Write the repaired messages and the result."""
    messages = like(document, result.messages)
    files = {output: messages} if output is not None and output != STDOUT else {}
    if kept is not None:
        files[kept] = text_bytes(f"{result.to_json()}\n")
    write_all(files)
    if output == STDOUT or (output is None and to_pipe and not sys.stdout.isatty()):
        say(messages)


def _verdict(provider: str, document: Document, left: Sequence[Violation]) -> Iterator[str]:
    """A line for each violation, and one with their number."""
    for violation in left:
        place = "" if violation.index < 0 else f"messages[{violation.index}]: "
        yield f"{document.name}: {place}{violation.problem} ({violation.rule})"
    if left:
        yield f"The conversation is not valid for {provider}: {amount(len(left), 'violation')}."
    else:
        yield f"The conversation is valid for {provider}."
