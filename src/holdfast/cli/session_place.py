"""The thread of a ``holdfast session`` command, and the store that holds it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import Any, cast

import click

from holdfast.cli.files import check_targets
from holdfast.cli.options import CONFIG, FILE_URL, check_place, configured, having, url_of
from holdfast.kernel.errors import ConfigError
from holdfast.session import Session

_FIRST = "append something first"

STORE = click.option(
    "--store", required=True, metavar="FILE|URL", help="A SQLite file, or the URL of a store."
)

thread_options = having(
    STORE, click.option("--thread", required=True, metavar="ID", help="The name of the thread.")
)


def place_of(store: str, *, reading: bool = True) -> str:
    """The URL of the store. Raises ConfigError if it must exist and does not."""
    url = url_of(store)
    check_place(url, shown=store if reading else "", missing=_FIRST if reading else "")
    return url


def opened(thread: str, place: str, said: Mapping[str, Any]) -> Session:
    """A session with these arguments; the configuration has the defaults."""
    given = {name: value for name, value in said.items() if value is not None}
    merged: dict[str, Any] = {**configured().session, **given, "store": place}
    return Session(thread, **merged)


def existing(thread: str, store: str, said: Mapping[str, Any]) -> Session:
    """The session of a thread with messages. Raises ConfigError if there is no such thread."""
    session = opened(thread, place_of(store), said)
    if not session.appended:
        session.close()
        problem = f"there is no thread {thread!r} in {store}"
        raise ConfigError(problem, place="--thread", advice=_FIRST)
    return session


def on_thread(command: Callable[..., int]) -> Callable[..., int]:
    """Pass an existing session as the first argument, and add the options that name it."""

    def asked(store: str, thread: str, **given: Any) -> int:
        targets = {"-o": given.get("output"), "--report": given.get("told")}
        check_targets(targets, url_of(store).removeprefix(FILE_URL))
        said = {name: given.get(name) for name in ("model", "counter")}
        with existing(thread, store, said) as session:
            return command(session, **given)

    # click keeps the options of the command itself on its function
    return having(CONFIG)(
        thread_options(cast("Callable[..., int]", update_wrapper(asked, command)))
    )


_POSITION = re.compile(r"-?\d{1,11}", re.ASCII)  # the key of an original has 12 digits or more


def message_named(key: str) -> int | str:
    """The position of a message, or its id, or the key of an original."""
    return int(key) if _POSITION.fullmatch(key) else key
