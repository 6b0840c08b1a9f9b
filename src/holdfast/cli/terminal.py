"""Output: results on standard output, everything else on standard error.

On a terminal, reports have colours and long work shows its progress.
"""

import errno
import io
import json
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from time import monotonic
from typing import NoReturn, TextIO, cast

import click

from holdfast.files import write_all
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.registry import imported
from holdfast.text.visible import visible

from .files import STDOUT, text_bytes

SCREEN = "holdfast.cli.screen"
"""The module that draws with rich, which takes 60 ms to import and is needed by few runs."""

_LONG_WORK = 2_000_000  # characters of input; to fit so many took 3 s
_PAUSE = 1.0  # seconds between two lines of progress, as in git's


def write(content: str | bytes) -> None:
    """Write to standard output; on a terminal a text has no control characters, and ends its line.

    Raises OSError if standard output is closed or full.
    """
    if isinstance(content, str):
        if content and sys.stdout.isatty():
            content = visible(content).removesuffix("\n") + "\n"
        content = text_bytes(content)
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.flush()


def write_json(value: object) -> None:
    """Write JSON to standard output."""
    write(json.dumps(value, indent=2) + "\n")


def write_to(output: str | None, content: bytes) -> bool:
    """Write to the file ``output``, or to standard output for None and ``-``.

    Returns whether it was a file. Raises InputError for a file that cannot be written.
    """
    if output is None or output == STDOUT:
        write(content)
        return False
    write_all({output: content})
    return True


def note(text: str) -> None:
    """Write to standard error; an error there does not change the exit code."""
    try:
        sys.stderr.write(text.encode("utf-8", "backslashreplace").decode())
        sys.stderr.flush()
    except OSError:
        let_go(sys.stderr)


def confirm(what: str) -> None:
    """Ask whether to erase it. Raises ConfigError if there is no terminal, and Abort for a no."""
    if not sys.stdin.isatty():
        raise ConfigError(
            "this cannot be undone, and there is no terminal to ask", advice="give --yes"
        )
    click.confirm(f"Erase {what}?", abort=True, err=True)


def report(text: str, stream: TextIO) -> None:
    """Write a report to standard output or standard error, in colour on a terminal."""
    if stream.isatty():
        text = imported(f"{SCREEN}:coloured")(text, stream)
    if stream is sys.stderr:
        note(text)
    else:
        write(text_bytes(text))


def waiting(size: int) -> AbstractContextManager[object]:
    """A spinner on standard error during work on a large input, if that is a terminal."""
    if size < _LONG_WORK or not sys.stderr.isatty():
        return nullcontext()
    doing = f"working on {size / 1_000_000:,.1f} million characters"
    return cast("AbstractContextManager[object]", imported(f"{SCREEN}:waiting")(doing))


def progress(line: Callable[[int], str]) -> Callable[[int], None] | None:
    """A function that shows ``line(done)`` at most once a second; None without a terminal."""
    if not sys.stderr.isatty():
        return None
    last = 0.0

    def report(done: int) -> None:
        nonlocal last
        now = monotonic()
        if now - last > _PAUSE:
            last = now
            note(f"{line(done)}\n")

    return report


class Closed(io.TextIOBase):
    """Replaces a closed standard stream; reading and writing raise OSError."""

    encoding = "utf-8"

    @property
    def buffer(self) -> "Closed":
        """The same for bytes."""
        return self

    def read(self, size: int | None = -1, /) -> NoReturn:
        """Raise OSError."""
        raise OSError(errno.EBADF, "it is closed")

    def write(self, text: object, /) -> NoReturn:
        """Raise OSError."""
        self.read()


def stand_in() -> None:
    """Replace closed streams, and reserve their numbers, so that no file gets them later.

    Output to a closed standard error is lost.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:  # that of standard error
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
