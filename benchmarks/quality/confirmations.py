"""The airline runs at their delicate moments: a yes, a newest result, a call that failed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .bench import airline, scorer, share_of
from .doors import DOORS
from .figures import number, parallel, table

SHARES = (0.15, 0.3)
MARK = "[HISTORY_SUMMARY"
STEP = "\n- "
YES = re.compile(
    r"(?i)\W*(?:yes|yeah|yep|correct|confirmed|i confirm|go ahead|please (?:proceed|go ahead)"
    r"|sounds good|that works)\b"
)
SHORT = 30
"""Words of a user's message that is no more than a yes."""

FAILED = "Error"
"""How the result of a failed call begins in these runs."""

SAYS_SO = re.compile(r"(?i)fail|error|refused|rejected|denied|invalid|cannot|not (found|enough)")
ASIDE = re.compile(r"\[[^\[\]]*\]")
"""What stands in a text in the place of something: a reference, a count of what is left out."""
PROMISED = 150
"""Tokens beside the system's messages from which on a budget is promised to be met."""

LEAST = 3
"""Characters of an argument that tell one call from another."""

HEADS = (
    *("door", "share", "yes", "verbatim", "results", "hardly", "reference"),
    *("failures", "said so", "fits", "pairs", "exact"),
)


@dataclass(frozen=True)
class Moment:
    """A run cut behind one of its messages; ``kind`` says what is looked at there."""

    kind: str
    messages: list[Any]


@dataclass(frozen=True)
class Seen:
    """What stood in the view of a moment: how many of how many."""

    kind: str
    asked: int
    held: int
    bare: int
    fits: bool
    paired: bool
    exact: bool


def moments(runs: Sequence[list[Any]]) -> Iterator[Moment]:
    """Behind each short yes, behind each result, and the end of each run in which a call failed."""
    for run in runs:
        for at, message in enumerate(run):
            text = message.get("content") or ""
            before = run[at - 1]
            short = len(text.split()) <= SHORT and YES.match(text)
            proposed = before["role"] == "assistant" and before.get("content")
            if message["role"] == "user" and short and proposed:
                yield Moment("yes", run[: at + 1])
            if message["role"] == "tool":
                yield Moment("result", run[: at + 1])
        if any(str(m.get("content")).startswith(FAILED) for m in run if m["role"] == "tool"):
            yield Moment("failed", run)


def seen(job: tuple[Path, str, float, Moment]) -> Seen:
    """A moment through a door."""
    folder, door, share, moment = job
    score = scorer(folder)
    budget = share_of(folder, moment.messages, share)
    fitted = DOORS[door](folder, moment.messages, budget)
    view = fitted.messages
    bare = 0
    if moment.kind == "yes":
        proposal = score.text_of(moment.messages[-2])
        asked, held = 1, int(any(proposal in score.text_of(message) for message in view))
    elif moment.kind == "result":
        text = score.text_of(moment.messages[-1])
        told = not text or any(score.told_whole(text, score.text_of(m)) for m in view[-2:])
        asked, held = 1, int(not told)
        bare = int(bool(text) and is_reference(score, text, score.text_of(view[-1])))
    else:
        asked, held = failures(score, moment.messages, view)
    given = score.tokens([m for m in moment.messages if m["role"] == "system"])
    fits = score.tokens(view) <= budget or budget < given + PROMISED
    return Seen(moment.kind, asked, held, bare, fits, score.pairs_valid(view), fitted.exact)


def is_reference(score: Any, text: str, shown: str) -> bool:
    """Whether nothing of a result is shown but what says that it was left out."""
    return shown != text and not set(score.words(ASIDE.sub(" ", shown))) & set(score.words(text))


def failures(score: Any, messages: Sequence[Any], view: Sequence[Any]) -> tuple[int, int]:
    """How many failed calls notes tell, and how many as failed: before the notes' next step."""
    notes = [score.text_of(m) for m in view if score.text_of(m).startswith(MARK)]
    steps = [step for note in notes for step in note.split(STEP)]
    failed, done = calls(messages)
    asked = held = 0
    for name, values in failed:
        for step in steps:
            line = step.partition("\n")[0]
            here = {value for value in values if value in line}
            others = any(name == other and here <= given for other, given in done)
            if name in line and here and not others:
                asked += 1
                held += bool(SAYS_SO.search(step))
                break
    return asked, held


def calls(messages: Sequence[Any]) -> tuple[list[tuple[str, set[str]]], list[tuple[str, set[str]]]]:
    """The calls that failed and those that did not: the name, and the values of the arguments."""
    failed: list[tuple[str, set[str]]] = []
    done: list[tuple[str, set[str]]] = []
    waiting: dict[str, tuple[str, set[str]]] = {}
    for message in messages:
        for call in message.get("tool_calls") or []:
            function = call["function"]
            values = set(scalars(json.loads(function["arguments"])))
            waiting[call["id"]] = (function["name"], values)
        if (
            message["role"] == "tool"
        ):  # some runs give an id to more than one call: the last one is meant
            result = str(message.get("content"))
            (failed if result.startswith(FAILED) else done).append(
                waiting.pop(message["tool_call_id"])
            )
    return failed, [*done, *waiting.values()]


def scalars(value: object) -> Iterator[str]:
    """Every text or number within the arguments that is long enough to tell them from others."""
    if isinstance(value, dict):
        for each in value.values():
            yield from scalars(each)
    elif isinstance(value, list):
        for each in value:
            yield from scalars(each)
    elif len(str(value)) >= LEAST:
        yield str(value)


def main(folder: Path) -> bool:
    """Print each door at each share; whether the laws held."""
    every = list(moments(airline(folder)))
    lines: list[list[str]] = []
    lawful = True
    for door in ("compress", "session"):
        for share in SHARES:
            found = list(parallel(seen, [(folder, door, share, moment) for moment in every]))
            yes, results, failed = (sums(found, kind) for kind in ("yes", "result", "failed"))
            counts = [*yes, *results, sum(each.bare for each in found), *failed]
            names = ("fits", "paired", "exact")
            laws = [sum(getattr(each, law) for each in found) / len(found) for law in names]
            lines.append([door, f"{share:.0%}", *map(str, counts), *map(number, laws)])
            lawful = lawful and all(law == 1 for law in laws)
    table("Airline runs: a yes, newest results, failed calls", HEADS, lines)
    print(
        "verbatim: the proposal that a yes answers; hardly: results of which under a fifth of the\n"
        "words are shown; reference: none of them; failures: failed calls that notes tell;\n"
        "fits: of the budgets that leave 150 tokens beside the system's messages"
    )
    return lawful


def sums(found: Sequence[Seen], kind: str) -> tuple[int, int]:
    """Of the moments of a kind: how much there was to see, and how much was seen."""
    here = [each for each in found if each.kind == kind]
    return sum(each.asked for each in here), sum(each.held for each in here)
