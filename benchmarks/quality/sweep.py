"""Budgets from the smallest to the whole: nothing may be lost or unused where a budget grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from .bench import recorded, scorer
from .doors import DOORS
from .figures import FULL, parallel, table

KINDS = ("claude_code", "codex", "specstory", "openhands", "aider_hist", "multiagent", "retail")
EACH = 2
STEPS = 40
LEAST = 150
"""Tokens beside what cannot be shortened in which every view fits."""

DROP = 0.02
MARK = "[HISTORY_SUMMARY"
HEADS = (
    *("conversation", "budgets", "over", "unpaired", "not exact"),
    *("room unused", "kept falls", "task gone", "notes gone"),
)


@dataclass(frozen=True)
class Cliffs:
    """Of so many budgets: how often something broke, was left unused, fell or vanished."""

    budgets: int = 0
    over: int = 0
    unpaired: int = 0
    lost: int = 0
    unused: int = 0
    falls: int = 0
    task: int = 0
    notes: int = 0

    def __add__(self, other: Cliffs) -> Cliffs:
        names = [field.name for field in fields(self)]
        return Cliffs(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def cells(self) -> list[str]:
        """The counts as a line of the table."""
        return [str(getattr(self, field.name)) for field in fields(self)]


@dataclass(frozen=True)
class Seen:
    """One fit: how full it is, and what is there."""

    budget: int
    tokens: int
    whole: bool
    dropped: bool
    """Whether messages are gone: without one, there is nothing for notes to tell."""

    paired: bool
    exact: bool
    kept: float
    task: bool
    noted: bool


def budgets(folder: Path, messages: Sequence[Any]) -> list[int]:
    """Forty budgets at equal ratios: from what cannot be shortened and a little more, to the whole.

    What cannot be shortened: the system's messages, and the frame of the newest exchange.
    """
    count = scorer(folder).tokens
    head = count([message for message in messages if message["role"] == "system"])
    start = len(messages) - 1
    while start and messages[start]["role"] == "tool":
        start -= 1
    least = LEAST + count([bare(message) for message in messages[start:]])
    rest = max(least, count(messages) - head)
    return [head + round(least * (rest / least) ** (step / (STEPS - 1))) for step in range(STEPS)]


def bare(message: dict[str, Any]) -> dict[str, Any]:
    """The message without its words: its calls by name, their arguments empty."""
    calls = [
        {**call, "function": {"name": call["function"]["name"], "arguments": "{}"}}
        for call in message.get("tool_calls") or []
    ]
    return {**message, "content": "", "tool_calls": calls}


def seen(job: tuple[Path, str, dict[str, Any], int]) -> Seen:
    """A conversation through a door at one budget."""
    folder, door, case, budget = job
    score = scorer(folder)
    fitted = DOORS[door](folder, case["messages"], budget)
    said = [message for message in fitted.messages if message["role"] != "system"]
    task = next(m for m in case["messages"] if m["role"] == "user")
    needs = case["needs"]
    return Seen(
        budget=budget,
        tokens=score.tokens(fitted.messages),
        whole=fitted.messages == case["messages"],
        dropped=len(fitted.messages) < len(case["messages"]),
        paired=score.pairs_valid(fitted.messages),
        exact=fitted.exact,
        kept=sum(score.associated(case, need, fitted.messages) for need in needs) / len(needs),
        task=any(score.told_whole(score.text_of(task), score.text_of(m)) for m in said),
        noted=any(score.text_of(m).startswith(MARK) for m in fitted.messages),
    )


def judged(row: Sequence[Seen]) -> Cliffs:
    """The cliffs in a conversation's fits, from the smallest budget to the largest."""
    noted = [at for at, each in enumerate(row) if each.noted]
    first = noted[0] if noted else len(row)
    return Cliffs(
        budgets=len(row),
        over=sum(each.tokens > each.budget for each in row),
        unpaired=sum(not each.paired for each in row),
        lost=sum(not each.exact for each in row),
        unused=sum(not each.whole and each.tokens < FULL * each.budget for each in row),
        falls=sum(after.kept < before.kept - DROP for before, after in pairwise(row)),
        task=sum(not each.task and each.budget - each.tokens >= LEAST for each in row),
        notes=sum(not each.noted and each.dropped for each in row[first:]),
    )


def chosen(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """Of each of seven kinds the two conversations of which the most comes to be needed."""
    found: list[tuple[str, dict[str, Any]]] = []
    for kind in KINDS:
        cuts = [(run, max(run["cuts"], key=needed)) for run in recorded(folder, kind)]
        most = sorted(cuts, key=lambda pair: -needed(pair[1]))[:EACH]
        for number, (run, cut) in enumerate(most):
            case = {"messages": run["messages"][: cut["at"]], "needs": cut["needs"]}
            found.append((f"{kind} {number + 1}", case))
    return found


def needed(cut: dict[str, Any]) -> int:
    """How much is needed after a cut that stands before it."""
    return len(cut["needs"])


def main(folder: Path) -> bool:
    """Print the cliffs of each door, per conversation and together; whether the laws held."""
    lawful = True
    cases = chosen(folder)
    for door, title in (("compress", "compress"), ("session", "Session.fit, once")):
        swept = [(case, each) for _, case in cases for each in budgets(folder, case["messages"])]
        jobs = [(folder, door, case, budget) for case, budget in swept]
        rows = list(parallel(seen, jobs, chunk=STEPS // 2))
        found = [judged(rows[at : at + STEPS]) for at in range(0, len(rows), STEPS)]
        all_of_them = sum(found, Cliffs())
        names = [name for name, _ in cases]
        lines = [[name, *each.cells()] for name, each in zip(names, found, strict=True)]
        lines.append(["together", *all_of_them.cells()])
        table(f"{STEPS} budgets through {title}", HEADS, lines)
        share = all_of_them.falls / max(1, all_of_them.budgets - len(cases))
        print(f"kept falls by more than {DROP} in {share:.1%} of the steps to a larger budget")
        lawful = lawful and not (all_of_them.over or all_of_them.unpaired or all_of_them.lost)
    return lawful
