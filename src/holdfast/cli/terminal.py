"""What is said: results on standard output, everything else on standard error.

Colour and motion on a terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from shutil import get_terminal_size
from typing import TextIO, cast

from holdfast.cli.streams import let_go
from holdfast.kernel.registry import Registry
from holdfast.text.visible import visible

SCREENS = Registry(
    "screen",
    "screens",
    {
        "coloured": "holdfast.cli.screen:coloured",
        "breakdown": "holdfast.cli.screen:breakdown",
        "waiting": "holdfast.cli.screen:waiting",
    },
)
"""What rich draws: it takes 60 ms to load, and most runs draw nothing."""

_PAPER = 110  # cells of a report that no terminal shows
_LONG_WORK = 2_000_000  # characters of input: some seconds of counting


def say(content: str | bytes) -> None:
    """Write to standard output. Raises OSError where that is closed or full, or nobody reads it any more."""
    if isinstance(content, bytes):
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
    else:
        sys.stdout.write(_encodable(content, sys.stdout))
    sys.stdout.flush()


def say_json(value: object) -> None:
    """Write JSON to standard output."""
    say(json.dumps(value, indent=2) + "\n")


def pour(text: str) -> None:
    """Write a text of strangers to standard output.

    As it is, but to a terminal nothing that acts on it.

    There the prompt that follows stands on a line of its own.
    """
    if sys.stdout.isatty():
        say(visible(text) if text.endswith("\n") or not text else f"{visible(text)}\n")
    else:
        say(text.encode("utf-8", "backslashreplace"))


def tell(line: str) -> None:
    """Write one line to standard error."""
    text = visible(line).replace("\n", "\\n")
    _hint(f"{text}\n")


def show(text: str) -> None:
    """Write a report to standard output, in colour on a terminal."""
    say(_drawn(text, sys.stdout))


def width() -> int:
    """How wide a report may be: as the terminal, or as paper."""
    return get_terminal_size().columns if sys.stdout.isatty() else _PAPER


def mention(text: str) -> None:
    """Write a report to standard error, in colour on a terminal."""
    _hint(_drawn(text, sys.stderr))


def _hint(text: str) -> None:
    """Write to standard error if somebody is there: how the run ends does not hang on it."""
    try:
        sys.stderr.write(_encodable(text, sys.stderr))
        sys.stderr.flush()
    except OSError:
        let_go(sys.stderr)


def _drawn(text: str, stream: TextIO) -> str:
    if not stream.isatty():
        return text
    draw = cast("Callable[[str, TextIO], str]", SCREENS.load("coloured"))
    return draw(text, stream)


def waiting(size: int) -> AbstractContextManager[object]:
    """A sign of life on standard error while a large input is worked on, if that is a terminal."""
    if size < _LONG_WORK or not sys.stderr.isatty():
        return nullcontext()
    wait = cast("Callable[[str], AbstractContextManager[object]]", SCREENS.load("waiting"))
    return wait(f"working on {size / 1_000_000:,.1f} million characters")


def _encodable(text: str, stream: TextIO) -> str:
    """The text with a question mark for each character that the stream cannot write."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding, "replace")
