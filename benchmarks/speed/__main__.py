"""``python -m benchmarks.speed [--data FILE]``: every figure with its bound."""

import argparse
import sys

from benchmarks.speed import measures
from benchmarks.speed.conversation import messages
from benchmarks.speed.deduping import deduping
from benchmarks.speed.digesting import digesting
from benchmarks.speed.shrinking import shrinking


def main() -> int:
    """Measure and print; nothing is judged here, since machines differ."""
    parser = argparse.ArgumentParser(prog="benchmarks.speed", description=__doc__)
    parser.add_argument("--data", help="a JSON file of runs, each a list of chat messages")
    found, origin = messages(parser.parse_args().data)
    print(f"{origin}: {measures.described(found)}")
    rows = [measures.import_time, measures.memo_memory, shrinking, deduping, digesting]
    for row in (row for measure in rows for row in measure()):
        print("{:80} {:>34}   {}".format(*row), flush=True)
    for measure in (measures.cold_call, measures.growing_loop, measures.shared_prefix):
        for row in measure(found):
            print("{:80} {:>34}   {}".format(*row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
