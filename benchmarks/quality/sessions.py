"""The recorded runs through a session: fitted once at the end, and before every reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import holdfast

from .bench import SINGLE, kinds, recorded, scorer, share_of
from .doors import compress
from .figures import number, parallel, table
from .runs import measured

LOOPS = 20
SHARE = 0.3
TAIL = 2
"""Messages at the end of a view that need not stand in the next: the newest input and its frame."""

HEADS = (
    *("run", "views", "compacted", "between", "alike", "tokens", "cuts"),
    *("kept", "compress", "fits", "pairs", "exact"),
)


@dataclass(frozen=True)
class Loop:
    """A run that was fitted before every reply: counts of fits, and tokens of views."""

    name: str
    fits: int
    between: int
    """Fits that follow another and compacted nothing."""

    alike: int
    """Of these, how many begin like the one before: all but its tail."""

    held: int
    """Tokens of the beginnings that these share with the one before."""

    sent: int
    """Tokens of these."""

    compacted: int
    cuts: int
    """Moments at which it is known what comes to be used."""

    kept: float
    """How much of it is in the views at these moments: the sum of their shares."""

    compressed: float
    """The same of ``compress`` with the same budget, of the same messages."""

    fitting: bool
    paired: bool
    exact: bool

    def cells(self) -> list[str]:
        """Its line of the table."""
        counts = [self.fits, self.compacted, self.between]
        alike, held = self.alike / max(1, self.between), self.held / max(1, self.sent)
        laws = [number(float(law)) for law in (self.fitting, self.paired, self.exact)]
        means = [number(each / max(1, self.cuts)) for each in (self.kept, self.compressed)]
        return [
            *(self.name, *map(str, counts), number(alike), number(held)),
            *(str(self.cuts), *means, *laws),
        ]


def chosen(folder: Path) -> list[tuple[Path, str, dict[str, Any]]]:
    """Twenty runs: the first of each agents' kind, then the second of each, and so on."""
    agents = [kind for kind in kinds(folder) if kind not in SINGLE]
    runs = {kind: recorded(folder, kind) for kind in agents}
    order = [
        (folder, f"{kind} {number + 1}", runs[kind][number])
        for number in range(max(map(len, runs.values())))
        for kind in agents
        if number < len(runs[kind])
    ]
    return order[:LOOPS]


def loop(job: tuple[Path, str, dict[str, Any]]) -> Loop:
    """A run through one session, fitted before every reply and where it is known what is used."""
    folder, name, run = job
    score, messages = scorer(folder), run["messages"]
    budget = share_of(folder, messages, SHARE)
    views: list[tuple[str, list[Any]]] = []
    cuts = {cut["at"]: cut["needs"] for cut in run["cuts"]}
    held: list[float] = []
    compressed: list[float] = []
    with holdfast.Session(name, budget=budget, format="openai") as session:
        for at, message in enumerate([*messages, None]):
            if at and (at in cuts or (message and message["role"] == "assistant")):
                view = session.fit()
                views.append((view.reason, list(view.messages)))
            if at in cuts:
                case = {"messages": messages[:at], "needs": cuts[at]}
                held.append(kept(score, case, views[-1][1]))
                fitted = compress(folder, case["messages"], budget)
                compressed.append(kept(score, case, fitted.messages))
            if message:
                session.append(message)
        exact = session.restore() == messages
    between = [(old, new) for (_, old), (why, new) in pairwise(views) if why != "compacted"]
    shared = [same(old, new) for old, new in between]
    pairs = list(zip(shared, between, strict=True))
    return Loop(
        name=name,
        fits=len(views),
        between=len(between),
        alike=sum(length >= len(old) - TAIL for length, (old, _) in pairs),
        held=sum(score.tokens(new[:length]) for length, (_, new) in pairs),
        sent=sum(score.tokens(new) for _, new in between),
        compacted=sum(why == "compacted" for why, _ in views),
        cuts=len(cuts),
        kept=sum(held),
        compressed=sum(compressed),
        fitting=all(score.tokens(view) <= budget for _, view in views),
        paired=all(score.pairs_valid(view) for _, view in views),
        exact=exact,
    )


def kept(score: Any, case: dict[str, Any], view: Sequence[Any]) -> float:
    """The share of what comes to be used that a view still associates."""
    needs = case["needs"]
    return sum(score.associated(case, need, view) for need in needs) / len(needs)


def same(old: Sequence[Any], new: Sequence[Any]) -> int:
    """With how many messages two views begin alike."""
    alike = takewhile(lambda two: two[0] == two[1], zip(old, new, strict=False))
    return sum(1 for _ in alike)


def together(loops: Sequence[Loop]) -> Loop:
    """All of them as one."""
    counts = (
        *("fits", "between", "alike", "held", "sent", "compacted"),
        *("cuts", "kept", "compressed"),
    )
    laws = ("fitting", "paired", "exact")
    sums = {name: sum(getattr(each, name) for each in loops) for name in counts}
    held = {name: all(getattr(each, name) for each in loops) for name in laws}
    return Loop("together", **sums, **held)


def main(folder: Path) -> bool:
    """Print both; whether the laws held."""
    lawful = measured(folder, "session", "Recorded runs through Session.fit, fitted once")
    loops = list(parallel(loop, chosen(folder)))
    everything = together(loops)
    title = f"{len(loops)} runs through Session.fit before every reply, {SHARE:.0%} of the run"
    table(title, HEADS, [each.cells() for each in [*loops, everything]])
    return lawful and everything.fitting and everything.paired and everything.exact
