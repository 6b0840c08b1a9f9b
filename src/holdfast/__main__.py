"""``python -m holdfast``.

The command line, where scripts of the environment are not on the path.
"""

from __future__ import annotations

import sys

from holdfast.cli import main

sys.exit(main())
