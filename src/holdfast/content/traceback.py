"""The content kind ``traceback``: why something failed, and where in the program's own code."""

from __future__ import annotations

import re

from holdfast.selection.pieces import Reading

from .lossy import LossyKind, by_lines, rows
from .testrun import OUTCOME

_SAMPLE = 64_000  # characters that are examined
_LONGEST = 400  # characters of a line that are examined
_FEWEST = 2  # frames
_FRAMES = 0.2  # least share of the lines: with fewer frames it is another kind with a trace in it
_TIMED_LINES = 0.2  # share of the lines: with more timestamps it is a log

_LEAD = " \t|+>-"  # exception groups are drawn with bars, C# draws arrows
_FRAME = re.compile(
    r'File "[^"]+", line \d'  # Python
    r"|at \S.*[):\d\]]$|at [\w.$]+$"  # Java, Kotlin, JavaScript, C#
    r"|\.\.\. \d+ (?:more|common frames omitted|elided)"  # the JVM
    r"|\d+: +(?:0x[0-9a-f]+ - )?[\w<_]"  # Rust
    r"|from \S+:\d+:in "  # Ruby
    r"|#\d+ +\S"  # PHP, gdb, sanitizers
    r"|created by \S|\S+\.(?:go|s):\d+(?: \+0x[0-9a-f]+)?$"  # Go
    r"|\[Previous line repeated"
)
_CAUSE = re.compile(
    # Python
    r"(?:Exception Group )?Traceback \(most recent|During handling of|The above exception was"
    r"|Exception in thread|Caused by:|Suppressed:"  # the JVM
    r"|Uncaught |\[cause\]:"  # JavaScript
    r"|panic: |fatal error: |\[signal |goroutine \d+ \["  # Go
    r"|thread '.*' (?:\(\d+\) )?panicked at"  # Rust
    r"|Unhandled |End of (?:inner exception )?stack trace"  # C#
    r"|PHP (?:Fatal|Warning|Notice)|Fatal error: |Next [\w\\]+"  # PHP
    r"|Program received signal|=+\d+=+ ?ERROR"  # debuggers, sanitizers
    r"|\S+:\d+:in .+ \([\w:]+\)$"  # Ruby
    r"|(?:[\w.$/\\:-]*[\w$])?(?:Error|Exception|Warning|Interrupt|Exit|Fault|Panic"
    r"|Group)\b(?= ?[:(\[]|$)"
)
_LIBRARY = re.compile(
    r"site-packages|dist-packages|node_modules|/lib/(?:python|ruby)|/gems/|/vendor/|node:"
    r"|internal/|<frozen "
    r"|/rustc/|\.cargo/registry|/usr/local/go/|/go/pkg/mod/|/usr/(?:lib|include)/|\bruntime[./]"
    r"|__libc|libc\.so"
    r"|\b(?:std|core|alloc|tokio)::"
    r"|at (?:java\.base/|(?:java|javax|jdk|sun|kotlin|kotlinx|scala|akka|System)\."
    r"|Microsoft\.|org\.(?:junit|apache|springframework|hibernate|gradle|eclipse)\.)"
)
_TIMED = re.compile(r"\W?\d{2,4}[-/.]\d\d?[-/.]\d\d|\W?\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:")


class Traceback(LossyKind):
    """One or more stack traces, with every error."""

    name = "traceback"
    least = _FRAMES

    def fit(self, text: str) -> float:
        """The share of the lines that are frames or errors; 0 for a test run or a log."""
        lines = [line for line in rows(text[:_SAMPLE]) if line.strip()]
        bare = [line.lstrip(_LEAD)[:_LONGEST].rstrip() for line in lines]
        frames = sum(_FRAME.match(line) is not None for line in bare)
        if frames < max(_FEWEST, _FRAMES * len(lines)):
            return 0.0
        causes = sum(_CAUSE.match(line) is not None for line in bare)
        timed = sum(_TIMED.match(line) is not None for line in lines)
        if not causes or timed > _TIMED_LINES * len(lines) or any(map(OUTCOME.match, lines)):
            return 0.0
        # a frame has its source line, or a location
        return min(1.0, (2 * frames + causes) / len(lines))

    def read(self, text: str) -> Reading:
        """Its lines; frames in a library or in the language's runtime count as one thing."""
        reading = by_lines(text)
        told = [
            piece._replace(things=("a library" if _LIBRARY.search(piece.text) else piece.text,))
            for piece in reading.pieces
        ]
        return reading._replace(pieces=told)
