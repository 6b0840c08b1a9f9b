"""The entry point of the command line, for ``holdfast`` and ``python -m holdfast``."""

import sys


def main() -> int:
    """Run the command line and return its exit code, even if it is interrupted while it loads."""
    try:
        from holdfast.cli import main as run
        from holdfast.cli.files import stand_in

        stand_in()
        return run()
    except (KeyboardInterrupt, RuntimeError) as fault:
        if not isinstance(fault.__cause__ or fault, KeyboardInterrupt):
            raise
        return 130  # ``cli.INTERRUPTED``, which may not be imported yet


if __name__ == "__main__":
    sys.exit(main())
