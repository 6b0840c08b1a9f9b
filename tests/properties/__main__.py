"""``python -m tests.properties --shard 7`` runs 20,000 examples; ``--shards 50`` runs fifty of
them on all cores.

A shard that is done leaves a file in ``build/properties``, so that a run that was stopped goes on
where it was.
"""

import argparse
import json
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.properties.laws import account, check, draw, idle

SIZE = 20_000
DONE = Path("build/properties")


def run(shard: int) -> dict[str, int]:
    """One shard; its account is kept in a file of its own."""
    path = DONE / f"shard-{shard:04}.json"
    if path.exists():
        return json.loads(path.read_text())
    seen: Counter[str] = Counter()
    for number in range(shard * SIZE, (shard + 1) * SIZE):
        try:
            seen += check(draw(number))
        except AssertionError as broken:
            seen["broken"] += 1
            print(broken, file=sys.stderr, flush=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}")
    scratch.write_text(json.dumps(seen))
    scratch.replace(path)
    return dict(seen)


def main() -> int:
    """Run what was asked for, and print the account; 1 if a strategy was idle."""
    parser = argparse.ArgumentParser(prog="tests.properties", description=__doc__)
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--shard", type=int, help="this shard alone")
    chosen.add_argument("--shards", type=int, help="shards 0 to N - 1")
    asked = parser.parse_args()
    shards = [asked.shard] if asked.shard is not None else list(range(asked.shards))
    seen: Counter[str] = Counter()
    with ProcessPoolExecutor() as pool:
        for done, found in enumerate(pool.map(run, shards), 1):
            seen += Counter(found)
            print(f"{done * SIZE:,} examples, {seen['broken']:,} of them break a law", flush=True)
    print(*account(seen), sep="\n")
    print(
        f"{100 * seen['over'] / (len(shards) * SIZE):.0f} % of the conversations were "
        f"over their budget"
    )
    return 1 if seen["broken"] or idle(seen) or seen["changed faulty"] else 0


if __name__ == "__main__":
    sys.exit(main())
