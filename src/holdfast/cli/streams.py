"""Standard streams that are closed, or whose reader has ended."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import NoReturn, TextIO

_STDERR = 2  # the highest number of a standard stream


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
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
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
