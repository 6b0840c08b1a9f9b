"""Reports of failures: frames, the program's own or a library's, and what stands between them.

A frame of the program is a thing of its own. Quoted source code, the frames of libraries and what passed are
each one thing, worth little once it is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from holdfast.selection.pieces import Piece, Reading, clauses, in_lines

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


_QUOTED = re.compile(r" {4}(?! {0,30}[|+^~])|\t(?!at )")  # source code, but not what points at a place in it
_TOGETHER, _LINE = 120, 300  # characters of lines that are told together, and of one line


def report(text: str, passed: re.Pattern[str] | None = None) -> Reading:
    """A report of failures in its lines; ``passed`` tells those that are none."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    return in_lines(_pieces(lines, passed), lines)


def _pieces(lines: Sequence[str], passed: re.Pattern[str] | None) -> Iterator[Piece]:
    """Short neighbouring lines together, so that a frame keeps its source line; but no source before a frame."""
    held, start, known = list[str](), 0, ""
    for row, line in enumerate([*lines, ""]):
        told = line.rstrip()
        sort = _sort(line, lines[row + 1] if row + 1 < len(lines) else "", passed)
        new = not any(map(str.isalnum, line)) or (known != sort != "quoted source")
        if held and (new or sum(map(len, held)) + len(told) > _TOGETHER):
            yield Piece("\n".join(held), start, len(held), (known,) if known else ())
            held = []
        if not any(map(str.isalnum, line)):
            continue
        if len(told) > _LINE:
            yield from (Piece(part, row, 1, (sort,) if sort else ()) for part in clauses(told, _LINE))
            continue
        if not held:
            start, known = row, sort
        held.append(told)


def _sort(line: str, following: str, passed: re.Pattern[str] | None) -> str:
    """What a line tells beside its names: a place in the program, or one thing for all that tells little."""
    if passed and passed.match(line):
        return "what passed"
    if is_frame(line, following):
        return "frame of a library" if is_library(f"{line} {following}") else f"frame {bare(line)}"
    return "quoted source" if _QUOTED.match(line) else ""
