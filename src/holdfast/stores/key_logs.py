"""Logs over a store that keeps keys and values alone, so that any such store serves a session.

One entry holds what one append kept, under the position of its first line: it is there whole or not
at all. A log is read whole when something is first asked of it, and searched in memory, which suits
threads of some thousand lines. Several processes may append where the store has ``put_if_absent``;
else one at a time. A log that another process erased must be opened again. The keys of a thread's
entries begin with its namespace, whether a PrefixStore is over these logs or under them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from threading import RLock
from typing import cast
from weakref import WeakValueDictionary

from holdfast.kernel.errors import CorruptError
from holdfast.kernel.forks import Forks, brief_lock
from holdfast.kernel.ports import KeyValueStore

from .artifacts import keeps_bytes
from .in_process import InProcessLog
from .protocols import KeepsLogs, Line, ListsKeys, LogStore, put_new, settled
from .wrappers import MappedStore, OverBytes, ShieldedStore

_LINES, _NAMES = "log:", "logs:"
"""How the keys of entries begin: of lines, and of the names of logs where keys are not listed."""

MESSAGES, EVENTS = "messages:", "events:"
THREAD_LOG = re.compile(rf"((?:[^:]*:)*?)({MESSAGES}|{EVENTS})(.*)", re.DOTALL)
"""The name of a thread's log: its namespaces, its kind, and the thread."""

_ENTRY = re.compile(rf"((?:[^:]*:)*?){_LINES}([0-9]+):(.*)", re.DOTALL)

_TURNS = Forks()


def _place(name: str) -> tuple[str, str]:
    """What stands before and after the position in the keys of a log."""
    found = THREAD_LOG.fullmatch(name)
    space = found[1] if found else ""
    return space + _LINES, ":" + name.removeprefix(space)


def _entry(key: str) -> tuple[str, str] | None:
    """The log and the position of the entry with this key; None for a key of no entry."""
    found = _ENTRY.fullmatch(key)
    if found is None or _place(name := found[1] + found[3])[0] != found[1] + _LINES:
        return None
    return name, found[2]


class KeyLog(InProcessLog):
    """One log: its entries in the store, and a copy in memory that is searched.

    ``affixes``: what stands before and after the position in its keys. ``names``: the log in which
    its name is noted when it gets its first line.
    """

    def __init__(
        self, store: KeyValueStore, affixes: tuple[str, str], name: str, names: KeyLog | None
    ) -> None:
        super().__init__()
        self._store, self._affixes, self._name, self._names = store, affixes, name, names
        self._turn = RLock()
        _TURNS.watch(self._turn)
        self._starts: list[int] = []

    def _refresh(self) -> None:
        """Read the lines that others appended."""
        with self._turn:
            while text := settled(self._store.get(key := self._key(len(self._lines)))):
                try:
                    self._take([Line(**each) for each in json.loads(text)])
                except (TypeError, ValueError) as fault:
                    raise CorruptError(key, "it holds no lines of a log") from fault

    def append(
        self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True
    ) -> list[int]:
        """Append all of the lines, or none; return their positions.

        When they reach a disk is the store's own matter.
        """
        held = [asdict(line) for line in lines]
        text = json.dumps(held)
        if json.loads(text) != held:  # ASCII would join surrogates which stand side by side
            text = json.dumps(held, ensure_ascii=False)
        with self._turn:
            while at in (None, start := self.length()):
                if all(line.id in self._places for line in lines):
                    return [self._places[line.id] for line in lines]
                if start == 0 and self._names:
                    self._names.append([Line(self._name, f"name {self._name}")])
                if put_new(self._store, self._key(start), text):
                    return self._take(lines)
            return []

    def erase(self, listed: Iterable[int]) -> None:
        """Remove the entries, the last first, so that a failure leaves a valid log.

        ``listed``: where entries begin beside those that can be read.
        """
        with self._turn:
            with suppress(CorruptError):
                self._refresh()
            starts, self._starts = {*listed, *self._starts, len(self._lines)}, []
            self.clear()
            for start in sorted(starts, reverse=True):
                settled(self._store.delete(self._key(start)))

    def _take(self, lines: Sequence[Line]) -> list[int]:
        self._starts.append(len(self._lines))
        return super().append(lines)

    def _key(self, start: int) -> str:
        return str(start).join(self._affixes)


class LogsOverKeys(MappedStore):
    """A store with ``get``, ``set`` and ``delete``, awaited or not, that keeps logs too.

    Its logs answer at once: they wait for a store that must be awaited. What the store raises is a
    StoreError.
    """

    def __init__(self, inner: KeyValueStore) -> None:
        inner = cast("KeyValueStore", ShieldedStore(inner))
        super().__init__(inner)
        self._lock = brief_lock()
        self._opened: WeakValueDictionary[str, KeyLog] = WeakValueDictionary()
        lists = isinstance(inner, ListsKeys)
        self._names = None if lists else KeyLog(inner, (_NAMES, ":"), "", None)

    @classmethod
    def over(cls, store: KeyValueStore) -> LogStore:
        """The store itself where it keeps logs."""
        if isinstance(store, KeepsLogs):
            return store
        return LogsOverBytes(store) if keeps_bytes(store) else cls(store)

    def log(self, name: str) -> KeyLog:
        """The log of this name, which may be empty."""
        made = KeyLog(self._inner, _place(name), name, self._names)
        with self._lock:
            return self._opened.setdefault(name, made)

    def logs(self, prefix: str = "") -> list[str]:
        """The names of the non-empty logs that start with the prefix, in order."""
        if self._names is None:
            stem = "0".join(_place(prefix)) if THREAD_LOG.fullmatch(prefix) else ""
            found = filter(None, map(_entry, settled(self._inner.keys(stem))))
            return sorted(name for name, at in found if at == "0" and name.startswith(prefix))
        noted = self._names.read(range(self._names.length())).values()
        names = [line.body for line in noted if line.body.startswith(prefix)]
        return sorted([each for each in names if settled(self._inner.get("0".join(_place(each))))])

    def erase_log(self, name: str) -> None:
        """Remove the log with all its lines; where keys are not listed its name stays."""
        # there may be entries after a damaged one
        keys = settled(self._inner.keys(_place(name)[0])) if self._names is None else ()
        found = map(_entry, keys)
        self.log(name).erase(int(each[1]) for each in found if each and each[0] == name)

    def _key(self, name: str, /) -> str | None:
        return None if _entry(name) else name  # entries of logs are not listed as keys


class LogsOverBytes(LogsOverKeys, OverBytes):
    """The same over a store of bytes, so that artifacts are bytes in it."""
