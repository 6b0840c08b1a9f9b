"""Which conversation: the options of every command of a session, and where it is kept."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast.cli.keeping import check_place
from holdfast.cli.options import having
from holdfast.kernel.errors import ConfigError
from holdfast.session import Session

_FILE = "sqlite:///"
_FIRST = "append something first"

thread_options = having(
    click.option("--store", required=True, metavar="FILE|URL", help="A SQLite file, or the URL of a store."),
    click.option("--thread", required=True, metavar="ID", help="The name of the conversation; any text."),
)


def place_of(store: str, *, reading: bool = True) -> str:
    """The URL of the store; one that is only read has to be there already."""
    url = store if "://" in store else f"{_FILE}{store}"
    if reading and url.startswith(_FILE) and not Path(url.removeprefix(_FILE)).exists():
        raise ConfigError("there is no such file", place=f"--store {store}", advice=_FIRST)
    check_place(url)
    return url


def begun(session: Session, store: str) -> Session:
    """The session. Raises ConfigError, and closes it, if it holds nothing yet."""
    if not session.appended:
        session.close()
        problem = f"there is no thread {session.thread!r} in {store}"
        raise ConfigError(problem, place="--thread", advice=_FIRST)
    return session
