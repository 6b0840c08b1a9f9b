"""Recorded runs of agents and tools, cut and fitted: how much of what comes to be used is there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .bench import SINGLE, kinds, run_cases
from .figures import Figures, average, kept_laws, number, parallel, room, table, through

SHARES = (0.3, 0.15)
HEADS = (
    *("kind", "cases", "assoc", "plain", "recall", "fits", "pairs", "exact"),
    *("task", "newest", "used", "least", "<.85"),
)
MEANS = ("recall", "fits", "pairs", "restored", "task", "newest")


def line(name: str, rows: Sequence[Figures], plain: Sequence[Figures]) -> list[str]:
    """The figures of some cases, beside what the newest messages alone would keep of them."""
    means = [number(average(rows, figure)) for figure in MEANS]
    assoc, beside = number(average(rows, "assoc")), number(average(plain, "assoc"))
    return [name, str(len(rows)), assoc, beside, *means, *room(rows)]


def measured(folder: Path, door: str, title: str) -> bool:
    """Print the figures of a door per kind and together; whether the laws held."""
    cases = list(run_cases(folder, kinds(folder)))
    rows = list(parallel(through, [(folder, door, case) for case in cases]))
    plain = list(parallel(through, [(folder, "newest", case) for case in cases]))
    pairs = list(zip(cases, rows, plain, strict=True))
    for share in SHARES:
        lines: list[list[str]] = []
        for kind in kinds(folder):
            lines.append(_line(kind, pairs, share, (kind,)))
            if kind == last_agent(folder):
                agents = [each for each in kinds(folder) if each not in SINGLE]
                lines.append(_line("agents together", pairs, share, agents))
        lines.append(_line("single outputs", pairs, share, SINGLE))
        table(f"{title}, {share:.0%} (plain: assoc of the newest that fit)", HEADS, lines)
    return kept_laws(rows)


def last_agent(folder: Path) -> str:
    """The last of the agents' kinds, in the order in which they are told."""
    return [kind for kind in kinds(folder) if kind not in SINGLE][-1]


def _line(
    name: str,
    pairs: Sequence[tuple[dict[str, Any], Figures, Figures]],
    share: float,
    chosen: Sequence[str],
) -> list[str]:
    held = [each for each in pairs if each[0]["share"] == share and each[0]["task"] in chosen]
    return line(name, [row for _, row, _ in held], [plain for _, _, plain in held])


def main(folder: Path) -> bool:
    """The runs through ``compress``."""
    return measured(folder, "compress", "Recorded runs through compress")
