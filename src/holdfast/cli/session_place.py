"""Which conversation a command of ``holdfast session`` is about, and where it is kept."""

from __future__ import annotations

import re

import click

from holdfast.cli.options import check_place, having
from holdfast.kernel.errors import ConfigError
from holdfast.session import Session

_FILE = "sqlite:///"
_FIRST = "append something first"

STORE = click.option(
    "--store", required=True, metavar="FILE|URL", help="A SQLite file, or the URL of a store."
)

thread_options = having(
    STORE,
    click.option(
        "--thread", required=True, metavar="ID", help="The name of the conversation; any text."
    ),
)


def place_of(store: str, *, reading: bool = True) -> str:
    """The URL of the store; one that is only read has to be there already."""
    url = store if "://" in store else f"{_FILE}{store}"
    check_place(url, shown=store if reading else "", missing=_FIRST if reading else "")
    return url


def begun(session: Session, store: str) -> Session:
    """The session. Raises ConfigError, and closes it, if it holds nothing yet."""
    if not session.appended:
        session.close()
        problem = f"there is no thread {session.thread!r} in {store}"
        raise ConfigError(problem, place="--thread", advice=_FIRST)
    return session


_POSITION = re.compile(r"-?\d{1,11}", re.ASCII)  # a key of an original has 12 digits or more


def message_named(key: str) -> int | str:
    """The position of a message, or its id, or the key of an original."""
    return int(key) if _POSITION.fullmatch(key) else key
