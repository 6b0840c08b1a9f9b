from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORKS = 8

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")

LEAVES = """
import sys
from holdfast import Session
session = Session("t", store=sys.argv[1], budget=900, background=True)
texts = [f"Order {n} is late. " + "It waits. " * 300 for n in range(200)]
session.append(*[{"role": "user", "content": text} for text in texts])
"""


@pytest.mark.parametrize("kind", ["background", "shared", "memory", "compress", "first"])
def test_a_child_goes_on_with_what_its_parent_had_under_way(tmp_path, kind):
    command = [
        sys.executable,
        "-Wignore:This process:DeprecationWarning",  # of Python 3.12, on each fork beside threads
        "-m",
        "tests.session.scripts.forks",
        kind,
        tmp_path / "a.db",
        str(FORKS),
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=1200
    )
    assert (done.stdout, done.stderr, done.returncode) == ("0 0\n", "", 0)


def test_a_process_ends_while_its_session_is_at_work_in_the_background(tmp_path):
    for life in range(4):
        command = [sys.executable, "-c", LEAVES, f"sqlite:///{tmp_path / str(life)}.db"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
