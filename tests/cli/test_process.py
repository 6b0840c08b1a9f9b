"""The command as a process: pipes, colour, and files between processes."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "holdfast"]


def test_a_conversation_goes_through_pipes_and_comes_back(folder: Path, talk):
    made = subprocess.run(
        [*COMMAND, "compress", "-", "--budget", "500", "--result", "all.json"],
        input=json.dumps(talk).encode(), capture_output=True, check=True,
    )  # fmt: skip
    assert len(made.stdout) < len(json.dumps(talk))
    assert b"\x1b" not in made.stderr
    back = subprocess.run([*COMMAND, "restore", "all.json"], capture_output=True, check=True)
    assert json.loads(back.stdout) == talk


@pytest.mark.parametrize("arguments", [["count", "chat.json"], ["--help"]])
def test_a_reader_that_has_gone_is_no_fault(talk, arguments):
    ran = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    ran.stdout.close()
    assert (ran.stderr.read(), ran.wait()) == (b"", 141)
    ran.stderr.close()


HELD = f"{sys.executable} -m holdfast"
FULL = (
    "holdfast: standard output: it cannot be written (No space left on device); name a "
    "file with room for it\n"
)
CLOSED = (
    "holdfast: standard output: it cannot be written (it is closed); name a file with room for it\n"
)
MISSING = "holdfast: nope.json: there is no such file; check the path\n"
NO_INPUT = (
    "holdfast: standard input: it cannot be read (it is closed); name a file, or send "
    "one in by a pipe\n"
)
NO_CLIENT = (
    "holdfast: standard input: it cannot be read (it is closed); let the agent start this command\n"
)


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("count chat.json >/dev/full", 2, FULL),
        ("count chat.json --json >/dev/full", 2, FULL),
        ("validate chat.json >/dev/full", 2, FULL),
        ("--help >/dev/full", 2, FULL),
        ("--version >/dev/full", 2, FULL),
        ("count chat.json >&-", 2, CLOSED),
        ("session --help >&-", 2, CLOSED),
        ("count - <&-", 2, NO_INPUT),
        ("count chat.json <&- >/dev/null", 0, ""),
        ("count chat.json 2>&- >/dev/null", 0, ""),
        ("compress chat.json --budget 500 2>/dev/full >/dev/null", 0, ""),
        ("compress chat.json --budget 500 2>&- >/dev/null", 0, ""),
        ("mcp --store sqlite:///a.db <&-", 2, NO_CLIENT),
        ("count nope.json", 2, MISSING),
        ("count nope.json 2>&-", 2, ""),
        ("count nope.json 2>/dev/full", 2, ""),
        ("--debug count nope.json 2>&-", 2, ""),
        ("compress chat.json --budget 5 2>&- >&-", 1, ""),
        ("compress chat.json --budget 500 -o out.json <&- >&- 2>&-", 0, ""),
    ],
)
def test_streams_that_are_closed_or_full_are_no_fault_of_ours(talk, line, code, told):
    ran = subprocess.run(
        ["sh", "-c", f"{HELD} {line}"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (code, told)


IN_A_CLASS = """
class Interrupting:
    def __set_name__(self, owner, name):
        raise KeyboardInterrupt

class Made:
    value = Interrupting()
"""


@pytest.mark.parametrize("loading", ["raise KeyboardInterrupt", IN_A_CLASS])
def test_an_interrupt_while_it_is_loaded_ends_it_quietly(folder: Path, loading: str):
    (folder / "click.py").write_text(loading)
    path = os.pathsep.join([str(folder), *sys.path])
    ran = subprocess.run(
        [*COMMAND, "count", "chat.json"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, b"", b"")


def on_terminal(arguments: list[str], **environment: str) -> str:
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "90", **environment}
    env = {name: value for name, value in env.items() if value}
    with subprocess.Popen(
        [*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=env
    ) as ran:
        os.close(theirs)
        seen = b""
        while True:
            try:
                seen += os.read(ours, 65536)
            except OSError:  # how a terminal says that nobody is left
                break
        ran.wait()
    os.close(ours)
    return seen.decode()


def test_on_a_terminal_there_is_colour_and_the_messages_are_not_poured_out(talk):
    seen = on_terminal(["compress", "chat.json", "--budget", "500"], NO_COLOR="")
    assert "\x1b[32mmet" in seen
    assert "The messages are not written: give -o FILE." in seen
    assert '"role"' not in seen


def test_colour_can_be_declined(talk):
    seen = on_terminal(["explain", "chat.json", "--budget", "500"], NO_COLOR="1")
    assert "\x1b[3" not in seen
    assert "dropped" in seen or "changed" in seen


def test_on_a_terminal_the_prompt_stands_behind_what_is_recalled(talk):
    kept = ["--store", "agent.db", "--thread", "t"]
    subprocess.run(
        [*COMMAND, "session", "append", "chat.json", *kept], capture_output=True, check=True
    )
    last = [*kept, "--", "-1"]
    piped = subprocess.run([*COMMAND, "session", "recall", *last], capture_output=True, check=True)
    assert piped.stdout.decode() == talk[-1]["content"]
    assert not talk[-1]["content"].endswith("\n")
    assert on_terminal(["session", "recall", *last]).endswith("\r\n")
