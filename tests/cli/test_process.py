"""The command as a process: pipes, colour, and files between processes."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

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


def test_a_reader_that_has_gone_is_no_fault(talk):
    ran = subprocess.Popen([*COMMAND, "count", "chat.json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    ran.stdout.close()
    assert (ran.stderr.read(), ran.wait()) == (b"", 141)
    ran.stderr.close()


def on_terminal(arguments: list[str], **environment: str) -> str:
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "90", **environment}
    env = {name: value for name, value in env.items() if value}
    with subprocess.Popen([*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=env) as ran:
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
    subprocess.run([*COMMAND, "session", "append", "chat.json", *kept], capture_output=True, check=True)
    last = [*kept, "--", "-1"]
    piped = subprocess.run([*COMMAND, "session", "recall", *last], capture_output=True, check=True)
    assert piped.stdout.decode() == talk[-1]["content"]
    assert not talk[-1]["content"].endswith("\n")
    assert on_terminal(["session", "recall", *last]).endswith("\r\n")
