"""Commands of ``holdfast session``: list, delete, pin, remember, undo, fork and facts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict

import click

from holdfast.cli.files import check_targets, text_bytes
from holdfast.cli.options import JSON, YES
from holdfast.cli.session_place import (
    STORE,
    existing,
    message_named,
    on_thread,
    place_of,
    thread_options,
)
from holdfast.cli.terminal import mention, pour, say, say_json
from holdfast.files import write_all
from holdfast.kernel.errors import ConfigError
from holdfast.memory.times import day_name
from holdfast.reports.text import WIDTH
from holdfast.result import report_form
from holdfast.session import Session
from holdfast.session.state import Event
from holdfast.text.visible import amount, one_line
from holdfast.threads import open  # noqa: A004 - as one opens a file


def _numbered(event: Event) -> int:
    """Print the number of an event, which ``undo`` takes."""
    say(f"{event.number}\n")
    return 0


@click.command("list", short_help="List the threads of a store.")
@STORE
@JSON
@click.option("--report", "told", metavar="FILE", help="Figures of each: .html or .txt.")
def list_threads(store: str, told: str | None, *, as_json: bool) -> int:
    r"""Print the names of the threads in the store, one a line.

    \b
    holdfast session list --store agent.db
    holdfast session list --store agent.db --report store.html
    """
    form = report_form(told, "--report")
    check_targets({"--report": told}, store)
    with open(place_of(store)) as threads:
        names = threads.threads()
        if told:
            write_all({told: text_bytes(threads.report(form))})
    if as_json:
        say_json(names)
    else:
        pour("".join(f"{one_line(name, WIDTH)}\n" for name in names))
    return 0


@click.command("delete", short_help="Erase the thread.")
@thread_options
@YES
def delete(store: str, thread: str, *, yes: bool) -> int:
    r"""Erase the thread: messages, notes, events and originals. This cannot be undone.

    \b
    holdfast session delete --store agent.db --thread t1 --yes
    """
    existing(thread, store, {}).close()
    if not yes:
        if not sys.stdin.isatty():
            problem = "this cannot be undone, and there is no terminal to ask"
            raise ConfigError(problem, place="delete", advice="give --yes")
        click.confirm(f"Erase {one_line(thread, WIDTH)!r}?", abort=True, err=True)
    with open(place_of(store)) as threads:
        threads.delete_thread(thread)
    mention(f"The thread {one_line(thread, WIDTH)} is erased.\n")
    return 0


@click.command("pin", short_help="Keep messages in every view.")
@click.argument("keys", metavar="MESSAGE...", nargs=-1, required=True)
@on_thread
def pin(session: Session, keys: Sequence[str]) -> int:
    r"""Keep each MESSAGE, a position or an id, in every view. Prints the number of the event.

    \b
    holdfast session pin 0 12 --store agent.db --thread t1
    """
    return _numbered(session.pin(*map(message_named, keys)))


@click.command("remember", short_help="Keep a note in every view.")
@click.argument("text")
@on_thread
def remember(session: Session, text: str) -> int:
    r"""Keep TEXT as a note in every view. Prints the number of the event.

    \b
    holdfast session remember "Answer in Portuguese." --store agent.db --thread t1
    """
    return _numbered(session.remember(text))


@click.command("undo", short_help="Undo an edit, a pin, a note, a deletion or a compaction.")
@click.argument("event", type=int, required=False)
@on_thread
def undo(session: Session, event: int | None) -> int:
    r"""Undo EVENT, by default the newest that can be undone. Prints the number of the new event.

    \b
    holdfast session undo --store agent.db --thread t1
    """
    done = session.undo(event)
    mention(f"{done.reason}.\n")
    return _numbered(done)


@click.command("fork", short_help="Copy the thread.")
@click.argument("name")
@on_thread
def fork(session: Session, name: str) -> int:
    r"""Copy the thread to a new one called NAME, in the same store.

    \b
    holdfast session fork t1-b --store agent.db --thread t1
    """
    with session.fork(name) as made:
        mention(f"{amount(made.appended, 'message')} copied to the thread {name}.\n")
    return 0


@click.command("facts", short_help="List the facts that were stated.")
@on_thread
@JSON
def facts(session: Session, *, as_json: bool) -> int:
    r"""Print the facts that people and the model stated: position, day, fact.

    \b
    holdfast session facts --store agent.db --thread t1
    """
    ledger = session.facts()
    if as_json:
        held = {"current": ledger.current(), "contradicted": ledger.contradicted()}
        say_json({name: [asdict(fact) for fact in found] for name, found in held.items()})
        return 0
    if not ledger.current():
        mention("No facts were stated.\n")
    for fact in ledger.current():
        day = "" if fact.said is None else day_name(fact.said)
        said = one_line(f"{fact.subject} {fact.relation} {fact.value}", WIDTH)
        pour(f"{fact.position}\t{day}\t{said}\n")
    return 0


CHANGES = (list_threads, delete, pin, remember, undo, fork, facts)
"""The commands, in the order of the help."""
