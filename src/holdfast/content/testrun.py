"""The content kind ``testrun``: failures with their reasons, compiler messages, and the outcome."""

from __future__ import annotations

import re

from .lossy import MOST, LossyKind, rows

_SAMPLE = 64_000  # characters that are examined, half of them from the end
_FEWEST = 3  # matching lines
_TOLD, _COVERED = 0.03, 0.7  # least share of matching lines with an outcome, and without one
_LONGEST = 300  # characters of a line that are examined

_NODE = r"(?=\S\S*?::)\S++"  # a file and a test in it, as pytest names them

OUTCOME = re.compile(
    # pytest
    r"=*+ ?(?:\d+ (?:passed|failed|errors?|skipped|deselected|x\w+)\b.{0,120} in \d|no tests ran)"
    r"|[^\d\n]{0,40}\b\d+ (?:passed|failed), \d+ (?:passed|failed)"
    r"|Ran \d+ tests? in |FAILED \((?:failures|errors)|OK(?: \(.{0,80}\))?$"  # unittest
    r"|(?:Tests|Test Suites): +\d| *+(?:Tests|Test Files) +\d"  # jest, vitest
    r"|\s++\d+ (?:passing|failing|pending)\b.{0,20}$"  # mocha
    r"|(?:ℹ|#) (?:tests|pass|fail) \d"  # node
    r"|test result: |error: (?:could not compile|aborting due|test failed)"  # cargo
    r"|FAIL$|FAIL\t\S"  # go
    # maven
    r"|(?:\[\w+\] )?Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$"
    r"|(?:\[\w+\] )?BUILD [A-Z]"
    r"|\d+ tests completed|\d+% tests passed"  # gradle, ctest
    r"|Found \d+ errors?|All checks passed|Success: no issues"
    r"|\d+ (?:errors?|warnings?)\b.{0,40}$|✖ \d+ problems?"
    r"|make(?:\[\d+\])?: \*\*\*|collect2: error|ninja: build stopped|npm ERR! code"
)
_FAILED = re.compile(
    # pytest
    rf"(?:FAILED|ERROR) \S|_{{3,}}+ .{{1,200}} _{{3,}}+$|{_NODE} .{{0,80}}?\b(?:FAILED|ERROR)\b"
    r"|(?:FAIL|ERROR): |.{1,200} \.\.\. (?:FAIL|ERROR)$"  # unittest
    r"|\s*+(?:● |[✕✖✗×] |not ok \d|--- FAIL: )|FAIL +\S|\s++\d+\) \S"  # jest, node, TAP, go, mocha
    r"|test .{1,200} \.\.\. FAILED|---- .{1,200} stdout ----"  # cargo
    r"|\[ERROR\] .{1,200}(?:FAILURE|ERROR)!|\[ERROR\]   \S|\S++ > .{1,200} FAILED"  # maven, gradle
    r"|.{1,200}\*\*\*(?:Failed|Exception|Timeout)"  # ctest
)
_PASSED = re.compile(
    rf"{_NODE} .{{0,80}}?\b(?:PASSED|SKIPPED|XFAIL|XPASS)\b|\S++ [.sxXFEp]++ +\[ *\d+%\]"  # pytest
    r"|[.sxXFEp]{3,}+(?: +\[ *\d+%\])?$"
    r"|[^\s\d]\S{3,200} +(?:ok|OK|pass|passed|PASS|PASSED)$|(?:PASSED|SKIPPED) \S++$"
    r"|.{1,200} \.\.\. (?:ok|ignored|skipped .{0,80}|expected failure)$"
    r"|\s*+(?:[✓✔√○﹣▶] |ok \d|# Subtest: |--- (?:PASS|SKIP))|=== (?:RUN|PAUSE|CONT|NAME)"
    r"|PASS(?:$| +\S)"
    r"|ok\s+\S++\s+(?:\(cached\)|[\d.]+s)|\?\s+\S++\s+\[no test"
    r"|\s*+(?:Compiling|Download(?:ing|ed)|Checking|Finished|Running|Building|Install(?:ing|ed)"
    r"|Updating|Locking) "
    r"|\[INFO\]|\[ *\d+%\] |\[\d+/\d+\] |(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ar|rustc|javac) -?\S"
    r"|make(?:\[\d+\])?: (?:Entering|Leaving|Nothing)|> Task :|running \d+ tests?$"
    r"|Tests run: .{1,120}Time elapsed"
)
_SPOT = (
    r"(?:(?:[A-Za-z]:)?[^\s:()'\"][^:()'\"]{0,200}+(?::\d+){1,2}|[^\s:()]{1,200}+\(\d+(?:,\d+)?\))"
)
_DIAGNOSTIC = re.compile(
    "|".join(
        (
            rf"\s*+{_SPOT}(?::| -) (?:fatal error|error|warning|note|info|hint)\b:?(?:.*)",
            rf"{_SPOT}: (?:[A-Z]{{1,5}}\d{{2,5}}) (?:.*)",  # ruff, flake8, pylint
            r"(?:)(?:error|warning)(?:\[\w+\])?: (?:.*)",  # rustc
            r"(?:)(?:[A-Z]{1,5}\d{2,5}) (?:\[\*\] .*|[A-Z`].*)",  # ruff
            r"\s++(?:\d+:\d+) +(?:error|warning) +(?:.*)",  # eslint
            r"(?:[ew]): (?:file:\S+:\d+:\d+) (?:.*)",  # kotlinc
            r"\[(?:ERROR|WARNING)\] (?:\S+:\[\d+,\d+\]) (?:.*)",  # maven
            r"(?:)(?:\S++:)(?:.{0,80}(?:undefined reference|multiple definition) .*)",  # ld
        ),
    )
)


class TestRun(LossyKind):
    """Test runs, builds, type checks and lints."""

    __test__ = False  # or pytest would collect it
    name = "testrun"

    def fit(self, text: str) -> float:
        """The share of the lines with an outcome, a failed or passed test, or a diagnostic."""
        half = _SAMPLE // 2
        looked_at = text if len(text) <= _SAMPLE else f"{text[:half]}\n{text[-half:]}"
        lines = [line[:_LONGEST] for line in rows(looked_at) if line.strip()]
        outcomes, diagnosed, failed, passed = (
            sum(pattern.match(line) is not None for line in lines)
            for pattern in (OUTCOME, _DIAGNOSTIC, _FAILED, _PASSED)
        )
        outcomes += failed > 0 and failed + passed > _FEWEST and passed > 0
        telling = outcomes + diagnosed + failed + passed
        own = sum(not line[0].isspace() for line in lines)  # indented lines are quotations
        share = min(1.0, telling / max(own, 1))
        if telling < _FEWEST:
            return 0.0
        if outcomes and telling > outcomes:
            return MOST + share / 2 if share >= _TOLD else share
        return share if diagnosed >= _FEWEST and share >= _COVERED else 0.0
