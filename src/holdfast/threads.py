"""A store of many conversations: opened once, listed, and erased one by one."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from time import time
from types import TracebackType
from typing import Any, Protocol, Self, Unpack, cast, runtime_checkable

from holdfast.compressors.summaries import thread_prefix
from holdfast.kernel.budget import BudgetLike
from holdfast.kernel.errors import ConfigError, InputError, NotFoundError
from holdfast.kernel.ports import KeyValueStore
from holdfast.memory.tiers import TIERS
from holdfast.meter import meter_for
from holdfast.session import Session
from holdfast.session.arguments import ThreadOptions
from holdfast.session.log import EVENTS, MESSAGES, STATE, Thread, settled
from holdfast.stores import open_store
from holdfast.stores.artifacts import CONTENT
from holdfast.stores.protocols import Closes, Compacts, ErasesLogs, KeepsLogs, ListsKeys
from holdfast.stores.secret import KEY as SECRET
from holdfast.text.keyed import is_known, of_thread


@runtime_checkable
class Reindexes(Protocol):
    """A store whose index of words has to be made anew to let go of words that were erased."""

    def reindex(self, words: Iterator[tuple[str, int, str]]) -> None:
        """Make the index of these alone: log, position and words of each line."""
        ...


class ThreadStore:
    """The conversations that one store holds, each a ``Session`` under its own name.

    Many threads of execution and many processes may use one store. Use it as a context manager, or
    call ``close``, which lets go of the store; sessions from ``thread`` are closed by themselves.
    """

    def __init__(self, store: KeyValueStore) -> None:
        if not isinstance(store, KeepsLogs):
            problem = f"a {type(store).__name__} keeps keys and values but no conversations"
            advice = "give one such as 'sqlite:///agent.db' or 'memory://'"
            raise ConfigError(problem, place="store", advice=advice)
        self.store = store

    def thread(
        self, name: str, budget: BudgetLike = None, **options: Unpack[ThreadOptions]
    ) -> Session:
        """The conversation of this name, new or as it was left. The options are those of Session."""
        return Session(name, store=self.store, budget=budget, **options)

    def threads(self) -> list[str]:
        """The names of the conversations that hold a message, in order."""
        found = settled(cast("KeepsLogs", self.store).logs(MESSAGES))
        return [name.removeprefix(MESSAGES) for name in found]

    def delete_thread(self, name: str) -> None:
        """Erase a conversation for good: its messages, events, notes, summaries and originals.

        Nothing of it is left in the store's file or its log afterwards; the index of the others'
        words is made anew, which reads all of them. Copies of the file that were made elsewhere are
        out of reach, and so is what a session has in memory that is still open: close it first.
        Raises NotFoundError if there is no such conversation, ConfigError for a store that cannot
        erase.
        """
        if name not in self.threads():
            raise NotFoundError(name, where="the threads of this store")
        erase(self.store, name)

    def close(self) -> None:
        """Let go of the store."""
        if isinstance(self.store, Closes):
            settled(self.store.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def erase(store: KeyValueStore, name: str) -> tuple[int, int]:
    """Erase a conversation as ``delete_thread`` does; how many keys and logs have gone.

    Raises ConfigError for a store that cannot erase.
    """
    if not isinstance(store, ErasesLogs) or not isinstance(store, ListsKeys):
        problem = f"a {type(store).__name__} cannot erase"
        raise ConfigError(problem, place="store", advice="use a store of holdfast.stores")
    keys = _keys(name, store)
    for key in keys:
        settled(store.delete(key))
    logs = [
        log
        for log in (MESSAGES + name, EVENTS + name)
        if log in settled(cast("KeepsLogs", store).logs(log))
    ]
    for log in logs:
        settled(store.erase_log(log))
    if isinstance(store, Reindexes):
        store.reindex(_words(store))
    if isinstance(store, Compacts):
        settled(store.compact())
    return len(keys), len(logs)


def _keys(name: str, store: ListsKeys) -> list[str]:
    """Every key of the store that is of this thread alone."""
    secret = of_thread(settled(cast("KeyValueStore", store).get(SECRET)) or "", name)
    own = {f"{STATE}{name}", *(f"tier:{tier}:{name}" for tier in TIERS)}
    prefix = thread_prefix(name)
    return [
        key
        for key in settled(store.keys())
        if key in own
        or key.startswith(prefix)
        or (key.startswith("vectors:") and key.split(":", 2)[2:] == [name])
        or (key.startswith(CONTENT) and is_known(key.removeprefix(CONTENT), secret))
    ]


def _words(store: KeyValueStore) -> Iterator[tuple[str, int, str]]:
    """The words of every line that is left, as ``append`` and ``edit`` gave them."""
    meter = meter_for("", "chars4_plus1")  # nothing is counted: any will do
    for name in ThreadStore(store).threads():
        thread = Thread(name, store, time, meter)
        for position, original in thread.numbered():
            yield MESSAGES + name, position, _found(thread, original)
        for event in thread.events():
            if event.kind == "edit":
                yield EVENTS + name, event.number, _found(thread, event.facts["message"])


def _found(thread: Thread, original: Any) -> str:
    """The words by which a message is found; none where it cannot be read any more."""
    try:
        return thread.words_of(original)
    except InputError:
        return ""


def open(place: str | PathLike[str] | KeyValueStore) -> ThreadStore:  # noqa: A001 - as one opens a file
    """The conversations in a store: a SQLite file, made when it is first used, or a store's URL.

    Raises ConfigError for what is no store.
    """
    if isinstance(place, str | PathLike):
        file = fspath(place)
        return ThreadStore(open_store(file if "://" in file else f"sqlite:///{file}"))
    return ThreadStore(open_store(place))
