"""Hooks of the whole suite: the account of the generated examples closes the run."""

import json
from collections import Counter

from tests.properties.laws import account


def pytest_terminal_summary(terminalreporter):
    seen: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", []):
        for name, value in getattr(report, "user_properties", ()):
            if name == "laws":
                seen += Counter(json.loads(value))
    if seen:
        terminalreporter.section("generated conversations")
        for line in account(seen):
            terminalreporter.write_line(line)
