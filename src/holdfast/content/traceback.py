"""The content kind ``traceback``: why something failed, and where in the program's own code."""

from __future__ import annotations

import re
from itertools import pairwise

from holdfast.selection.pieces import Reading

from .frames import bare, is_frame, report
from .lossy import Lossy, Read

_SAMPLE = 64_000  # characters by which a text is recognised
_FEWEST = 2  # frames
_FRAMES = 0.2  # of the lines: with fewer frames the text is of another kind that holds a trace
_TIMED_LINES = 0.2  # of the lines: with more times in front it is a log

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
_ERROR = re.compile(
    r"(?:[\w.$/\\:-]*[\w$])?(?:Error|Exception|Warning|Interrupt|Exit|Fault|Panic|Group)\b(?= ?[:(\[]|$)"
)
_RUBY = re.compile(r"\S+:\d+:in .+ \([\w:]+\)$")
_TIMED = re.compile(r"\W?\d{2,4}[-/.]\d\d?[-/.]\d\d|\W?\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:")
_TEST_RUN = re.compile(
    r"(?m)^(?:Ran \d+ tests? in |test result: |Tests?: +\d|={3,}+[^=\n]{1,200} in [\d.]+s"
    r"|(?:FAIL|ok)[ \t]+\S{1,200}[ \t]+[\d.]+s|[ \t]{1,20}\d+ (?:passing|failing)|not ok \d"
    r"|.{0,20}Tests run: |# (?:fail|pass) \d)"
)


class Traceback(Lossy, Read):
    """One or more stack traces; what is left is every error, and the frames, own code first."""

    name = "traceback"

    def fit(self, text: str) -> float:
        """The share of the lines that are frames or errors; of a test run or a log, none."""
        lines = [line for line in text[:_SAMPLE].replace("\r\n", "\n").split("\n") if line.strip()]
        frames = sum(is_frame(line, following) for line, following in pairwise((*lines, "")))
        if frames < max(_FEWEST, _FRAMES * len(lines)):
            return 0.0
        causes = sum(_is_cause(line) for line in lines)
        timed = sum(_TIMED.match(line) is not None for line in lines)
        if not causes or timed > _TIMED_LINES * len(lines) or _TEST_RUN.search(text):
            return 0.0
        return min(1.0, (2 * frames + causes) / len(lines))  # a frame has its source line, or a place

    def recognises(self, text: str) -> bool:
        """Whether errors and frames make up much of the text."""
        return self.fit(text) > _FRAMES

    def read(self, text: str) -> Reading:
        """Its lines, those of libraries as one thing."""
        return report(text)


def _is_cause(line: str) -> bool:
    """Whether the line names an error, or opens or joins traces."""
    told = bare(line)
    return any(form.match(told) for form in (_BEGINNING, _ERROR, _RUBY))
