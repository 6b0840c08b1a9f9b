"""How the lines of stack traces look: a frame names a place in a file, a cause names an error."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum

from holdfast.content.frames import bare, is_go_place, is_library

_BEGINNING = re.compile(
    r"(?:Exception Group )?Traceback \(most recent|During handling of|The above exception was"  # Python
    r"|Exception in thread|Caused by:|Suppressed:"  # the JVM
    r"|Uncaught |\[cause\]:"  # JavaScript
    r"|panic: |fatal error: |\[signal |goroutine \d+ \["  # Go
    r"|thread '.*' (?:\(\d+\) )?panicked at"  # Rust
    r"|Unhandled |End of (?:inner exception )?stack trace"  # C#
    r"|PHP (?:Fatal|Warning|Notice)|Fatal error: |Next [\w\\]+"  # PHP
    r"|Program received signal|=+\d+=+ ?ERROR"  # debuggers, sanitizers
)
_LINK = re.compile(
    r"(?:Exception Group )?Traceback \(most recent|During handling of|The above exception was"
    r"|\[?[Ss]tack ?(?:back)?trace\]?:|note: |End of (?:inner|stack)"
)
_ERROR = re.compile(
    r"(?:[\w.$/\\:-]*[\w$])?(?:Error|Exception|Warning|Interrupt|Exit|Fault|Panic|Group)\b(?= ?[:(\[]|$)"
)
_RUBY = re.compile(r"\S+:\d+:in .+ \([\w:]+\)$")
_RUST_NAME = re.compile(r"\s*\d+: ")


class Role(IntEnum):
    """What a piece of a trace is; a link opens a trace or says how it hangs together with the one before."""

    CAUSE = 0
    LINK = 1
    MESSAGE = 2
    OWN = 3
    LIBRARY = 4
    OTHER = 5


@dataclass(slots=True)
class Piece:
    """Lines that belong together, such as a frame with its source line; it may stand for repeats after it."""

    role: Role
    lines: list[str] = field(default_factory=list[str])
    frames: int = 1
    repeats: str = ""

    @property
    def is_frame(self) -> bool:
        """Whether it names a place in the code."""
        return self.role in {Role.OWN, Role.LIBRARY}

    def text(self) -> str:
        """The lines, with what they stand for."""
        return "\n".join(self.lines) + self.repeats


def is_detail(line: str, frame: Piece) -> bool:
    """Whether the line says more of the frame above it: its source, marks below it, its place."""
    first = frame.lines[0]
    if is_go_place(line) and not first[:1].isspace():
        return True
    if _RUST_NAME.match(first) and bare(line).startswith("at "):
        return True
    deeper = len(line) - len(line.lstrip(" |")) > len(first) - len(first.lstrip(" |"))
    return deeper and bare(first).startswith("File ") and not bare(line).startswith("File ")


def is_link(line: str) -> bool:
    """Whether the line names no error itself, but opens a trace or joins it to another."""
    return _LINK.match(bare(line)) is not None


def is_cause(line: str) -> bool:
    """Whether the line names an error, or opens or joins traces."""
    told = bare(line)
    if _BEGINNING.match(told):
        return True
    error = _ERROR.match(told)
    return error is not None or (_RUBY.match(told) is not None)


def in_library(frame: Piece) -> bool:
    """Whether the frame lies in a library, or is not even named."""
    return "... " in frame.lines[0] or any(map(is_library, frame.lines))
