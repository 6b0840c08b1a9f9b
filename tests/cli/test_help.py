"""``--help`` shows commands as they are typed."""

from __future__ import annotations

import pytest

from holdfast.cli import COMMANDS


@pytest.mark.parametrize("command", COMMANDS.table)
def test_examples_stand_on_lines_of_their_own(run, command):
    ran = run(command, "--help")
    assert ran.code == 0
    assert "\\b" not in ran.out
    examples = [line for line in ran.out.splitlines() if line.startswith("  holdfast ") or "| holdfast " in line]
    assert all(f"holdfast {command} " in line or "restore" in line for line in examples)
    assert examples
