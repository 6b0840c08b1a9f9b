"""Statements planted into recorded runs: how many still stand, and say what they said."""

from __future__ import annotations

from pathlib import Path

from .bench import said_cases
from .figures import Figures, average, kept_laws, number, parallel, room, table, through

SHARES = (0.3, 0.1)
HEADS = (
    *("kind", "cases", "said", "plain", "fits", "pairs", "exact"),
    *("task", "newest", "used", "least", "<.85"),
)


def main(folder: Path) -> bool:
    """Print the share of statements that stand, per kind and together; whether the laws held."""
    return measured(folder, "compress")


def measured(folder: Path, door: str) -> bool:
    """The same through a door."""
    cases = said_cases(folder)
    rows = list(parallel(through, [(folder, door, case) for case in cases]))
    plain = list(parallel(through, [(folder, "newest", case) for case in cases]))
    for share in SHARES:
        held = [each for each in zip(cases, rows, plain, strict=True) if each[0]["share"] == share]
        lines: list[list[str]] = []
        for kind in [*sorted({case["kind"] for case in cases}), "together"]:
            here = [each for each in held if kind in (each[0]["kind"], "together")]
            lines.append(_line(kind, [row for _, row, _ in here], [row for *_, row in here]))
        title = f"Planted statements through {door}, {share:.0%}"
        table(f"{title} (plain: the newest that fit)", HEADS, lines)
    return kept_laws(rows)


def _line(name: str, rows: list[Figures], plain: list[Figures]) -> list[str]:
    means = [number(average(rows, law)) for law in ("fits", "pairs", "restored", "task", "newest")]
    said, beside = number(average(rows, "recall")), number(average(plain, "recall"))
    return [name, str(len(rows)), said, beside, *means, *room(rows)]
