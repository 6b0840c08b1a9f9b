"""Lines that name a place in code, as stack traces of any language do, and whether that is the program's own."""

from __future__ import annotations

import re
from functools import lru_cache

_LONGEST = 400  # characters of a line by which it is told

_LEAD = re.compile(r"[\s|+>-]*+")  # exception groups are drawn with bars, C# draws arrows
_FRAME = re.compile(
    r'File "[^"]+", line \d'  # Python
    r"|at \S.*[):\d\]]$|at [\w.$]+$"  # Java, Kotlin, JavaScript, C#
    r"|\.\.\. \d+ (?:more|common frames omitted|elided)"  # the JVM
    r"|\d+: +(?:0x[0-9a-f]+ - )?[\w<_]"  # Rust
    r"|from \S+:\d+:in "  # Ruby
    r"|#\d+ +\S"  # PHP, gdb, sanitizers
    r"|created by \S"  # Go
    r"|\[Previous line repeated"
)
_MAY_BE_FRAME = re.compile(r"[\s|+>-]*+[Fa.\dfc#\[]")  # by the first character: most lines are none
_GO_PLACE = re.compile(r"\t\S+\.(?:go|s):\d+(?: \+0x[0-9a-f]+)?$")
_LIBRARY = re.compile(
    r"site-packages|dist-packages|node_modules|/lib/(?:python|ruby)|/gems/|/vendor/|node:|internal/|<frozen "
    r"|/rustc/|\.cargo/registry|/usr/local/go/|/go/pkg/mod/|/usr/(?:lib|include)/|\bruntime[./]|__libc|libc\.so"
    r"|\b(?:std|core|alloc|tokio)::|at (?:java\.base/|(?:java|javax|jdk|sun|kotlin|kotlinx|scala|akka|System)\."
    r"|Microsoft\.|org\.(?:junit|apache|springframework|hibernate|gradle|eclipse)\.)"
)


def bare(line: str) -> str:
    """The line without its indentation and the bars of an exception group."""
    lead = _LEAD.match(line)
    return line[lead.end() if lead else 0 :][:_LONGEST].rstrip()


def is_frame(line: str, following: str = "") -> bool:
    """Whether the line, with the one after it, names a place in the code."""
    first = line[:1]
    if following.startswith("\t") and not first.isspace() and is_go_place(following):
        return True
    if first.isalpha() or not _MAY_BE_FRAME.match(line):
        return False
    return _FRAME.match(bare(line)) is not None


def is_go_place(line: str) -> bool:
    """Whether the line is the second of a frame as Go prints it."""
    return _GO_PLACE.match(line[:_LONGEST]) is not None


def is_library(line: str) -> bool:
    """Whether the line of a frame lies in a library or in the language's own runtime."""
    return _names_library(line[:_LONGEST])


@lru_cache(maxsize=1 << 12)
def _names_library(line: str) -> bool:
    """Stacks share most of their frames."""
    return _LIBRARY.search(line) is not None
