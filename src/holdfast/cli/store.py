"""``holdfast store``: check, migrate, copy, compact, export, import and erase."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import cast

import click

from holdfast import upkeep
from holdfast.cli.files import STDOUT, obstacle
from holdfast.cli.options import having, kept_in
from holdfast.cli.terminal import mention, say, tell
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.kernel.ports import KeyValueStore
from holdfast.stores import open_store
from holdfast.stores.protocols import Closes, Compacts, Migrates

_PAUSE = 0.5  # seconds between two lines of progress

_KEY = click.option(
    "--store-key", metavar="FILE", help="The store is encrypted: its key, 32 bytes or a passphrase."
)


@click.group("store", short_help="Check, migrate, copy, compact, export, import or erase.")
def command() -> None:
    r"""Keep what a store holds in order. A store is a URL, such as postgresql://host/database.

    \b
    holdfast store check sqlite:///agent.db
    holdfast store copy sqlite:///agent.db postgresql://db/holdfast
    """


@command.command("check", short_help="Read everything, and say what is damaged.")
@click.argument("store")
@_KEY
def check(store: str, store_key: str | None) -> int:
    """Read every artifact and line, and say what is damaged or set up so that it may get lost."""
    opened = _opened(store, store_key)
    found = upkeep.check(opened, _progress("looked at"))
    for line in found:
        say(f"{line}\n")
    _close(opened)
    if not found:
        mention("Everything can be read, and the server keeps what it acknowledges.\n")
    return 1 if found else 0


@command.command("migrate", short_help="Bring the schema to this version.")
@click.argument("store")
def migrate(store: str) -> int:
    """Take the steps that the store's schema lacks: all of them, or none."""
    opened = _opened(store, None)
    steps = opened.migrate() if isinstance(opened, Migrates) else 0
    _close(opened)
    mention(f"The schema is that of this version; {steps} steps were taken.\n")
    return 0


@command.command("compact", short_help="Make it smaller.")
@click.argument("store")
def compact(store: str) -> int:
    """Merge the index of the logs, and give back the room of what was deleted."""
    opened = _opened(store, None)
    if not isinstance(opened, Compacts):
        raise ConfigError(
            "this store has nothing to compact", place=store.partition("?")[0], advice="leave it"
        )
    opened.compact()
    _close(opened)
    return 0


@command.command("copy", short_help="Copy all to another store.")
@click.argument("source")
@click.argument("target")
@having(
    click.option("--source-key", metavar="FILE", help="The key of an encrypted SOURCE."),
    click.option("--target-key", metavar="FILE", help="The key that TARGET has or gets."),
)
def copy(source: str, target: str, source_key: str | None, target_key: str | None) -> int:
    """Copy all keys, artifacts and logs. What TARGET has already is not written again."""
    stores = _opened(source, source_key), _opened(target, target_key)
    moved = upkeep.copy(*stores, _progress("copied"))
    for each in stores:
        _close(each)
    _tell(moved)
    return 0


@command.command("export", short_help="Write all to a file.")
@click.argument("store")
@click.argument("file", default=STDOUT)
@_KEY
def export(store: str, file: str, store_key: str | None) -> int:
    """Write all that the store holds to FILE, as lines of JSON (- is standard output)."""
    opened = _opened(store, store_key)
    lines = (f"{line}\n" for line in upkeep.exported(opened, _progress("written")))
    if file == STDOUT:
        for line in lines:
            say(line)
    else:
        _write(Path(file), lines)
    _close(opened)
    return 0


@command.command("import", short_help="Read all from a file.")
@click.argument("store")
@click.argument("file")
@_KEY
def import_(store: str, file: str, store_key: str | None) -> int:
    """Put all that FILE holds into the store. What it has already is not written again."""
    opened = _opened(store, store_key)
    try:
        with Path(file).open(encoding="utf-8") as lines:
            moved = upkeep.imported(lines, opened, _progress("read"))
    except (OSError, UnicodeDecodeError) as fault:
        problem = fault.strerror if isinstance(fault, OSError) else "it is not text"
        raise InputError(f"it cannot be read ({problem})", place=file) from fault
    _close(opened)
    _tell(moved)
    return 0


@command.command("erase", short_help="Remove a thread or a tenant.")
@click.argument("store")
@click.option("--thread", metavar="NAME", help="All that is kept of this conversation.")
@click.option("--tenant", metavar="NAME", help="All that is kept of this tenant.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_KEY
def erase(
    store: str, thread: str | None, tenant: str | None, store_key: str | None, *, yes: bool
) -> int:
    """Remove all that is kept of one conversation, or of one tenant. It cannot be taken back."""
    if (thread is None) == (tenant is None):
        raise ConfigError(
            "it is not said what is to be erased", place="erase", advice="give --thread or --tenant"
        )
    if not yes:
        what = f"thread {thread!r}" if tenant is None else f"tenant {tenant!r}"
        click.confirm(f"Erase {what} for good?", abort=True, err=True)
    opened = _opened(store, store_key)
    if tenant is None:
        gone = upkeep.erase_thread(opened, cast("str", thread))
    else:
        gone = upkeep.erase_tenant(opened, tenant)
    _close(opened)
    mention(f"{gone.keys:,} keys and {gone.logs:,} logs are gone.\n")
    if gone.leftovers:
        mention(f"What may stay is out of reach: {gone.leftovers}.\n")
    return 0


def _opened(url: str, key: str | None) -> KeyValueStore:
    return open_store(cast("str | KeyValueStore", kept_in(url, key)))


def _close(store: KeyValueStore) -> None:
    if isinstance(store, Closes):
        store.close()


def _tell(moved: upkeep.Moved) -> None:
    mention(
        f"{moved.keys:,} keys, {moved.new_keys:,} of them new; "
        f"{moved.lines:,} lines of logs, {moved.new_lines:,} of them new.\n"
    )


def _write(file: Path, lines: object) -> None:
    problem, advice = obstacle(file)
    if problem or file.exists():
        raise InputError(
            problem or "it is there already",
            place=str(file),
            advice=advice or "name another file",
        )
    part = file.with_name(f"{file.name}.part")
    with part.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(cast("list[str]", lines))
    part.replace(file)


def _progress(done: str) -> Callable[[int], None] | None:
    """Tells how much is done, on a terminal, now and then."""
    if not sys.stderr.isatty():
        return None
    told = 0.0

    def progress(count: int) -> None:
        nonlocal told
        now = monotonic()
        if now - told > _PAUSE:
            told = now
            tell(f"{count:,} entries are {done}")

    return progress
