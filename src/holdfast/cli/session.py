"""``holdfast session``.

A conversation that is kept whole in a store, held by a shell script or looked into.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any, cast

import click

from holdfast.cli import as_typed
from holdfast.cli.compress import report_form
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
    CONFIG,
    LIMITS,
    LLM,
    PROFILE,
    REDACT,
    SOFT,
    budget_of,
    configured,
    counter_options,
    counting_options,
    excerpt_options,
    form_options,
    having,
    mention_unknown,
    moment,
    read_tools,
)
from holdfast.cli.session_changes import CHANGES
from holdfast.cli.session_place import begun, message_named, place_of, thread_options
from holdfast.cli.terminal import mention, pour, say, say_json
from holdfast.files import write_all
from holdfast.kernel.errors import BudgetError, ConfigError
from holdfast.memory.excerpts import best_place
from holdfast.memory.times import day_name
from holdfast.names import ProviderName
from holdfast.result import TokenUsage
from holdfast.session import Session, View
from holdfast.session.recall import Recalled
from holdfast.text.visible import amount, one_line


def _opened(thread: str, place: str, said: Mapping[str, Any]) -> Session:
    """The session with what was said, and else what the configuration says."""
    given = {name: value for name, value in said.items() if value is not None}
    merged: dict[str, Any] = {**configured().session, **given, "store": place}
    return Session(thread, **merged)


@click.command("append", short_help="Keep messages at the end of the conversation.")
@click.argument("file", default=STDIN)
@thread_options
@click.option(
    "--id",
    "ids",
    multiple=True,
    help="The name of a message, one for each: a known one is not kept again.",
)
@click.option(
    "--at",
    metavar="TIME",
    callback=moment,
    help="When they were said, such as 2026-05-08T13:56+02:00; UTC where it says no zone.  [default: now]",
)
@LLM
@REDACT
@form_options
def append(
    file: str,
    store: str,
    thread: str,
    ids: Sequence[str],
    at: datetime | None,
    llm: str | None,
    redact: bool | None,
    model: str | None,
    counter: str | None,
    form: ProviderName | None,
) -> int:
    r"""Keep the messages in FILE (- is standard input): one, a list, or one a line.

    They are on the disk when it ends, whatever becomes of the model. Prints their positions as
    JSON.

    \b
    holdfast session append chat.json --store agent.db --thread t1
    echo '{"role": "user", "content": "Go on."}' | holdfast session append --store agent.db --thread
    t1
    """
    document = read_json(file)
    payload: object = object_in(document).get("messages", document.payload)
    given = cast("list[object]", payload) if isinstance(payload, list) else [payload]
    place = place_of(store, reading=False)
    said = {"model": model, "counter": counter, "format": form, "redact": redact, "llm": llm}
    opened = _opened(thread, place, said)
    with within(file), opened as session:
        before = session.faults
        say(f"{json.dumps(session.append(*given, ids=ids, at=at))}\n")
        for fault in session.faults:
            if fault not in before:
                mention(f"The messages are kept, but: {fault}\n")
    _mention_beside(document)
    mention_unknown(model, counter)
    return 0


def _mention_beside(document: Document) -> None:
    """Say what of a request's body is no message, and so is not kept."""
    beside = [field for field in ("system", "tools") if object_in(document).get(field)]
    if beside:
        mention(
            f"Of the request its messages are kept, not its {' and '.join(beside)}: send that along with each "
            "view, and leave room for it (fit --tools FILE, --reserve N).\n"
        )


@click.command("fit", short_help="The messages for the next model call.")
@thread_options
@having(*LIMITS, SOFT, PROFILE)
@click.option(
    "--query",
    metavar="Q",
    help="A question about the past.  [default: the newest input of the user]",
)
@REDACT
@counting_options
@click.option(
    "-o", "--output", metavar="FILE|-", help="Where the messages go.  [default: standard output]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON on standard output.")
@click.option("-q", "--quiet", is_flag=True, help="No summary on standard error.")
def fit(output: str | None, *, soft: bool, as_json: bool, quiet: bool, **asked: Any) -> int:
    r"""Write the messages for the next call: the system's, what the past says, the recent turns.

    The budget is hard: where it cannot be met nothing is written and the exit code is 1, unless
    --soft is given.

    \b
    holdfast session fit --store agent.db --thread t1 --budget 8000 -o view.json
    holdfast session fit --store agent.db --thread t1 --model gpt-4o --reserve 4000 --query "which
    port?"
    """
    check_output(output, as_json=as_json)
    store, query, schemas = asked["store"], asked.pop("query"), read_tools(asked["tools"])
    check_targets({"-o": output}, store)
    said = {name: asked[name] for name in ("model", "counter", "profile", "redact")}
    said |= {"budget": budget_of(asked), "format": asked["form"]}
    opened = _opened(asked["thread"], place_of(store), said)
    with within(store, asked["tools"]), begun(opened, store) as session:
        view = session.fit(query, tools=schemas)
        facts = dict(_facts(session, view))
    if as_json:
        say_json(facts)
    if view.smallest is not None and not soft:
        reason = "what must stay is larger"
        raise BudgetError(
            limit=view.limit, tokens=view.tokens, smallest=view.smallest, reason=reason
        )
    if output not in (None, STDOUT):
        write_all({output: json_bytes(view.messages)})
    elif not as_json:
        say(json_bytes(view.messages))
    if not quiet:
        mention(f"{_summary(view)}\n")
        mention_unknown(asked["model"], asked["counter"])
    return 0


def _facts(session: Session, view: View) -> Iterator[tuple[str, object]]:
    """What ``--json`` prints, under the names that ``compress`` gives to the same things.

    No message text.
    """
    usage, meter, wire = (
        TokenUsage(view.tokens, view.limit),
        session.meter,
        session.wire(*view.messages),
    )
    yield "reason", view.reason
    yield "budget_met", view.budget_met
    yield "smallest", view.smallest
    yield "format", session.wire().name
    yield "counter", meter.counter.name
    yield "accuracy", asdict(meter.accuracy(wire.read(view.messages)))
    yield "usage", asdict(usage) | {"within": usage.within, "utilization": usage.utilization}
    yield (
        "messages",
        {"appended": session.appended, "in_view": len(view.messages), "since": view.since},
    )
    yield (
        "recalled",
        [
            {"position": each.position, "score": each.score, "why": each.why}
            for each in view.recalled
        ],
    )
    yield "steps", steps_of(view.result) if view.result else []


def _summary(view: View) -> str:
    size = f"{amount(len(view.messages), 'message')}, {view.tokens:,} of {view.limit:,} tokens"
    if not view.budget_met:
        return f"{size}: NOT met, what must stay is larger"
    past = f"{amount(len(view.recalled), 'message')} of the past came back"
    return f"{size}; {'everything fits' if view.reason == 'everything_fits' else past}"


_PREVIEW = 300  # cells of what is shown of a message


@click.command("search", short_help="The messages that answer a question best.")
@click.argument("query")
@thread_options
@CONFIG
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1), help="How many.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print them as JSON, with what gave each its score."
)
def search(query: str, store: str, thread: str, limit: int, *, as_json: bool) -> int:
    r"""Print the messages of the conversation that answer QUERY best, best first.

    Each with its position, its score, its role, the day, and the sentence or line that answers
    best.

    \b
    holdfast session search "which retries did we agree on?" --store agent.db --thread t1
    """
    with begun(_opened(thread, place_of(store), {}), store) as session:
        found = session.search(query, limit)
    if as_json:
        say_json([asdict(each) | {"said": _moment(each.said)} for each in found])
        return 0
    if not found:
        mention("Nothing answers it.\n")
    pour("".join(_line(each, query) for each in found))
    return 0


def _line(found: Recalled, query: str) -> str:
    day = "" if found.said is None else day_name(found.said)
    place = one_line(best_place(found.text, query, _PREVIEW), _PREVIEW)
    return f"{found.position}\t{found.score:.2f}\t{found.role}\t{day}\t{place}\n"


def _moment(said: float | None) -> str | None:
    """As ``--at`` takes it; what no calendar holds as none."""
    try:
        return None if said is None else datetime.fromtimestamp(said, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


@click.command("recall", short_help="Give back an original, whole or in part.")
@click.argument("key")
@thread_options
@excerpt_options
@CONFIG
def recall(
    key: str, store: str, thread: str, lines: str | None, pattern: str | None, field: str | None
) -> int:
    r"""Give back an original.

    KEY is what stands after "original:" in a shortened text, or the position or the id of a
    message. A position from the end, such as -1, stands last, after two dashes.

    \b
    holdfast session recall 3fa1c27b90de --store agent.db --thread t1 --pattern ERROR
    holdfast session recall --store agent.db --thread t1 -- -1
    """
    with begun(_opened(thread, place_of(store), {}), store) as session:
        found = session.recall(message_named(key), lines=lines, pattern=pattern, field=field)
    if not found:
        mention(
            "Nothing of the original matches.\n"
            if lines or pattern or field
            else "It has no text.\n"
        )
    pour(found)
    return 0


@click.command("stats", short_help="How much there is, and what happened.")
@thread_options
@counter_options
@click.option(
    "--report", "told", metavar="FILE", help="The story of the conversation: .html or .txt."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def stats(
    store: str,
    thread: str,
    model: str | None,
    counter: str | None,
    told: str | None,
    *,
    as_json: bool,
) -> int:
    r"""Print how much there is and what happened: tiers, compactions, recalls, with reasons.

    \b
    holdfast session stats --store agent.db --thread t1 --report session.html
    """
    form = report_form(told)
    check_targets({"--report": told}, store)
    said = {"model": model, "counter": counter}
    with begun(_opened(thread, place_of(store), said), store) as session:
        if told is not None:
            write_all({told: text_bytes(session.report(form))})
            mention(f"The report is in {told}.\n")
        if as_json:
            say_json(session.stats().to_dict())
        else:
            say(session.report())
    mention_unknown(model, counter)
    return 0


@click.command("restore", short_help="Everything that was ever appended.")
@thread_options
@CONFIG
@click.option("-o", "--output", metavar="FILE|-", default=STDOUT, help="Where the messages go.")
def restore(store: str, thread: str, output: str) -> int:
    r"""Write every message that was ever appended, as it was appended.

    \b
    holdfast session restore --store agent.db --thread t1 -o all.json
    """
    check_targets({"-o": output}, store)
    with begun(_opened(thread, place_of(store), {}), store) as session:
        content, damage = json_bytes(session.restore()), session.faults
    if output == STDOUT:
        say(content)
    else:
        write_all({output: content})
    for fault in damage:
        mention(f"{fault}\n")
    return 0


class _SessionCommands(click.Group):
    """The commands of a session, in the order in which a script meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they were added."""
        del ctx
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Raises ConfigError, naming the known ones, for an unknown command."""
        command = super().get_command(ctx, cmd_name)
        if command is None:
            near = get_close_matches(cmd_name, self.commands, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            advice = f"{hint}known are {', '.join(self.list_commands(ctx))}"
            raise ConfigError(
                f"there is no command named {cmd_name!r}", place="session", advice=advice
            )
        return as_typed(command)


@click.group(
    "session",
    cls=_SessionCommands,
    invoke_without_command=True,
)
@click.pass_context
def command(ctx: click.Context) -> None:
    r"""Keep a conversation whole in a store, and send of it what fits and matters.

    \b
    holdfast session append turn.json --store agent.db --thread t1
    holdfast session fit --store agent.db --thread t1 --budget 8000 -o view.json
    holdfast session search "which retries did we agree on?" --store agent.db --thread t1
    holdfast session stats --store agent.db --thread t1 --report session.html
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for each in (append, fit, search, recall, stats, restore, *CHANGES):
    command.add_command(each)
