"""``holdfast session``: a conversation that is kept whole in a store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, cast

import click

from holdfast.cli import group
from holdfast.cli.facts import steps_of
from holdfast.cli.files import (
    STDIN,
    STDOUT,
    Document,
    check_output,
    check_targets,
    json_bytes,
    object_in,
    read_json,
    text_bytes,
    within,
)
from holdfast.cli.options import (
    COUNTER,
    FILE_URL,
    JSON,
    LIMITS,
    LLM,
    OUTPUT,
    PROFILE,
    QUERY,
    QUIET,
    REDACT,
    SOFT,
    budget_of,
    counting_options,
    excerpt_options,
    form_options,
    having,
    mention_unknown,
    moment,
    read_tools,
    url_of,
)
from holdfast.cli.session_changes import CHANGES
from holdfast.cli.session_place import (
    existing,
    message_named,
    on_thread,
    opened,
    place_of,
    thread_options,
)
from holdfast.cli.terminal import deliver, mention, pour, say, say_json
from holdfast.files import write_all
from holdfast.kernel.errors import BudgetError
from holdfast.memory.excerpts import best_place
from holdfast.memory.times import day_name
from holdfast.result import TokenUsage, report_form
from holdfast.session import Session, View
from holdfast.session.recall import Recalled
from holdfast.text.visible import amount, one_line


@click.command("append", short_help="Add messages to the end of the thread.")
@click.argument("file", default=STDIN)
@thread_options
@click.option(
    "--id",
    "ids",
    multiple=True,
    help="The id of a message, once for each; a message with a known id is not stored again.",
)
@click.option(
    "--at",
    metavar="TIME",
    callback=moment,
    help="Their time, such as 2026-05-08T13:56+02:00; UTC by default.  [default: now]",
)
@LLM
@REDACT
@form_options
def append(
    file: str, store: str, thread: str, ids: Sequence[str], at: datetime | None, **said: Any
) -> int:
    r"""Store the messages in FILE (- is standard input): one, a list, or one a line.

    They are on the disk when the command ends. Prints their positions as JSON.

    \b
    holdfast session append chat.json --store agent.db --thread t1
    echo '{"role": "user", "content": "Go on."}' | holdfast session append --store agent.db --thread
    t1
    """
    document = read_json(file)
    payload: object = object_in(document).get("messages", document.payload)
    given = cast("list[object]", payload) if isinstance(payload, list) else [payload]
    said["format"] = said.pop("form")
    with within(file), opened(thread, place_of(store, reading=False), said) as session:
        before = session.faults
        positions = session.append(*given, ids=ids, at=at)
        say(f"{json.dumps(positions)}\n")
        for fault in session.faults:
            if fault not in before:
                mention(f"The messages are stored, but: {fault}\n")
    _mention_beside(document)
    mention_unknown(said["model"], said["counter"])
    return 0


def _mention_beside(document: Document) -> None:
    """Say which parts of a request body are not stored, since they are not messages."""
    beside = [field for field in ("system", "tools") if object_in(document).get(field)]
    if beside:
        mention(
            f"Only the messages are stored, not the {' and '.join(beside)}: send them with each "
            "view, and leave room for them (fit --tools FILE, --reserve N).\n"
        )


@click.command("fit", short_help="Print the messages for the next model call.")
@thread_options
@having(*LIMITS, SOFT, PROFILE, QUERY, REDACT)
@counting_options
@having(OUTPUT, JSON, QUIET)
def fit(output: str | None, *, soft: bool, as_json: bool, quiet: bool, **asked: Any) -> int:
    r"""Write the messages for the next model call: notes on the past, and the recent turns.

    The budget is hard: if it cannot be met, nothing is written and the exit code is 1, unless
    --soft is given.

    \b
    holdfast session fit --store agent.db --thread t1 --budget 8000 -o view.json
    holdfast session fit --store agent.db --thread t1 --model gpt-4o --reserve 4000 --query "which
    port?"
    """
    check_output(output, as_json=as_json)
    store, query, schemas = asked["store"], asked.pop("query"), read_tools(asked["tools"])
    check_targets({"-o": output}, url_of(store).removeprefix(FILE_URL))
    said = {name: asked[name] for name in ("model", "counter", "profile", "redact")}
    said |= {"budget": budget_of(asked), "format": asked["form"]}
    with within(store, asked["tools"]), existing(asked["thread"], store, said) as session:
        view = session.fit(query, tools=schemas)
        facts = dict(_facts(session, view))
    if as_json:
        say_json(facts)
    if view.smallest is not None and not soft:
        reason = "the messages that must stay are larger"
        raise BudgetError(
            limit=view.limit, tokens=view.tokens, smallest=view.smallest, reason=reason
        )
    if output not in (None, STDOUT) or not as_json:
        deliver(json_bytes(view.messages), output)
    if not quiet:
        mention(f"{_summary(view)}\n")
        mention_unknown(asked["model"], asked["counter"])
    return 0


def _facts(session: Session, view: View) -> Iterator[tuple[str, object]]:
    """The output of ``--json``, with the names that ``compress`` uses; no message text."""
    usage, meter = TokenUsage(view.tokens, view.limit), session.meter
    wire = session.wire(*view.messages)
    yield "reason", view.reason
    yield "budget_met", view.budget_met
    yield "smallest", view.smallest
    yield "format", session.wire().name
    yield "counter", meter.counter.name
    yield "accuracy", asdict(meter.accuracy(wire.read(view.messages)))
    yield "usage", asdict(usage) | {"within": usage.within, "utilization": usage.utilization}
    messages = {"appended": session.appended, "in_view": len(view.messages), "since": view.since}
    yield "messages", messages
    recalled = ("position", "score", "why")
    yield "recalled", [{name: getattr(each, name) for name in recalled} for each in view.recalled]
    yield "steps", steps_of(view.result) if view.result else []


def _summary(view: View) -> str:
    size = f"{amount(len(view.messages), 'message')}, {view.tokens:,} of {view.limit:,} tokens"
    if not view.budget_met:
        return f"{size}: NOT met, the messages that must stay are larger"
    past = f"{amount(len(view.recalled), 'message')} of the past came back"
    return f"{size}; {'everything fits' if view.reason == 'everything_fits' else past}"


_PREVIEW = 300  # cells of the preview of a message


@click.command("search", short_help="Find the messages that answer a question.")
@click.argument("query")
@on_thread
@click.option(
    "--limit",
    default=10,
    show_default=True,
    type=click.IntRange(1),
    help="The most messages to print.",
)
@JSON
def search(session: Session, query: str, limit: int, *, as_json: bool) -> int:
    r"""Print the messages that answer QUERY, best first: position, score, role, day, and text.

    \b
    holdfast session search "which retries did we agree on?" --store agent.db --thread t1
    """
    found = session.search(query, limit)
    if as_json:
        say_json([asdict(each) | {"said": _moment(each.said)} for each in found])
        return 0
    if not found:
        mention("No message answers it.\n")
    pour("".join(_line(each, query) for each in found))
    return 0


def _line(found: Recalled, query: str) -> str:
    day = "" if found.said is None else day_name(found.said)
    place = one_line(best_place(found.text, query, _PREVIEW), _PREVIEW)
    return f"{found.position}\t{found.score:.2f}\t{found.role}\t{day}\t{place}\n"


def _moment(said: float | None) -> str | None:
    """The time as ``--at`` takes it; None for one that no calendar has."""
    try:
        return None if said is None else datetime.fromtimestamp(said, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


@click.command("recall", short_help="Print an original, whole or in part.")
@click.argument("key")
@on_thread
@excerpt_options
def recall(
    session: Session, key: str, lines: str | None, pattern: str | None, field: str | None
) -> int:
    r"""Print an original.

    KEY is the text after "original:" in a shortened text, or the position or the id of a
    message. Write a position from the end, such as -1, last, after two dashes.

    \b
    holdfast session recall 3fa1c27b90de --store agent.db --thread t1 --pattern ERROR
    holdfast session recall --store agent.db --thread t1 -- -1
    """
    found = session.recall(message_named(key), lines=lines, pattern=pattern, field=field)
    if not found:
        chosen = lines or pattern or field
        mention("Nothing in the original matches.\n" if chosen else "It has no text.\n")
    pour(found)
    return 0


@click.command("stats", short_help="Print sizes and history.")
@on_thread
@having(*COUNTER)
@click.option("--report", "told", metavar="FILE", help="Write the history: .html or .txt.")
@JSON
def stats(
    session: Session, model: str | None, counter: str | None, told: str | None, *, as_json: bool
) -> int:
    r"""Print the size of the thread and its tiers, and its compactions and recalls with reasons.

    \b
    holdfast session stats --store agent.db --thread t1 --report session.html
    """
    form = report_form(told, "--report")
    if told is not None:
        write_all({told: text_bytes(session.report(form))})
        mention(f"The report is in {told}.\n")
    if as_json:
        say_json(session.stats().to_dict())
    else:
        say(session.report())
    mention_unknown(model, counter)
    return 0


@click.command("restore", short_help="Print every message that was appended.")
@on_thread
@OUTPUT
def restore(session: Session, output: str | None) -> int:
    r"""Write every message that was ever appended, unchanged.

    \b
    holdfast session restore --store agent.db --thread t1 -o all.json
    """
    deliver(json_bytes(session.restore()), output)
    for fault in session.faults:
        mention(f"{fault}\n")
    return 0


command = group(
    "session",
    r"""Keep a whole conversation in a store, and print views of it that fit.

    \b
    holdfast session append turn.json --store agent.db --thread t1
    holdfast session fit --store agent.db --thread t1 --budget 8000 -o view.json
    holdfast session search "which retries did we agree on?" --store agent.db --thread t1
    holdfast session stats --store agent.db --thread t1 --report session.html
    """,
)
for each in (append, fit, search, recall, stats, restore, *CHANGES):
    command.add_command(each)
