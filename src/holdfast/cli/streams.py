"""Standard streams of a program that was started without them, or whose other end fails."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import NoReturn, TextIO

_STDERR = 2  # its number, and the last of the three


class Closed(io.TextIOBase):
    """Stands where a standard stream was closed: nothing comes out of it, and nothing goes in."""

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
    """Put something in the place of closed streams, and keep their numbers from files that are opened later.

    What is told on a closed standard error is told to nobody.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(number)
    for name in ("stdin", "stdout"):
        if getattr(sys, name) is None:
            setattr(sys, name, Closed())
    if sys.stderr is None:
        sys.stderr = io.StringIO()


def let_go(stream: TextIO) -> None:
    """Lose what is left in the buffer: it would be written, and fail again, when Python ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
