"""``holdfast session``: a conversation that is kept whole in a store."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import wraps
from typing import Any, cast

import click

from holdfast.cli import group
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.typed import attributes, is_list
from holdfast.memory.excerpts import best_place
from holdfast.memory.times import day_name
from holdfast.reports.text import WIDTH
from holdfast.result import TokenUsage
from holdfast.session import Session, View
from holdfast.session.state import Event
from holdfast.session.view import too_large
from holdfast.text.visible import GLANCE, amount, one_line
from holdfast.threads import (
    ThreadStore,
    open,  # noqa: A004 - as one opens a file
)

from .files import (
    STDIN,
    STDOUT,
    confirm,
    json_bytes,
    note,
    object_in,
    read_json,
    within,
    write,
    write_json,
    write_report,
    write_to,
)
from .options import (
    CONFIG,
    COUNTER,
    JSON,
    LIMITS,
    LLM,
    OUTPUT,
    PROFILE,
    QUERY,
    QUIET,
    REDACT,
    SOFT,
    STORE_KEY,
    YES,
    Whole,
    budget_of,
    configured,
    counting_options,
    excerpt_options,
    form_options,
    having,
    kept_in,
    moment,
    note_unknown,
    option,
)
from .results import steps_of

FIRST = "append something first"

command = group(
    "session",
    """Keep a whole conversation in a store, and print views of it that fit.

    \b
    holdfast session append turn.json --store agent.db --thread t1
    holdfast session fit --store agent.db --thread t1 --budget 8000 -o view.json
    holdfast session search "which retries did we agree on?" --store agent.db --thread t1
    holdfast session stats --store agent.db --thread t1 --report session.html
    """,
)


STORE = having(
    option("--store", "FILE|URL", "A SQLite file, or the URL of a store.", required=True), STORE_KEY
)

thread_options = having(STORE, option("--thread", "ID", "The name of the thread.", required=True))


def opened(
    thread: str, store: str, store_key: str | None, said: Mapping[str, Any], missing: str = FIRST
) -> Session:
    """A session with these arguments; the configuration has the defaults.

    ``missing`` is the advice of the ConfigError if the thread must have messages and has none.
    """
    given = {name: value for name, value in said.items() if value is not None}
    place = kept_in(store, store_key, missing=missing)
    merged: dict[str, Any] = {**configured().session, **given, "store": place}
    session = Session(thread, **merged)
    if missing and not session.appended:
        session.close()
        raise ConfigError(
            f"there is no thread {thread!r} in {store}", place="--thread", advice=missing
        )
    return session


def _threads(store: str, store_key: str | None) -> ThreadStore:
    return open(cast("str | KeyValueStore", kept_in(store, store_key, missing=FIRST)))


def on_thread(command: Callable[..., object]) -> Callable[..., object]:
    """Pass an existing session as the first argument, and add the options that name it."""

    @wraps(command)  # click keeps the options of the command itself on its function
    def asked(store: str, store_key: str | None, thread: str, **given: Any) -> object:
        said = {name: given.get(name) for name in ("model", "counter")}
        with opened(thread, store, store_key, said) as session:
            return command(session, **given)

    return CONFIG(thread_options(asked))


_POSITION = re.compile(r"-?\d{1,11}", re.ASCII)  # the key of an original has 12 digits or more


def message_named(key: str) -> int | str:
    """The position of a message, or its id, or the key of an original."""
    return int(key) if _POSITION.fullmatch(key) else key


def _numbered(event: Event) -> None:
    """Print the number of an event, which ``undo`` takes."""
    write(f"{event.number}\n")


@command.command
@click.argument("file", default=STDIN)
@thread_options
@click.option(
    "--id",
    "ids",
    multiple=True,
    help="The id of a message, once for each; a message with a known id is not stored again.",
)
@option(
    "--at",
    "TIME",
    "Their time, such as 2026-05-08T13:56+02:00; UTC by default.  [default: now]",
    callback=moment,
)
@LLM
@REDACT
@form_options
def append(
    file: str,
    store: str,
    store_key: str | None,
    thread: str,
    ids: Sequence[str],
    at: datetime | None,
    **said: Any,
) -> None:
    """Add messages to the end of the thread.

    FILE (- is standard input) has one message, a list of them, or one a line. They are on the disk
    when the command ends. Prints their positions as JSON.

    \b
    holdfast session append chat.json --store agent.db --thread t1
    echo '{"role": "user", "content": "Go on."}' | holdfast session append --store agent.db --thread
    t1
    """
    document = read_json(file)
    payload = object_in(document).get("messages", document.payload)
    given = payload if is_list(payload) else [payload]
    with within(file), opened(thread, store, store_key, said, missing="") as session:
        before = session.faults
        write(json.dumps(session.append(*given, ids=ids, at=at)) + "\n")
        for fault in session.faults:
            if fault not in before:
                note(f"The messages are stored, but: {fault}\n")
    beside = [field for field in ("system", "tools") if object_in(document).get(field)]
    if beside:
        note(
            f"Only the messages are stored, not the {' and '.join(beside)}: send them with each "
            "view, and leave room for them (fit --tools FILE, --reserve N).\n"
        )
    note_unknown(said)


@command.command
@thread_options
@having(*LIMITS, SOFT, PROFILE, QUERY, REDACT)
@counting_options
@having(OUTPUT, JSON, QUIET)
def fit(output: str | None, *, soft: bool, as_json: bool, quiet: bool, **asked: Any) -> None:
    """Write the messages for the next model call.

    They are notes on the past, and the recent turns. The budget is hard: if it cannot be met,
    nothing is written and the exit code is 1, unless --soft is given.

    \b
    holdfast session fit --store agent.db --thread t1 --budget 8000 -o view.json
    holdfast session fit --store agent.db --thread t1 --model gpt-4o --reserve 4000 --query "which
    port?"
    """
    store = asked["store"]
    said = {name: asked[name] for name in ("model", "counter", "profile", "redact", "format")}
    said["budget"] = budget_of(asked)
    with within(store), opened(asked["thread"], store, asked["store_key"], said) as session:
        view = session.fit(asked["query"], tools=asked["tools"])
        facts = _facts(session, view)
    if as_json:
        write_json(facts)
    if view.smallest is not None and not soft:
        raise too_large(view)
    if output not in (None, STDOUT) or not as_json:
        write_to(output, json_bytes(view.messages))
    if not quiet:
        note(f"{_summary(view)}\n")
        note_unknown(asked)


def _facts(session: Session, view: View) -> dict[str, object]:
    """The output of ``--json``, with the names that ``compress`` uses; no message text."""
    meter, read = session.meter, session.wire(*view.messages).read(view.messages)
    return {
        **attributes(view, "reason budget_met smallest"),
        "format": session.wire().name,
        "counter": meter.counter.name,
        "accuracy": asdict(meter.accuracy(read)),
        "usage": TokenUsage(view.tokens, view.limit).to_dict(),
        "messages": {
            "appended": session.appended,
            "in_view": len(view.messages),
            "since": view.since,
        },
        "recalled": [attributes(each, "position score why") for each in view.recalled],
        "steps": steps_of(view.result) if view.result else [],
    }


def _summary(view: View) -> str:
    told = f"; {amount(len(view.recalled), 'message')} of the past came back"
    if not view.budget_met:
        told = ": NOT met, the messages that must stay are larger"
    elif view.reason == "everything_fits":
        told = "; everything fits"
    size = f"{amount(len(view.messages), 'message')}, {view.tokens:,} of {view.limit:,} tokens"
    return size + told


@command.command
@click.argument("query")
@on_thread
@click.option(
    "--limit",
    default=10,
    show_default=True,
    type=Whole(1),
    help="The most messages to print.",
)
@JSON
def search(session: Session, query: str, limit: int, *, as_json: bool) -> None:
    """Print the messages that answer QUERY, best first.

    A line has the position, the score, the role and the day of a message, and its best place.

    \b
    holdfast session search "which retries did we agree on?" --store agent.db --thread t1
    """
    found = session.search(query, limit)
    if as_json:
        write_json([asdict(each) | {"said": _moment(each.said)} for each in found])
        return
    if not found:
        note("No message answers it.\n")
    for each in found:
        day = "" if each.said is None else day_name(each.said)
        place = one_line(best_place(each.text, query, GLANCE), GLANCE)
        write(f"{each.position}\t{each.score:.2f}\t{each.role}\t{day}\t{place}\n")


def _moment(said: float | None) -> str | None:
    """The time as ``--at`` takes it; None for one that no calendar has."""
    try:
        return None if said is None else datetime.fromtimestamp(said, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


@command.command
@click.argument("key")
@on_thread
@excerpt_options
def recall(session: Session, key: str, **part: Any) -> None:
    """Print an original, whole or in part.

    KEY is the text after "original:" in a shortened text, or the position or the id of a
    message. Write a position from the end, such as -1, last, after two dashes.

    \b
    holdfast session recall 38125504277140983120 --store agent.db --thread t1 --pattern ERROR
    holdfast session recall --store agent.db --thread t1 -- -1
    """
    found = session.recall(message_named(key), **part)
    if not found:
        note("Nothing matches.\n" if any(part.values()) else "It has no text.\n")
    write(found)


@command.command
@on_thread
@having(*COUNTER)
@option("--report report_file", "FILE", "Write the history: .html or .txt.")
@JSON
def stats(session: Session, report_file: str | None, *, as_json: bool, **given: Any) -> None:
    """Print the size of the thread and its tiers, and its history.

    The history has its compactions and recalls, with their reasons.

    \b
    holdfast session stats --store agent.db --thread t1 --report session.html
    """
    write_report(report_file, session.report)
    if as_json:
        write_json(session.stats().to_dict())
    else:
        write(session.report())
    note_unknown(given)


@command.command
@on_thread
@OUTPUT
def restore(session: Session, output: str | None) -> None:
    """Write every message that was ever appended, unchanged.

    \b
    holdfast session restore --store agent.db --thread t1 -o all.json
    """
    write_to(output, json_bytes(session.restore()))
    for fault in session.faults:
        note(f"{fault}\n")


@command.command("list")
@STORE
@JSON
@option("--report report_file", "FILE", "Figures of each: .html or .txt.")
def list_threads(
    store: str, store_key: str | None, report_file: str | None, *, as_json: bool
) -> None:
    """Print the names of the threads in the store, one a line.

    \b
    holdfast session list --store agent.db
    holdfast session list --store agent.db --report store.html
    """
    with _threads(store, store_key) as threads:
        names = threads.threads()
        write_report(report_file, threads.report)
    if as_json:
        write_json(names)
    else:
        write("".join(f"{one_line(name, WIDTH)}\n" for name in names))


@command.command
@thread_options
@YES
def delete(store: str, store_key: str | None, thread: str, *, yes: bool) -> None:
    """Erase the thread: messages, notes, events and originals. This cannot be undone.

    \b
    holdfast session delete --store agent.db --thread t1 --yes
    """
    opened(thread, store, store_key, {}, missing="check the name").close()
    if not yes:
        confirm(repr(one_line(thread, WIDTH)))
    with _threads(store, store_key) as threads:
        threads.delete_thread(thread)
    note(f"The thread {one_line(thread, WIDTH)} is erased.\n")


@command.command
@click.argument("keys", metavar="MESSAGE...", nargs=-1, required=True)
@on_thread
def pin(session: Session, keys: Sequence[str]) -> None:
    """Keep each MESSAGE, a position or an id, in every view.

    Prints the number of the event.

    \b
    holdfast session pin 0 12 --store agent.db --thread t1
    """
    _numbered(session.pin(*map(message_named, keys)))


@command.command
@click.argument("text")
@on_thread
def remember(session: Session, text: str) -> None:
    """Keep TEXT as a note in every view. Prints the number of the event.

    \b
    holdfast session remember "Answer in Portuguese." --store agent.db --thread t1
    """
    _numbered(session.remember(text))


@command.command
@click.argument("note", type=int)
@on_thread
def forget(session: Session, note: int) -> None:
    """Remove NOTE, the number that remember printed, from views.

    Prints the number of the event.

    \b
    holdfast session forget 3 --store agent.db --thread t1
    """
    _numbered(session.forget(note))


@command.command
@click.argument("event", type=int, required=False)
@on_thread
def undo(session: Session, event: int | None) -> None:
    """Undo EVENT, by default the newest that can be undone.

    It is an edit, a pin, a deletion or a compaction. Prints the number of the new event.

    \b
    holdfast session undo --store agent.db --thread t1
    """
    done = session.undo(event)
    note(f"{done.reason}.\n")
    _numbered(done)


@command.command
@click.argument("name")
@on_thread
def fork(session: Session, name: str) -> None:
    """Copy the thread to a new one called NAME, in the same store.

    \b
    holdfast session fork t1-b --store agent.db --thread t1
    """
    try:
        made = session.fork(name)
    except ConfigError as fault:
        raise fault.at("NAME") from fault
    with made:
        note(f"{amount(made.appended, 'message')} copied to the thread {name}.\n")


@command.command
@on_thread
@JSON
def facts(session: Session, *, as_json: bool) -> None:
    """Print the facts that people and the model stated.

    A line has the position and the day of a message, and the fact.

    \b
    holdfast session facts --store agent.db --thread t1
    """
    ledger = session.facts()
    if as_json:
        held = {"current": ledger.current(), "contradicted": ledger.contradicted()}
        write_json({name: list(map(asdict, found)) for name, found in held.items()})
        return
    if not ledger.current():
        note("No facts were stated.\n")
    for fact in ledger.current():
        day = "" if fact.said is None else day_name(fact.said)
        said = one_line(f"{fact.subject} {fact.relation} {fact.value}", WIDTH)
        write(f"{fact.position}\t{day}\t{said}\n")
