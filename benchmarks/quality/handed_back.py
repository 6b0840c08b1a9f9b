"""Runs and planted statements of a caller that keeps only what ``compress`` returns, in a loop."""

from __future__ import annotations

from pathlib import Path

from . import runs, said


def main(folder: Path) -> bool:
    """Print what is kept of both; whether the laws held."""
    held = runs.measured(folder, "handed back", "Recorded runs handed back to compress")
    return said.measured(folder, "handed back") and held
