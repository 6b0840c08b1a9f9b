"""``--help`` shows commands as they are typed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from holdfast.cli import COMMANDS
from holdfast.cli.session import command as session
from holdfast.profiles import preset_names, profile_names


@pytest.mark.parametrize("command", COMMANDS.table)
def test_examples_stand_on_lines_of_their_own(run, command):
    ran = run(command, "--help")
    assert ran.code == 0
    assert "\\b" not in ran.out
    examples = [
        line
        for line in ran.out.splitlines()
        if line.startswith("  holdfast ") or "| holdfast " in line
    ]
    assert all(f"holdfast {command} " in line or "restore" in line for line in examples)
    assert examples


@pytest.mark.parametrize("command", session.commands)
def test_so_do_those_of_a_session_and_every_option_has_help(run, command):
    ran = run("session", command, "--help")
    assert ran.code == 0
    assert "\\b" not in ran.out
    assert any(f"holdfast session {command} " in line for line in ran.out.splitlines())
    assert all(p.help for p in session.commands[command].params if p.param_type_name == "option")


def test_help_of_compress_names_every_profile(run):
    told = "".join(run("compress", "--help").out.split())
    assert [each for each in [*profile_names(), *preset_names()] if each not in told] == []


def test_help_names_every_command_and_loads_none():
    script = "import sys\nfrom holdfast.cli import main\nmain(['--help'])\nprint(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    told, _, loaded = ran.stdout.rpartition("\n" + "sys ")
    assert all(f"\n  {command} " in told for command in COMMANDS.table)
    assert not {"holdfast.cli.conversation", "holdfast.engine", "holdfast.reports", "rich"} & set(
        loaded.split()
    )


@pytest.mark.parametrize("arguments", ["--help", "- --budget 900"])
def test_compress_loads_nothing_of_sessions_and_stores(arguments):
    script = (
        "import contextlib, sys\nfrom holdfast.cli import main\n"
        "with contextlib.suppress(SystemExit):\n    main(sys.argv[1:])\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", script, "compress", *arguments.split()]
    given = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
    ran = subprocess.run(command, input="[]", capture_output=True, text=True, check=True, env=given)
    loaded = ran.stderr.split()
    assert "holdfast.cli.conversation" in loaded
    needless = ("holdfast.session", "holdfast.stores.sqlite")
    assert not [name for name in loaded if name.startswith(needless)]


@pytest.mark.parametrize("group", ["session", "store", "config"])
def test_a_group_without_a_command_shows_its_help_and_names_its_commands(run, group):
    ran = run(group)
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: holdfast {group} ")
    assert "known are " in run(group, "nothing").err
