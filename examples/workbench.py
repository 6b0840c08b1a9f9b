"""A checkout of a sample project in a temporary directory, and an agent's tools for it.

Everything really runs. What would differ from one machine or one day to the next (paths, dates, the
time that a test run takes) is fixed beforehand or replaced afterwards, so that a recording can be
made again.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

PROJECTS = Path(__file__).parent / "projects"
MAX_HITS = 60
RUNPY_FRAME = re.compile(r'^  File "<frozen runpy>", line \d+, in \w+\n', re.MULTILINE)
TEST_RUN = re.compile(r"^Ran (\d+) tests? in [0-9.]+s$", re.MULTILINE)


class ToolError(Exception):
    """A tool says no; its text is what the agent reads."""


class Workbench:
    """The tools: each takes text and numbers, returns text and raises ToolError."""

    def __init__(self, root: Path, name: str, clock: str) -> None:
        self._root = root
        self._home = f"/srv/{name}"
        self._env = _environment(root.parent, clock)

    def run(self, command: str) -> str:
        """Run a python or git command in the project directory and return what it prints."""
        output, code = self.execute(command)
        if code:
            raise ToolError(f"{output}[exit code {code}]")
        return output or "(no output)"

    def execute(self, command: str) -> tuple[str, int]:
        """Run the command; what it prints on both channels, and its exit code."""
        program, *arguments = shlex.split(command)
        if program not in {"python", "git"}:
            raise ToolError(f"{program}: not allowed here; allowed are python and git")
        done = subprocess.run(
            [sys.executable if program == "python" else program, *arguments],
            cwd=self._root,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        return self._portable(done.stdout), done.returncode

    def read_file(self, path: str, first: int = 1, last: int = 400) -> str:
        """Read a text file, or the lines from first to last of it, with line numbers."""
        lines = self._text(path).splitlines()[first - 1 : last]
        return "\n".join(f"{number:>5}  {line}" for number, line in enumerate(lines, first))

    def list_directory(self, path: str = ".") -> str:
        """List everything below a directory with its size in bytes."""
        found = [item for item in sorted(self._place(path).rglob("*")) if item.is_file()]
        names = [(item.relative_to(self._root).as_posix(), item.stat().st_size) for item in found]
        return "\n".join(
            f"{size:>8}  {name}" for name, size in names if not name.startswith(".git/")
        )

    def search(self, pattern: str, path: str = ".") -> str:
        """Search a file, or all files below a directory, for a regular expression."""
        wanted = re.compile(pattern)
        place = self._place(path)
        hits = [
            f"{item.relative_to(self._root).as_posix()}:{number}: {line}"
            for item in ([place] if place.is_file() else sorted(place.rglob("*")))
            if item.is_file() and ".git" not in item.relative_to(self._root).parts
            for number, line in enumerate(item.read_text(encoding="utf-8").splitlines(), 1)
            if wanted.search(line)
        ]
        more = [f"... and {len(hits) - MAX_HITS} more"] if len(hits) > MAX_HITS else []
        return "\n".join([*hits[:MAX_HITS], *more]) or "no matches"

    def edit_file(self, path: str, old: str, new: str) -> str:
        """Replace a text that stands exactly once in the file."""
        text = self._text(path)
        if text.count(old) != 1:
            raise ToolError(
                f"{path}: the old text stands {text.count(old)} times in the file, not once"
            )
        self._place(path).write_text(text.replace(old, new), encoding="utf-8", newline="\n")
        return f"{path}: 1 replacement"

    def write_file(self, path: str, text: str) -> str:
        """Write a whole file."""
        place = self._place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="\n")
        return f"{path}: {len(text.splitlines())} lines written"

    def _text(self, path: str) -> str:
        try:
            return self._place(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise ToolError(f"{path}: no such file") from None

    def _place(self, path: str) -> Path:
        place = (self._root / path).resolve()
        if not place.is_relative_to(self._root):
            raise ToolError(f"{path}: outside of the project")
        return place

    def _portable(self, output: str) -> str:
        output = RUNPY_FRAME.sub("", output.replace(str(self._root), self._home))
        return TEST_RUN.sub(
            lambda found: f"{found[0].rpartition(' ')[0]} {int(found[1]) / 2500:.3f}s", output
        )


@contextmanager
def workbench(name: str, clock: str) -> Generator[Workbench]:
    """Check out the project with its history; new commits have the clock's date."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary).resolve() / name
        bench = Workbench(root, name, clock)
        root.mkdir()
        bench.run("git init --quiet --initial-branch=main")
        bench.run(
            f"git am --quiet --committer-date-is-author-date "
            f"{shlex.quote(str(PROJECTS / name))}.mbox"
        )
        yield bench


def _environment(home: Path, clock: str) -> dict[str, str]:
    """Nothing of this machine but the way to git; nobody's git configuration."""
    role = {"NAME": "coding agent", "EMAIL": "agent@bots.example", "DATE": clock}
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TZ": "UTC",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **{
            f"GIT_{who}_{key}": value
            for who in ("AUTHOR", "COMMITTER")
            for key, value in role.items()
        },
        "PYTHONUTF8": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNODEBUGRANGES": "1",
    }
