"""One case: what it is made of, and how it is made smaller where something does not hold."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from time import monotonic
from typing import Any

from holdfast.profiles import profile_names
from tests.fuzz.grammar import WIRES, broken, large, places, sound
from tests.fuzz.kinds import CHECKS, Finding

_OFTEN = {
    "sound": 10,
    "broken": 10,
    "session": 3,
    "kill": 0.5,
    "damage": 0.5,
    "fork": 0.2,
    "large": 0.2,
}
"""How often each kind is tried, one against the other."""


def tried(name: str, counts: Counter[str]) -> Finding | None:
    """Try the case of this name; what does not hold, if anything."""
    rng = Random(name)
    wire = rng.choice(WIRES)
    share = rng.choice((0.05, 0.2, 0.4, 0.6, 0.9))
    options = {"profile": rng.choice(profile_names()), "share": share, "stored": rng.random() < 0.3}
    kind = rng.choices(tuple(_OFTEN), tuple(_OFTEN.values()))[0]
    messages: Any = large(rng, wire) if kind == "large" else sound(rng, wire)
    if kind == "broken":
        messages = broken(rng, messages)
    counts[kind] += 1
    case = Finding(name, wire, options, messages, CHECKS[kind])
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
    half = max(len(messages) // 2, 1)
    for size, step in ((half, half), (4, 1), (3, 1), (2, 1), (1, 1)):  # an exchange goes as a whole
        for at in range(0, len(messages), step):
            yield messages[:at] + messages[at + size :]
    for number, (holder, key) in enumerate(places(messages)):
        value = holder[key]
        if isinstance(value, str | list) and len(value) > 1:
            half = len(value) // 2
            for part in (value[:half], value[half:]):
                made = copy.deepcopy(messages)
                inner, at = list(places(made))[number]
                inner[at] = part
                yield made
