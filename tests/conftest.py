"""Hooks of the whole suite: the account of the generated examples closes the run.

Hypothesis draws the same examples in every run, so that what passes here passes everywhere;
``--hypothesis-profile=default`` draws others.
"""

import json
from collections import Counter

import pytest
from hypothesis import settings

from tests.properties.laws import account

settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")


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


@pytest.fixture
def room_for_memos(monkeypatch):
    """All memos of a process share their room: what other tests left there makes none forget."""
    monkeypatch.setattr("holdfast.text.memo.MOST_BYTES", 10**12)
