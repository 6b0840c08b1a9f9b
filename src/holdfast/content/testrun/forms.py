"""How the lines of test runs and builds look, whatever runner or compiler wrote them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

LONGEST = 300
"""Characters of a line by which it is told."""

_NODE = r"(?=\S\S*?::)\S++"  # a file and a test in it, as pytest names them

SUMMARY = re.compile(
    r"=*+ ?(?:\d+ (?:passed|failed|errors?|skipped|deselected|x\w+)\b.{0,120} in \d|no tests ran)"  # pytest
    r"|Ran \d+ tests? in |FAILED \((?:failures|errors)|OK(?: \(.{0,80}\))?$"  # unittest
    r"|(?:Tests|Test Suites): +\d| *+(?:Tests|Test Files) +\d"  # jest, vitest
    r"|\s++\d+ (?:passing|failing|pending)\b.{0,20}$"  # mocha
    r"|(?:ℹ|#) (?:tests|pass|fail) \d"  # node
    r"|test result: |error: (?:could not compile|aborting due|test failed)"  # cargo
    r"|FAIL$|FAIL\t\S"  # go
    r"|(?:\[\w+\] )?Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$|(?:\[\w+\] )?BUILD [A-Z]"  # maven
    r"|\d+ tests completed|\d+% tests passed"  # gradle, ctest
    r"|Found \d+ errors?|All checks passed|Success: no issues|\d+ (?:errors?|warnings?)\b.{0,40}$|✖ \d+ problems?"
    r"|make(?:\[\d+\])?: \*\*\*|collect2: error|ninja: build stopped|npm ERR! code"
)
FAILED = re.compile(
    rf"(?:FAILED|ERROR) \S|_{{3,}}+ .{{1,200}} _{{3,}}+$|{_NODE} .{{0,80}}?\b(?:FAILED|ERROR)\b"  # pytest
    r"|(?:FAIL|ERROR): |.{1,200} \.\.\. (?:FAIL|ERROR)$"  # unittest
    r"|\s*+(?:● |[✕✖✗×] |not ok \d|--- FAIL: )|FAIL +\S|\s++\d+\) \S"  # jest, node, TAP, go, mocha
    r"|test .{1,200} \.\.\. FAILED|---- .{1,200} stdout ----"  # cargo
    r"|\[ERROR\] .{1,200}(?:FAILURE|ERROR)!|\[ERROR\]   \S|\S++ > .{1,200} FAILED"  # maven, gradle
    r"|.{1,200}\*\*\*(?:Failed|Exception|Timeout)"  # ctest
)
PASSED = re.compile(
    rf"{_NODE} .{{0,80}}?\b(?:PASSED|SKIPPED|XFAIL|XPASS)\b|\S++ [.sxXFEp]++ +\[ *\d+%\]"  # pytest
    r"|[.sxXFEp]{3,}+(?: +\[ *\d+%\])?$|.{1,200} \.\.\. (?:ok|ignored|skipped .{0,80}|expected failure)$"
    r"|\s*+(?:[✓✔√○﹣▶] |ok \d|# Subtest: |--- (?:PASS|SKIP))|=== (?:RUN|PAUSE|CONT|NAME)|PASS(?:$| +\S)"
    r"|ok\s+\S++\s+(?:\(cached\)|[\d.]+s)|\?\s+\S++\s+\[no test"
    r"|\s*+(?:Compiling|Download(?:ing|ed)|Checking|Finished|Running|Building|Install(?:ing|ed)|Updating|Locking) "
    r"|\[INFO\]|\[ *\d+%\] |\[\d+/\d+\] |(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ar|rustc|javac) -?\S"
    r"|make(?:\[\d+\])?: (?:Entering|Leaving|Nothing)|> Task :|running \d+ tests?$|Tests run: .{1,120}Time elapsed"
)
REASON = re.compile(
    r"\s*+(?:E  +\S"
    r"|(?=[\w.$]*+(?: \[|:|$))(?:[\w.$]*[\w$])?(?:Error|Exception|Failure)\b(?: \[\w+\])?(?::|$)|assert(?:ion)?\b"
    r"|(?:left|right|expected|actual|received|got|want|wanted|message|error|difference)\b.{0,12}[:=]"
    r"|(?:expected|received|actual) |(?=\S++(?<=:) )\S{1,100}?_test\.go:\d+: "
    r"|panic: |called `|Caused by:|[-+] +\S)",
    re.IGNORECASE,
)
ANNOUNCED = re.compile(r"thread '.{1,200}' (?:\(\d+\) )?panicked at")
"""The line after it says why."""
PLACE = re.compile(r"\s*+(?:--> |::: |\S++:\d+: \w+(?:Error|Exception|Failure)$|File \"|at \S|location: )")

_SPOT = r"(?P<spot>(?:[A-Za-z]:)?[^\s:()'\"][^:()'\"]{0,200}+(?::\d+){1,2}|[^\s:()]{1,200}+\(\d+(?:,\d+)?\))"
_DIAGNOSTICS = tuple(
    map(
        re.compile,
        (
            rf"\s*+{_SPOT}(?::| -) (?P<level>fatal error|error|warning|note|info|hint)\b:?(?P<told>.*)",
            rf"{_SPOT}: (?P<level>[A-Z]{{1,5}}\d{{2,5}}) (?P<told>.*)",  # ruff, flake8, pylint
            r"(?P<spot>)(?P<level>error|warning)(?:\[\w+\])?: (?P<told>.*)",  # rustc
            r"(?P<spot>)(?P<level>[A-Z]{1,5}\d{2,5}) (?P<told>\[\*\] .*|[A-Z`].*)",  # ruff
            r"\s++(?P<spot>\d+:\d+) +(?P<level>error|warning) +(?P<told>.*)",  # eslint
            r"(?P<level>[ew]): (?P<spot>file:\S+:\d+:\d+) (?P<told>.*)",  # kotlinc
            r"\[(?P<level>ERROR|WARNING)\] (?P<spot>\S+:\[\d+,\d+\]) (?P<told>.*)",  # maven
            r"(?P<level>)(?P<spot>\S++:)(?P<told>.{0,80}(?:undefined reference|multiple definition) .*)",  # ld
        ),
    )
)
_DECISIVE = re.compile("|".join(re.sub(r"\?P<\w+>", "?:", form.pattern) for form in (SUMMARY, *_DIAGNOSTICS)))
_MILD = frozenset({"warning", "w", "WARNING"})
_NOTES = frozenset({"note", "info", "hint"})


class Role(IntEnum):
    """What a line of a run is, the most telling first."""

    SUMMARY = 0
    FAILED = 1
    ERROR = 2
    REASON = 3
    WARNING = 4
    PLACE = 5
    DETAIL = 6
    OTHER = 7
    PASSED = 8


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What a compiler or a linter says: how bad it is, where, and in which words."""

    role: Role
    spot: str
    told: str


def is_decisive(line: str) -> bool:
    """Whether the line tells an outcome or is a diagnostic: a text without such a line is no run."""
    return _is_decisive(line[:LONGEST])


@lru_cache(maxsize=1 << 12)
def _is_decisive(line: str) -> bool:
    """Every text is asked, and a session reads the same lines again and again."""
    return _DECISIVE.match(line) is not None


@lru_cache(maxsize=1 << 12)
def opening(line: str) -> tuple[Role | None, Diagnostic | None]:
    """What the line opens, and what it diagnoses. Suites are run again and again: most lines are known."""
    decisive = _is_decisive(line)
    said = _diagnostic(line) if decisive else None
    if decisive and SUMMARY.match(line):
        return Role.SUMMARY, said
    if said is not None and said.role is not Role.DETAIL:
        return said.role, said
    if FAILED.match(line):
        return Role.FAILED, said
    return (Role.PASSED if PASSED.match(line) else None), said


def _diagnostic(line: str) -> Diagnostic | None:
    """The line as a diagnostic; a note belongs to the one above it."""
    for form in _DIAGNOSTICS:
        if found := form.match(line):
            level = found["level"]
            role = Role.DETAIL if level in _NOTES else Role.WARNING if level in _MILD else Role.ERROR
            return Diagnostic(role, found["spot"], found["told"].strip())
    return None
