"""A terminal session without a terminal: the command line run in this process, in an empty
directory.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast.cli import main


@dataclass(frozen=True)
class Ran:
    """How a run ended, and what it said."""

    code: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode()

    @property
    def json(self) -> object:
        return json.loads(self.raw)

    @property
    def complaint(self) -> str:
        """The one line on standard error of a run that failed and wrote nothing to standard
        output.
        """
        assert self.out == ""
        assert self.err.startswith("holdfast: ")
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1
        return self.err.removeprefix("holdfast: ").rstrip("\n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., Ran]:
    """Run ``holdfast`` with these arguments."""

    def ran(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(arguments)
        out, err = capsysbinary.readouterr()
        return Ran(code, out, err.decode())

    return ran


TALK = [
    {"role": "system", "content": "You help."},
    {"role": "user", "content": "Read the file and say what is wrong."},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "read", "arguments": '{"path": "x"}'}},
    ]},
    {"role": "tool", "tool_call_id": "a",
     "content": "\n".join(f"line {i} of the file" for i in range(300))},
    {"role": "assistant", "content": "Nothing is wrong."},
    {"role": "user", "content": "Are you sure?"},
]  # fmt: skip


@pytest.fixture
def talk(folder: Path) -> list[dict[str, object]]:
    """A conversation of about 1,900 tokens, which stands in chat.json too."""
    (folder / "chat.json").write_text(json.dumps(TALK, indent=2))
    return TALK
