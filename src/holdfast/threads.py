"""The threads of a store: opened, listed and erased."""

from collections.abc import Collection
from html import escape
from os import PathLike, fspath
from typing import Any, Unpack

from holdfast.compressors.summaries import thread_prefix
from holdfast.kernel.budget import BudgetLike
from holdfast.kernel.errors import ConfigError, NotFoundError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.typed import check_type, what_is
from holdfast.memory.tiers import TIERS
from holdfast.names import ReportForm
from holdfast.reports.pages import table_page
from holdfast.session import Session
from holdfast.session.arguments import ThreadOptions
from holdfast.session.log import STATE
from holdfast.session.state import State
from holdfast.stores import open_store
from holdfast.stores.artifacts import CONTENT, secret_of
from holdfast.stores.key_logs import EVENTS, MESSAGES, LogsOverKeys
from holdfast.stores.protocols import (
    ClosedAfterUse,
    Closes,
    Compacts,
    ErasesLogs,
    ListsKeys,
    LogStore,
    check_unlocked,
    settled,
)
from holdfast.text.keyed import is_known, of_thread
from holdfast.text.visible import amount, one_line

_HEADS = (
    "conversation,messages,tokens,views,not sent,net $,compactions,recalls,faults,slowest ms"
).split(",")


class ThreadStore(ClosedAfterUse):
    """The threads of one store, each opened as a ``Session``.

    May be shared by threads of execution and processes. Use it as a context manager, or call
    ``close``; sessions are closed separately.
    """

    def __init__(self, store: KeyValueStore) -> None:
        self.store = LogsOverKeys.over(store)

    def thread(
        self, name: str, budget: BudgetLike = None, **options: Unpack[ThreadOptions]
    ) -> Session:
        """Open the thread of this name, new or existing. The options are those of ``Session``."""
        return Session(name, store=self.store, budget=budget, **options)

    def threads(self) -> list[str]:
        """The names of all threads with a message, in order."""
        names = [name.removeprefix(MESSAGES) for name in self.store.logs(MESSAGES)]
        if not names:
            check_unlocked(self.store)
        return names

    def report(self, form: ReportForm = "text") -> str:
        """Return a report with one row for each conversation, the largest first.

        A row has its messages and tokens, the tokens that views saved and what that is worth by
        ``costs=`` (– without), how often it was compacted, recalled and in trouble, and the slowest
        view. Sessions write these figures from time to time and when they close. ``form`` is
        ``text`` or ``html`` (one page); raises ConfigError for another one.
        """
        check_type(form, ReportForm, "form")
        states = {
            name: State.from_json(settled(self.store.get(STATE + name))) for name in self.threads()
        }
        rows = [
            [
                one_line(name),
                *(f"{each:,}" for each in (state.messages, state.tokens, state.fits, state.spared)),
                f"{state.net:,.4f}" if state.net else "–",
                *(f"{state.happened.get(kind, 0):,}" for kind in ("compaction", "recall", "fault")),
                f"{state.slowest * 1_000:,.0f}",
            ]
            for name, state in sorted(states.items(), key=lambda each: -each[1].tokens)
        ]
        if form == "html":
            shown = [[escape(cell) for cell in row] for row in rows]
            return table_page("store", amount(len(rows), "conversation"), _HEADS, shown)
        wide = [max(map(len, column)) for column in zip(_HEADS, *rows, strict=True)]
        return "".join(
            "  ".join([row[0].ljust(wide[0]), *map(str.rjust, row[1:], wide[1:])]) + "\n"
            for row in [_HEADS, *rows]
        )

    def delete_thread(self, name: str) -> None:
        """Erase a thread: its messages, events, notes, summaries and originals.

        Afterwards neither the store's file nor its write-ahead log holds any of it. Close the
        thread's session first; copies of the file are not touched. Raises NotFoundError for an
        unknown thread, ConfigError for a store that cannot erase, and StoreError if its files may
        still hold something, since another process uses them.
        """
        notes = EVENTS + name  # of a thread that may have no message, or none any more
        if name not in self.threads() and notes not in self.store.logs(notes):
            raise NotFoundError(name, where="the threads of this store")
        erase(self.store, name)

    def close(self) -> None:
        """Close the store."""
        if isinstance(self.store, Closes):
            settled(self.store.close())


def erase(store: LogStore, name: str) -> tuple[int, int]:
    """Erase a thread like ``delete_thread``; return the numbers of erased keys and logs.

    Raises ConfigError for a store that cannot erase.
    """
    if not isinstance(store, ErasesLogs) or not isinstance(store, ListsKeys):
        raise ConfigError(
            f"{what_is(store)} cannot erase a thread",
            place="store",
            advice="use a store of holdfast.stores",
        )
    logs = [log for log in (MESSAGES + name, EVENTS + name) if log in store.logs(log)]
    secret = of_thread(secret_of(store, makes=False), name)
    own = {f"{STATE}{name}", *(f"tier:{tier}:{name}" for tier in TIERS)}
    # a tenant may have the name with which they begin
    beginnings = tuple(f"{thread_prefix(name)}{kind}:" for kind in ("summary", "message"))
    keys = [
        key
        for key in settled(store.keys())
        if key in own
        or key.startswith(beginnings)
        or (key.startswith("vectors:") and key.split(":", 2)[2:] == [name])
        or (key.startswith(CONTENT) and is_known(key.removeprefix(CONTENT), secret))
    ]
    return erase_all(store, keys, logs)


def erase_all(store: Any, keys: Collection[str], logs: Collection[str]) -> tuple[int, int]:
    """Erase these keys and logs of a store that can; return their numbers."""
    for key in keys:
        settled(store.delete(key))
    for log in logs:
        store.erase_log(log)
    if isinstance(store, Compacts):
        settled(store.compact())
    return len(keys), len(logs)


def open(place: str | PathLike[str] | KeyValueStore) -> ThreadStore:  # noqa: A001 - as for a file
    """Open the threads of a SQLite file, which is created on first use, or of a store's URL.

    Raises ConfigError for anything that is not a store.
    """
    if isinstance(place, str | PathLike):
        file = fspath(place)
        place = file if "://" in file else f"sqlite:///{file}"
    return ThreadStore(open_store(place))
