"""``holdfast store``: check, migrate, copy, compact, export, import and erase."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import click

from holdfast import upkeep
from holdfast.cli import group
from holdfast.files import as_input_errors, write_lines
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.kernel.ports import KeyValueStore
from holdfast.stores import open_store
from holdfast.stores.protocols import Closes, Compacts, Migrates

from .files import STDOUT, confirm, note, obstacle, progress, shown, within, write
from .options import STORE_KEY, YES, having, kept_in, option

command = group(
    "store",
    """Maintain a store, given as a SQLite file or as a URL such as postgresql://host/database.

    \b
    holdfast store check agent.db
    holdfast store copy agent.db postgresql://db/holdfast
    """,
)


@contextmanager
def _opened(url: str, key: str | None = None, *, reading: bool = True) -> Generator[KeyValueStore]:
    missing = "check the path" if reading else ""
    store = open_store(cast("str | KeyValueStore", kept_in(url, key, missing=missing, option="")))
    try:
        yield store
    finally:
        if isinstance(store, Closes):
            store.close()


@command.command
@click.argument("store")
@STORE_KEY
def check(store: str, store_key: str | None) -> int:
    """Read everything, and list what is damaged or at risk."""
    with _opened(store, store_key) as opened:
        found = upkeep.check(opened, _progress("read"))
    for line in found:
        write(f"{line}\n")
    if not found:
        note("No damage was found, and no setting that weakens the store.\n")
    return 1 if found else 0


@command.command
@click.argument("store")
def migrate(store: str) -> None:
    """Update the schema to this version, in one transaction."""
    with _opened(store) as opened:
        steps = opened.migrate() if isinstance(opened, Migrates) else 0
    note(f"The schema is up to date; {steps} steps were taken.\n")


@command.command
@click.argument("store")
def compact(store: str) -> None:
    """Merge the search index, and free the space of what was deleted."""
    with _opened(store) as opened:
        if not isinstance(opened, Compacts):
            raise ConfigError(
                "this store has nothing to compact",
                place=store.partition("?")[0],
                advice="leave it",
            )
        opened.compact()


@command.command
@click.argument("source")
@click.argument("target")
@having(
    option("--source-key", "FILE", "The key of an encrypted SOURCE."),
    option("--target-key", "FILE", "The key of an encrypted TARGET."),
)
def copy(source: str, target: str, source_key: str | None, target_key: str | None) -> None:
    """Copy all keys, artifacts and logs. Those that TARGET already has are skipped."""
    with _opened(source, source_key) as one, _opened(target, target_key, reading=False) as other:
        _note_moved(upkeep.copy(one, other, _progress("copied")))


@command.command
@click.argument("store")
@click.argument("file", default=STDOUT)
@STORE_KEY
def export(store: str, file: str, store_key: str | None) -> None:
    """Write everything in the store to FILE, as JSON lines. By default to standard output."""
    with _opened(store, store_key) as opened:
        lines = upkeep.exported(opened, _progress("written"))
        if file == STDOUT:
            for line in lines:
                write(f"{line}\n")
        else:
            target = Path(file)
            problem, advice = obstacle(target)
            if problem or target.exists():
                problem, advice = problem or "it exists already", advice or "name another file"
                raise InputError(problem, place=file, advice=advice)
            write_lines(target, lines)


@command.command("import")
@click.argument("store")
@click.argument("file")
@STORE_KEY
def import_(store: str, file: str, store_key: str | None) -> None:
    """Put everything in FILE (- is standard input) into the store.

    What the store already has is skipped.
    """
    with _opened(store, store_key, reading=False) as opened:
        reading = as_input_errors(shown(file), "read", "check it")
        with reading, click.open_file(file, encoding="utf-8") as lines, within(file):
            _note_moved(upkeep.imported(lines, opened, _progress("read")))


@command.command
@click.argument("store")
@option("--thread", "NAME", "Everything of this thread.")
@option("--tenant", "NAME", "Everything of this tenant.")
@YES
@STORE_KEY
def erase(
    store: str, thread: str | None, tenant: str | None, store_key: str | None, *, yes: bool
) -> None:
    """Erase everything of one thread or one tenant. This cannot be undone."""
    if (thread is None) == (tenant is None):
        problem = "there is nothing to erase" if tenant is None else "these are two things"
        raise ConfigError(problem, advice="give --thread or --tenant")
    what = f"thread {thread!r}" if tenant is None else f"tenant {tenant!r}"
    if not yes:
        confirm(what)
    with _opened(store, store_key) as opened:
        if tenant is None:
            gone = upkeep.erase_thread(opened, cast("str", thread))
        else:
            gone = upkeep.erase_tenant(opened, tenant)
    if not gone.keys + gone.logs:
        raise ConfigError(f"there is no {what}", place=store, advice="check the name")
    note(f"{gone.keys:,} keys and {gone.logs:,} logs are erased.\n")
    if gone.leftovers:
        note(f"Out of reach, and possibly still there: {gone.leftovers}.\n")


def _note_moved(moved: upkeep.Moved) -> None:
    note(
        f"{moved.keys:,} keys, {moved.new_keys:,} of them new; "
        f"{moved.lines:,} lines of logs, {moved.new_lines:,} of them new.\n"
    )


def _progress(done: str) -> Callable[[int], None] | None:
    return progress(lambda count: f"{count:,} entries {done}")
