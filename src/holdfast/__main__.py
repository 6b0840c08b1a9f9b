"""The command line from its first moment on, as ``holdfast`` and as ``python -m holdfast``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return its exit code, also if interrupted while it is loading."""
    try:
        from holdfast.cli import main as run
        from holdfast.cli.streams import stand_in

        stand_in()
        return run()
    except KeyboardInterrupt:
        return 130  # as ``cli.INTERRUPTED``, which may not be there yet


if __name__ == "__main__":
    sys.exit(main())
