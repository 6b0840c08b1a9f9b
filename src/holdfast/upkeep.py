"""Maintenance of a store: check, copy, export, import and erase.

Works on synchronous stores, such as those of ``holdfast.stores``.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import count, groupby
from typing import Any, NamedTuple, cast

from holdfast.formats import named
from holdfast.kernel.errors import ConfigError, InputError, StoreError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.transcript import Format
from holdfast.kernel.typed import what_is
from holdfast.session.log import LINES, STATE, batches, with_words
from holdfast.session.state import State
from holdfast.stores.artifacts import CONTENT, blobs_of, check_artifact, keeps_bytes
from holdfast.stores.artifacts import KEY as SECRET
from holdfast.stores.key_logs import EVENTS, THREAD_LOG, LogsOverKeys
from holdfast.stores.protocols import (
    Checks,
    Leaves,
    Line,
    ListsKeys,
    LogStore,
    MessageLog,
    SetsBytes,
    settled,
    text_or_bytes,
    to_bytes,
    to_text,
    unusable,
)
from holdfast.stores.wrappers import OURS, TAKEN, PrefixStore, is_content, shared_name
from holdfast.threads import erase, erase_all

Progress = Callable[[int], object]
_Indexing = Callable[[str, Line], Line]


class KeyBytes(NamedTuple):
    """A key and its value as bytes."""

    key: str
    value: bytes


class Lines(NamedTuple):
    """Consecutive lines of a log, the first at position ``at``."""

    log: str
    at: int
    lines: Sequence[Line]


class Moved(NamedTuple):
    """The numbers of keys and lines, and of those that were new in the target."""

    keys: int
    lines: int
    new_keys: int
    new_lines: int


def copy(source: KeyValueStore, target: KeyValueStore, progress: Progress | None = None) -> Moved:
    """Copy all keys, artifacts and logs; those that the target already has are skipped.

    An interrupted copy can be repeated, and so can a copy of a store in use. Expiry times are not
    copied. Raises ConfigError if the target has other logs or another secret.
    """
    whole = LogsOverKeys.over(target)
    parts = _parts(source, lambda name: whole.log(name).length())
    return _put(parts, whole, _indexing(source), progress)


def exported(store: KeyValueStore, progress: Progress | None = None) -> Iterator[str]:
    """Everything in the store as lines of JSON, which ``imported`` reads."""
    tell, done = progress or _tell_nobody, 0
    for part in _parts(store, lambda _: 0):
        if isinstance(part, KeyBytes):
            yield json.dumps({"key": _written(part.key), "value": b64encode(part.value).decode()})
            done += 1
        else:
            for at, line in enumerate(part.lines, part.at):
                held = {"log": _written(part.log), "at": at, "id": _written(line.id)}
                yield json.dumps({**held, "time": line.time, "body": _written(line.body)})
            done += len(part.lines)
        tell(done)


def _written(text: str) -> object:
    """The text for JSON; with a lone surrogate, its bytes in base64."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"bytes": b64encode(to_bytes(text)).decode()}
    return text


def _text(written: object) -> str:
    match written:
        case str(text):
            return text
        case {"bytes": str(held)}:
            return to_text("", b64decode(held, validate=True))
        case _:
            raise ValueError(f"{written!r:.60} is not text")


def imported(lines: Iterable[str], store: KeyValueStore, progress: Progress | None = None) -> Moved:
    """Put everything in the lines into the store, as ``copy`` does.

    Raises InputError, with the line number, for lines that ``exported`` did not write.
    """
    return _put(_read(lines), LogsOverKeys.over(store), _indexing(store), progress)


def check(store: KeyValueStore, progress: Progress | None = None) -> list[str]:
    """Read every key and every line of every log, and list what is damaged or badly configured."""
    found = list(settled(store.check())) if isinstance(store, Checks) else []
    tell, whole = progress or _tell_nobody, _listed(store)
    done = 0
    for done, key in enumerate(whole.keys(), 1):
        try:
            value = _bytes_of(store, key)
            if value is not None and is_content(key):
                check_artifact(key.rpartition(CONTENT)[2], value)
        except StoreError as fault:
            found.append(str(fault))
        tell(done)
    for name in whole.logs():
        log = whole.log(name)
        try:
            length = log.length()
        except StoreError as fault:
            found.append(str(fault))
            continue
        for some in batches(0, length):
            missing = sorted(set(some) - log.read(some).keys())
            if missing:
                shown = ", ".join(map(str, missing[:20]))
                found.append(f"log {name!r}: lines that cannot be read: {shown}")
            done += len(some)
            tell(done)
    return found


class Erased(NamedTuple):
    """The numbers of erased keys and logs, and where copies may remain."""

    keys: int
    logs: int
    leftovers: str


def erase_thread(store: KeyValueStore, thread: str) -> Erased:
    """Erase everything of one thread: logs, state, summaries and originals.

    No session may have it open.
    """
    return Erased(*erase(LogsOverKeys.over(store), thread), _left(store))


def erase_tenant(store: KeyValueStore, tenant: str) -> Erased:
    """Erase everything in the tenant's namespace.

    Raises ConfigError for a name with which keys of the store itself begin.
    """
    _ = _listed(store)
    if tenant in TAKEN:
        raise shared_name(tenant, "open it with ?tenant=, and erase its threads one by one")
    own = _listed(PrefixStore(store, tenant))
    return Erased(*erase_all(own, own.keys(), own.logs()), _left(store))


def _tell_nobody(_: int) -> None:
    """The progress of a caller who asks for none."""


def _left(store: KeyValueStore) -> str:
    return store.leftovers if isinstance(store, Leaves) else ""


def _put(
    parts: Iterable[KeyBytes | Lines],
    target: LogStore,
    indexed: _Indexing,
    progress: Progress | None,
) -> Moved:
    tell = progress or _tell_nobody
    keys = lines = new_keys = new_lines = 0
    for part in parts:
        if isinstance(part, KeyBytes):
            keys += 1
            new_keys += _put_entry(part, target)
        else:
            lines += len(part.lines)
            log = target.log(part.log)  # stays open for the next part: some are read when opened
            new_lines += _put_lines(part, log, indexed)
        tell(keys + lines)
    return Moved(keys, lines, new_keys, new_lines)


def _put_entry(entry: KeyBytes, target: KeyValueStore) -> bool:
    held = _bytes_of(target, entry.key)
    if held == entry.value:
        return False
    if held is not None and entry.key.rpartition(":")[2] == SECRET:
        raise ConfigError(
            "it was used already, and has a secret of its own",
            place="the target",
            advice="copy into a store that is new",
        )
    _set_bytes(target, entry.key, entry.value)
    return True


def _put_lines(some: Lines, log: MessageLog, indexed: _Indexing) -> int:
    known = max(0, min(log.length() - some.at, len(some.lines)))
    if known:
        last = some.at + known - 1
        if log.read([last]).get(last) != replace(some.lines[known - 1], words=""):
            raise ConfigError(
                f"its log {some.log!r} holds something else",
                place="the target",
                advice="copy into a store that is new",
            )
    fresh = [indexed(some.log, line) for line in some.lines[known:]]
    if fresh and not log.append(fresh, some.at + known):
        raise ConfigError(
            f"its log {some.log!r} has another length than it should",
            place="the target",
            advice="let nobody else write while it is copied, and copy again",
        )
    return len(fresh)


def _parts(store: KeyValueStore, length: Callable[[str], int]) -> Iterator[KeyBytes | Lines]:
    whole = _listed(store)
    keys: list[str] = whole.keys()
    for key in keys:
        value = _bytes_of(store, key)
        if value is not None:
            yield KeyBytes(key, value)
    for name in whole.logs():
        log = whole.log(name)
        end = log.length()
        # start at the last line that the target has too, so that it can be compared
        for some in batches(max(0, min(length(name), end) - 1), end):
            found = log.read(some)
            yield Lines(name, some.start, [found.get(at, Line("")) for at in some])


def _read(lines: Iterable[str]) -> Iterator[KeyBytes | Lines]:
    for _, some in groupby(enumerate(map(_part_of, count(1), lines)), _run):
        first, *more = (part for _, part in some)
        if isinstance(first, Lines):
            rest = [line for part in more for line in cast("Lines", part).lines]
            first = first._replace(lines=[*first.lines, *rest])
        yield first


def _run(numbered: tuple[int, KeyBytes | Lines]) -> object:
    """What consecutive lines of a log have in common, as far as they are written at once."""
    number, part = numbered
    return number if isinstance(part, KeyBytes) else (part.log, number - part.at, part.at // LINES)


def _part_of(number: int, text: str) -> KeyBytes | Lines:
    try:
        return _read_part(json.loads(text))
    except (ValueError, OverflowError, RecursionError) as fault:
        raise InputError(
            f"not an export ({fault})",
            place=f"line {number:,}",
            advice="give what store export wrote",
        ) from fault


def _read_part(line: Any) -> KeyBytes | Lines:
    match line:
        case {"key": key, "value": str(value)}:
            return KeyBytes(_text(key), b64decode(value, validate=True))
        case {"log": log, "at": int(at), "id": name, "time": int(time) | float(time), "body": body}:
            return Lines(_text(log), at, [Line(_text(body), _text(name), float(time))])
        case _:
            raise ValueError("it is neither a key nor a line of a log")


def _indexing(source: KeyValueStore) -> _Indexing:
    """Adds the words by which lines of threads are indexed; a log does not store them.

    A line that is not a thread's or cannot be read stays as it is.
    """

    @cache
    def wire_of(key: str) -> Format | None:
        wire = State.from_json(settled(source.get(key))).format
        return named(wire) if wire else None  # a thread that is open may not have saved its own

    def indexed(name: str, line: Line) -> Line:
        found = THREAD_LOG.fullmatch(name)
        if found is None:
            return line
        space, kind, thread = found.groups()
        wire = wire_of(f"{space}{STATE}{thread}")
        return with_words("event" if kind == EVENTS else "message", line, wire)

    return indexed


def _bytes_of(store: KeyValueStore, key: str) -> bytes | None:
    """The value under the key as bytes; for an artifact, its stored form."""
    if keeps_bytes(store) or key.startswith(CONTENT):
        return settled(blobs_of(store).get_bytes(key))
    value = text_or_bytes(store, key)
    return to_bytes(value) if isinstance(value, str) else value


def _set_bytes(store: KeyValueStore, key: str, value: bytes) -> None:
    """Store the bytes in the form that the store expects."""
    if keeps_bytes(store) or key.startswith(CONTENT):
        settled(blobs_of(store).set_bytes(key, value))
        return
    try:
        text = to_text(key, value)
    except StoreError:
        if not isinstance(store, SetsBytes):
            raise
        store.set_bytes(key, value)
    else:
        store.set(key, text)


def _listed(store: KeyValueStore) -> Any:
    """The store with logs. Raises ConfigError if it cannot list its keys."""
    if not isinstance(store, ListsKeys):
        raise unusable(f"{what_is(store)} cannot list its keys", OURS)
    return LogsOverKeys.over(store)
