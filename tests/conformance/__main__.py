"""``python -m tests.conformance [FILE]``: 0 only if no case failed."""

import sys

from tests.conformance.harness import CASES, main

sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else CASES))
