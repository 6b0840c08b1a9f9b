"""Output: results on standard output, everything else on standard error.

On a terminal, reports have colours and long work shows its progress.
"""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from shutil import get_terminal_size
from time import monotonic
from typing import NoReturn, TextIO, cast

from holdfast.cli.files import STDOUT, text_bytes
from holdfast.files import write_all
from holdfast.kernel.registry import imported
from holdfast.text.visible import visible

SCREEN = "holdfast.cli.screen"
"""The module that draws with rich, which takes 60 ms to import and is needed by few runs."""

_LONG_WORK = 2_000_000  # characters of input, which take some seconds
_PAUSE = 0.5  # seconds between two lines of progress


def say(content: str | bytes) -> None:
    """Write to standard output. Raises OSError if that is closed or full."""
    if isinstance(content, bytes):
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
    else:
        sys.stdout.write(_encodable(content, sys.stdout))
    sys.stdout.flush()


def say_json(value: object) -> None:
    """Write JSON to standard output."""
    say(json.dumps(value, indent=2) + "\n")


def deliver(content: bytes, output: str | None) -> bool:
    """Write to the file ``output``, or to standard output for None and ``-``.

    Returns whether it was a file. Raises InputError for a file that cannot be written.
    """
    if output is None or output == STDOUT:
        say(content)
        return False
    write_all({output: content})
    return True


def pour(text: str) -> None:
    """Write any text to standard output, without control characters if that is a terminal."""
    if sys.stdout.isatty():
        say(visible(text) if text.endswith("\n") or not text else f"{visible(text)}\n")
    else:
        say(text_bytes(text))


def tell(line: str) -> None:
    """Write one line to standard error, whatever characters it has."""
    text = visible(line).replace("\n", "\\n")
    _hint(f"{text}\n")


def show(text: str) -> None:
    """Write a report to standard output, in colour on a terminal."""
    say(_drawn(text, sys.stdout))


def width() -> int:
    """The width of a report in cells: that of the terminal, or of paper."""
    return get_terminal_size().columns if sys.stdout.isatty() else 110  # cells


def mention(text: str) -> None:
    """Write a report to standard error, in colour on a terminal."""
    _hint(_drawn(text, sys.stderr))


def _hint(text: str) -> None:
    """Write to standard error; an error there does not change the exit code."""
    try:
        sys.stderr.write(_encodable(text, sys.stderr))
        sys.stderr.flush()
    except OSError:
        let_go(sys.stderr)


def _drawn(text: str, stream: TextIO) -> str:
    if not stream.isatty():
        return text
    return cast("str", imported(f"{SCREEN}:coloured")(text, stream))


def waiting(size: int) -> AbstractContextManager[object]:
    """A spinner on standard error during work on a large input, if that is a terminal."""
    if size < _LONG_WORK or not sys.stderr.isatty():
        return nullcontext()
    doing = f"working on {size / 1_000_000:,.1f} million characters"
    return cast("AbstractContextManager[object]", imported(f"{SCREEN}:waiting")(doing))


def progress(line: Callable[[int], str]) -> Callable[[int], None] | None:
    """A function that shows ``line(done)`` at most twice a second; None without a terminal."""
    if not sys.stderr.isatty():
        return None
    last = 0.0

    def report(done: int) -> None:
        nonlocal last
        now = monotonic()
        if now - last > _PAUSE:
            last = now
            tell(line(done))

    return report


def _encodable(text: str, stream: TextIO) -> str:
    """The text with a question mark for each character that the stream cannot encode."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding, "replace")


class Closed(io.TextIOBase):
    """Replaces a closed standard stream; reading and writing raise OSError."""

    encoding = "utf-8"

    @property
    def buffer(self) -> Closed:
        """The same for bytes."""
        return self

    def read(self, size: int | None = -1, /) -> NoReturn:
        """Raise OSError."""
        del size
        raise OSError(errno.EBADF, "it is closed")

    def write(self, text: object, /) -> NoReturn:
        """Raise OSError."""
        del text
        self.read()


def stand_in() -> None:
    """Replace closed streams, and reserve their numbers, so that no file gets them later.

    Output to a closed standard error is lost.
    """
    while (
        number := os.open(os.devnull, os.O_RDWR)
    ) <= 2:  # the highest number of a standard stream
        pass
    os.close(number)
    for name in ("stdin", "stdout"):
        if getattr(sys, name) is None:
            setattr(sys, name, Closed())
    if sys.stderr is None:
        sys.stderr = io.StringIO()


def let_go(stream: TextIO) -> None:
    """Discard the buffer, which Python would try to write again when it ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
