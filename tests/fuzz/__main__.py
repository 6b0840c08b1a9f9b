"""``python -m tests.fuzz --seconds 60 --seed 7``: tries until the time is over, and prints the
smallest case that fails.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from contextlib import suppress
from time import monotonic, process_time

from tests.fuzz.kinds import Finding
from tests.fuzz.trying import smallest, tried


def fuzz(seed: int, seconds: float, most: int | None = None) -> tuple[Counter[str], Finding | None]:
    """How many cases of each kind were tried, and the first finding, made as small as it goes.

    An interruption only ends it sooner.
    """
    counts: Counter[str] = Counter()
    finding: Finding | None = None
    end = monotonic() + seconds
    with suppress(KeyboardInterrupt):
        while not finding and monotonic() < end and (most is None or counts.total() < most):
            finding = tried(f"{seed}-{counts.total()}", counts)
        if finding is not None:
            finding = smallest(finding, monotonic() + seconds)
    return counts, finding


def main() -> int:
    """Exit 1 where something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))
    given = parser.parse_args()
    began = process_time()
    counts, finding = fuzz(given.seed, given.seconds)
    told = ", ".join(f"{number:,} {kind}" for kind, number in sorted(counts.items()))
    print(
        f"seed {given.seed}: {counts.total():,} cases ({told}), "
        f"{process_time() - began:,.0f} s of processor time"
    )
    if finding is None:
        return 0
    print(f"found in case {finding.name}: {finding.told}")
    print(
        json.dumps({"wire": finding.wire, "options": finding.options, "messages": finding.messages})
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
