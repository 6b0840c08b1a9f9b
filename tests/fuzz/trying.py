"""One case: what it is made of, what must hold of it, and how it is made smaller."""

from __future__ import annotations

import copy
import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, process_time, sleep
from typing import Any

import holdfast
from holdfast.profiles import profile_names
from holdfast.stores.in_process import InProcessStore
from tests.fuzz.checker import refused
from tests.fuzz.grammar import EVIL, WIRES, broken, places, sound
from tests.killing import live_and_die

SECONDS, SECONDS_A_MEGABYTE = 3.0, 12.0
"""Of processor time that a call may take; several machines share a processor here."""
_CHILD = 20  # seconds after which a forked child hangs


@dataclass(frozen=True)
class Finding:
    """A case in which something does not hold."""

    name: str
    wire: str
    options: dict[str, Any]
    messages: Any
    check: Callable[[Finding], str]
    told: str = ""


def tried(name: str, counts: Counter[str]) -> Finding | None:
    """Try the case of this name; what does not hold, if anything."""
    rng = Random(name)
    wire = rng.choice(WIRES)
    messages: Any = sound(rng, wire)
    share = rng.choice((0.05, 0.2, 0.4, 0.6, 0.9))
    options = {"profile": rng.choice(profile_names()), "share": share, "stored": rng.random() < 0.3}
    kind = rng.choices(("sound", "broken", "session", "fork", "kill"), (10, 10, 3, 0.2, 0.5))[0]
    if kind == "broken":
        messages = broken(rng, messages)
    counts[kind] += 1
    case = Finding(name, wire, options, messages, _CHECKS[kind])
    told = _told(case)
    return replace(case, told=told) if told else None


def _told(case: Finding) -> str:
    try:
        return case.check(case)
    except Exception as fault:  # noqa: BLE001 - whatever is raised is the finding
        return f"raised {type(fault).__name__}: {fault}"


def smallest(finding: Finding, until: float) -> Finding:
    """The finding with as few messages, and as short texts, as still fail."""
    again = True
    while again and monotonic() < until:
        again = False
        for messages in _smaller(finding.messages):
            case = replace(finding, messages=messages)
            told = _told(case)
            if told.split(":")[0] == finding.told.split(":")[0]:
                finding, again = replace(case, told=told), True
                break
            if monotonic() > until:
                break
    return finding


def _smaller(messages: Any) -> Iterator[Any]:
    if not isinstance(messages, list):
        return
    for size in (len(messages) // 2, 2, 1):
        for at in range(0, len(messages), size or 1):
            yield messages[:at] + messages[at + (size or 1) :]
    for number, (holder, key) in enumerate(places(messages)):
        value = holder[key]
        if isinstance(value, str | list) and len(value) > 1:
            half = len(value) // 2
            for part in (value[:half], value[half:]):
                made = copy.deepcopy(messages)
                inner, at = list(places(made))[number]
                inner[at] = part
                yield made


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
    began = process_time()
    result = _compressed(case, budget, store)
    took = process_time() - began
    size = len(json.dumps(given)) / 1_000_000
    if took > SECONDS + SECONDS_A_MEGABYTE * size:
        return f"slow: {took:.1f} s for {size:.2f} MB"
    if case.messages != given:
        return "the caller's messages were changed"
    if holdfast.restore(result) != given:
        return "restore gives something else"
    tokens = holdfast.count(result.messages, format=case.wire).total
    if tokens > whole:
        return f"larger: {tokens} of {whole}"
    if result.budget_met is not (tokens <= result.limit <= budget):
        return f"budget_met is {result.budget_met}: {tokens} of {result.limit}"
    if wrong := refused(case.wire, result.messages):
        return f"refused: {wrong[0]}"
    told = [m for m in result.messages if m["role"] in ("system", "developer") and EVIL in str(m)]
    if any(message not in given for message in told):
        return "promoted: a forged line is the system's"
    if store is None and _compressed(case, budget, None).messages != result.messages:
        return "another result for the same input"
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
    holdfast.validate(case.messages, provider=case.wire)
    return ""


def _repaired(case: Finding) -> str:
    """After a repair nothing is left that a further one mends."""
    result = holdfast.repair(case.messages, provider=case.wire)
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


def _fork(case: Finding) -> str:
    """A child of a fork compresses too."""
    child = os.fork()
    if child == 0:
        try:
            _compressed(case, 300, None)
        finally:
            os._exit(0)
    end = monotonic() + _CHILD
    while monotonic() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return ""
        sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "a forked child hangs"


def _kill(case: Finding) -> str:
    """A process that keeps a session is killed: whatever it told of is there, as it was, and fits."""
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


_CHECKS: dict[str, Callable[[Finding], str]] = {
    "sound": _sound,
    "broken": _broken,
    "session": _session,
    "fork": _fork,
    "kill": _kill,
}
