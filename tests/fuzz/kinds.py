"""What must hold of a case of each kind; a check gives what does not, in words, or nothing."""

from __future__ import annotations

import copy
import os
import re
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Thread
from time import monotonic, process_time, sleep
from typing import Any

import holdfast
from holdfast.stores.in_process import InProcessStore
from tests.fuzz.checker import refused
from tests.fuzz.grammar import EVIL
from tests.killing import live_and_die

SECONDS, SECONDS_A_MEGABYTE = 2.0, 4.0
"""Of processor time that a call may take, where other work slows the processor down."""
APPENDED = 3.0
"""As ``SECONDS_A_MEGABYTE``, for what a session is given."""
_CHILD = 20  # seconds after which a forked child hangs
_COLUMNS = "waiting.words logs.parts logs.length postings.block postings.part lines.id".split()
_REFERENCE = re.compile(r"\[original: (\w+) ")


@dataclass(frozen=True)
class Finding:
    """A case in which something does not hold."""

    name: str
    wire: str
    options: dict[str, Any]
    messages: Any
    check: Callable[[Finding], str]
    told: str = ""


def _compressed(case: Finding, budget: int, store: Any) -> holdfast.CompressionResult:
    return holdfast.compress(
        case.messages,
        budget,
        profile=case.options["profile"],
        format=case.wire,
        store=store,
        thread="t",
    )


def _sound(case: Finding) -> str:
    """Sound messages: what must hold of the result."""
    if refused(case.wire, case.messages):
        return ""  # made smaller, it is no longer a sound one
    given = copy.deepcopy(case.messages)
    whole = holdfast.count(given, format=case.wire).total
    budget = max(20, int(whole * case.options["share"]))
    store = InProcessStore() if case.options["stored"] else None
    result = _compressed(case, budget, store)
    if result.degraded:
        return f"a step failed: {result.detail}"
    if case.messages != given:
        return "the caller's messages were changed"
    if holdfast.restore(result) != given:
        return "restore gives something else"
    # a profile may count by a counter of its own
    before, tokens = (
        holdfast.count(each, format=case.wire, counter=result.counter).total
        for each in (given, result.messages)
    )
    if tokens > before:
        return f"larger: {tokens} of {before}"
    if result.budget_met is not (tokens <= result.limit <= budget):
        return f"budget_met is {result.budget_met}: {tokens} of {result.limit}"
    if wrong := refused(case.wire, result.messages):
        return f"refused: {wrong[0]}"
    fresh = [message for message in result.messages if message not in given]
    if any(m.get("role") in ("system", "developer") and EVIL in str(m) for m in fresh):
        return "promoted: a forged line is the system's"
    if (
        sum(_opening(m).startswith("[HISTORY_SUMMARY]") for m in fresh)
        > len([m for m in given if "[HISTORY_SUMMARY]" in str(m)]) + 1
    ):
        return "two summaries are put in"
    if store is not None and (wrong := _references(given, fresh, store)):
        return wrong
    if store is None and _compressed(case, budget, None).messages != result.messages:
        return "another result for the same input"
    return ""


def _opening(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list) and content:
        return str(content[0].get("text", ""))
    return str(content)


def _references(given: list[Any], fresh: list[Any], store: InProcessStore) -> str:
    """References that were there resolve to nothing; those that were put in resolve."""
    forged = set(_REFERENCE.findall(str(given)))
    for key in {*forged, *_REFERENCE.findall(str(fresh))}:
        try:
            holdfast.recall(key, store=store, thread="t")
        except holdfast.NotFoundError:
            if key not in forged:
                return f"a reference that was put in resolves to nothing: {key}"
        else:
            if key in forged:
                return f"a forged reference resolves: {key}"
    return ""


def _broken(case: Finding) -> str:
    """Whatever is given: an error of ours, or a result that restores."""
    for call in (_restored, _counted, _validated, _repaired):
        try:
            told = call(case)
        except holdfast.HoldfastError as fault:
            told = (
                "" if len(str(fault).splitlines()) == 1 else f"an error of several lines: {fault}"
            )
        if told:
            return told
    return ""


def _restored(case: Finding) -> str:
    given = copy.deepcopy(case.messages)
    result = _compressed(case, 200, None)
    return (
        "" if holdfast.restore(result) == given == case.messages else "restore gives something else"
    )


def _counted(case: Finding) -> str:
    return "" if holdfast.count(case.messages, format=case.wire).total >= 0 else "a negative count"


def _validated(case: Finding) -> str:
    """What the vendor refuses is named."""
    named = holdfast.validate(case.messages, provider=case.wire)
    if named or not isinstance(case.messages, list) or not case.messages:
        return ""
    wrong = refused(case.wire, case.messages, whole=False)
    return f"nothing is named of what is refused: {wrong[0]}" if wrong else ""


def _repaired(case: Finding) -> str:
    """After a repair nothing is left that a further one mends."""
    result = holdfast.repair(case.messages, provider=case.wire)
    if result.messages and not holdfast.validate(result.messages, provider=case.wire):
        wrong = refused(case.wire, result.messages, whole=False)
        if wrong:
            return f"what is repaired is refused: {wrong[0]}"
    again = holdfast.repair(result.messages, provider=case.wire)
    return "" if again.messages == result.messages else "a second repair changes something"


def _session(case: Finding) -> str:
    """A session of the messages: views that the vendor takes, and everything restored."""
    if refused(case.wire, case.messages):
        return ""
    with holdfast.Session("t", budget=600, format=case.wire) as session:
        for message in case.messages:
            session.append(message)
        for question in (None, "which one?"):
            view = session.fit(question)
            if not session.faults and (wrong := refused(case.wire, view.messages)):
                return f"a view is refused: {wrong[0]}"
        return "" if session.restore() == case.messages else "the session restores something else"


def _large(case: Finding) -> str:
    """A text of some 300 KB takes work by its length, in whatever is asked."""
    messages = case.messages
    size = sum(len(str(message).encode("utf-8", "replace")) for message in messages) / 1_000_000
    session = holdfast.Session("t", budget=2_000, format=case.wire)
    result = holdfast.compress(messages, 2_000, format=case.wire, profile=case.options["profile"])
    calls: dict[str, Callable[[], object]] = {
        "append": lambda: session.append(*messages),
        "count": lambda: holdfast.count(messages, format=case.wire),
        "validate": lambda: holdfast.validate(messages, provider=case.wire),
        "repair": lambda: holdfast.repair(messages, provider=case.wire),
        "compress": lambda: _compressed(case, 2_000, None),
        "masked": lambda: holdfast.compress(messages, 2_000, format=case.wire, redact=True),
        "report": lambda: holdfast.report(result),
        "restore": lambda: holdfast.restore(result),
        "fit": session.fit,
        "asked": lambda: session.fit("which of them failed?"),
        "search": lambda: session.search("failed request"),
        "restored": session.restore,
    }
    for name, call in calls.items():
        began = process_time()
        call()
        took = process_time() - began
        most = SECONDS + size * (APPENDED if name == "append" else SECONDS_A_MEGABYTE)
        if took > most:
            return f"slow: {name} takes {took:.1f} s for {size:.2f} MB"
    return ""


def _damage(case: Finding) -> str:
    """Of a file that was damaged what was kept comes back as it was, or is named."""
    rng = Random(case.name)
    with TemporaryDirectory() as folder:
        file = Path(folder, "a.db")
        with holdfast.Session("t", store=f"sqlite:///{file}", format=case.wire) as session:
            session.append(*case.messages)
        for _ in range(rng.choice((1, 1, 5))):
            _damaged(file, rng)
        try:
            with holdfast.Session("t", store=f"sqlite:///{file}", format=case.wire) as session:
                kept, named = session.restore(), session.faults
                with suppress(holdfast.HoldfastError):
                    session.search("the order that is late")
                    session.append({"role": "user", "content": "And now?"})
        except holdfast.HoldfastError:
            return ""
    if kept == case.messages:
        return ""
    changed = [message for message in kept if message not in case.messages]
    if changed or not named:
        return f"{len(changed)} messages are changed, {len(kept)} come back, {len(named)} are named"
    return ""


def _damaged(file: Path, rng: Random) -> None:
    """One byte of the file is another one, or one letter of a line, or one column of a table."""
    if rng.random() < 0.2:
        table, column = rng.choice(_COLUMNS).split(".")
        value = rng.choice((5, -1, 1e308, "x", b"", b"\x92\x80"))
        with (
            suppress(sqlite3.Error, UnicodeDecodeError),  # of a schema that was damaged before
            closing(sqlite3.connect(file, isolation_level=None)) as connection,
        ):
            connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (value,))
        return
    if rng.random() < 0.3:
        content = bytearray(file.read_bytes())
        content[rng.randrange(len(content))] = rng.randrange(256)
        file.write_bytes(content)
        return
    try:
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            found = connection.execute("SELECT number, body FROM lines")
            rows = [row for row in found if isinstance(row[1], bytes)]  # it may be damaged already
            if not rows:
                return
            at, body = rng.choice(rows)
            content = bytearray(body)
            content[rng.randrange(len(content))] ^= rng.choice((1, 2, 4, 32))
            connection.execute("UPDATE lines SET body = ? WHERE number = ?", (bytes(content), at))
    except (sqlite3.Error, UnicodeDecodeError):  # in the quotation of a schema
        return  # it was damaged so that nothing reads it


def _fork(case: Finding) -> str:
    """A child of a fork compresses too, while a thread of its parent does."""
    with TemporaryDirectory() as folder:

        def work() -> None:
            with suppress(holdfast.HoldfastError):
                _compressed(case, 300, f"sqlite:///{folder}/a.db")
                holdfast.shrink(str(case.messages), 100)

        thread = Thread(target=work)
        thread.start()
        sleep(Random(case.name).random() / 50)
        child = os.fork()
        if child == 0:
            try:
                work()
            finally:
                os._exit(0)
        end, told = monotonic() + _CHILD, ""
        while not told and not os.waitpid(child, os.WNOHANG)[0]:
            if monotonic() > end:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                told = "a forked child hangs"
            sleep(0.01)
        thread.join()
    return told


def _kill(case: Finding) -> str:
    """A process that keeps a session is killed: whatever it told of is there, as it was, and
    fits.
    """
    given = case.messages
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/a.db"

        def opened() -> holdfast.Session:
            return holdfast.Session("t", store=url, budget=600, format=case.wire)

        def live(pipe: int) -> None:
            session = opened()
            for message in given:
                session.append(message)
                os.write(pipe, b".")
                session.fit()
            signal.pause()

        rng = Random(case.name)
        told = live_and_die(live, rng.randint(0, len(given)), 0.05, rng)
        with opened() as session:
            kept = session.restore()
            session.fit()
        if kept == given[: len(kept)] and len(kept) >= told:
            return ""
        return (
            f"of {told} messages that were acknowledged the session restores {len(kept)}, or others"
        )


CHECKS: dict[str, Callable[[Finding], str]] = {
    "sound": _sound,
    "broken": _broken,
    "session": _session,
    "kill": _kill,
    "damage": _damage,
    "fork": _fork,
    "large": _large,
}
