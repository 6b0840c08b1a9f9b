"""``holdfast session list``, ``delete``, ``pin``, ``remember``, ``undo``, ``fork`` and ``facts``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict

import click

from holdfast.cli.session_place import STORE, begun, message_named, place_of, thread_options
from holdfast.cli.terminal import mention, pour, say, say_json
from holdfast.kernel.errors import ConfigError
from holdfast.memory.times import day_name
from holdfast.session import Session
from holdfast.session.state import Event
from holdfast.text.visible import one_line
from holdfast.threads import open  # noqa: A004 - as one opens a file

_CELLS = 110


def _told(event: Event) -> int:
    """Print the number of an event, by which ``undo`` takes it back."""
    say(f"{event.number}\n")
    return 0


@click.command("list", short_help="The conversations in a store.")
@STORE
@click.option("--json", "as_json", is_flag=True, help="Print the names as JSON.")
def list_threads(store: str, *, as_json: bool) -> int:
    r"""Print the name of each conversation in the store, one a line.

    \b
    holdfast session list --store agent.db
    """
    with open(place_of(store)) as threads:
        names = threads.threads()
    if as_json:
        say_json(names)
    else:
        pour("".join(f"{one_line(name, _CELLS)}\n" for name in names))
    return 0


@click.command("delete", short_help="Erase the conversation for good.")
@thread_options
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(store: str, thread: str, *, yes: bool) -> int:
    r"""Erase the conversation: its messages, notes, events and originals. Nothing brings it back.

    \b
    holdfast session delete --store agent.db --thread t1 --yes
    """
    place = place_of(store)
    begun(Session(thread, store=place), store).close()
    if not yes:
        if not sys.stdin.isatty():
            problem = "this cannot be taken back, and nobody is there to ask"
            raise ConfigError(problem, place="delete", advice="give --yes")
        click.confirm(f"Erase {one_line(thread, _CELLS)!r} for good?", abort=True, err=True)
    with open(place) as threads:
        threads.delete_thread(thread)
    mention("The conversation is erased.\n")
    return 0


@click.command("pin", short_help="Keep messages in every view.")
@click.argument("keys", metavar="MESSAGE...", nargs=-1, required=True)
@thread_options
def pin(keys: Sequence[str], store: str, thread: str) -> int:
    r"""Keep each MESSAGE, a position or an id, in every view. Prints the number of the event.

    \b
    holdfast session pin 0 12 --store agent.db --thread t1
    """
    with begun(Session(thread, store=place_of(store)), store) as session:
        return _told(session.pin(*map(message_named, keys)))


@click.command("remember", short_help="Keep a text in every view.")
@click.argument("text")
@thread_options
def remember(text: str, store: str, thread: str) -> int:
    r"""Keep TEXT in every view of the conversation. Prints the number of the event.

    \b
    holdfast session remember "Answer in Portuguese." --store agent.db --thread t1
    """
    with begun(Session(thread, store=place_of(store)), store) as session:
        return _told(session.remember(text))


@click.command("undo", short_help="Take back an edit, a pin, a deletion, a compaction.")
@click.argument("event", type=int, required=False)
@thread_options
def undo(event: int | None, store: str, thread: str) -> int:
    r"""Take EVENT back, by default the newest that can be. Prints the number of the new event.

    \b
    holdfast session undo --store agent.db --thread t1
    """
    with begun(Session(thread, store=place_of(store)), store) as session:
        done = session.undo(event)
        mention(f"{done.reason}.\n")
        return _told(done)


@click.command("fork", short_help="Go on in a copy of the conversation.")
@click.argument("name")
@thread_options
def fork(name: str, store: str, thread: str) -> int:
    r"""Copy all that the conversation holds to a new one of this NAME, in the same store.

    \b
    holdfast session fork t1-b --store agent.db --thread t1
    """
    with (
        begun(Session(thread, store=place_of(store)), store) as session,
        session.fork(name) as made,
    ):
        mention(f"{made.appended:,} messages stand in the new conversation.\n")
    return 0


@click.command("facts", short_help="What was plainly stated.")
@thread_options
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON, those that changed too.")
def facts(store: str, thread: str, *, as_json: bool) -> int:
    r"""Print the facts that people and the model stated, with the message that says each.

    \b
    holdfast session facts --store agent.db --thread t1
    """
    with begun(Session(thread, store=place_of(store)), store) as session:
        ledger = session.facts()
    if as_json:
        held = {"current": ledger.current(), "contradicted": ledger.contradicted()}
        say_json({name: [asdict(fact) for fact in found] for name, found in held.items()})
        return 0
    if not ledger.current():
        mention("Nothing was plainly stated.\n")
    for fact in ledger.current():
        day = "" if fact.said is None else day_name(fact.said)
        said = one_line(f"{fact.subject} {fact.relation} {fact.value}", _CELLS)
        pour(f"{fact.position}\t{day}\t{said}\n")
    return 0


CHANGES = (list_threads, delete, pin, remember, undo, fork, facts)
"""In the order in which help lists them."""
