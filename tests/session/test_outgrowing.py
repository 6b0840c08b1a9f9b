from __future__ import annotations

import pytest

from holdfast import validate
from holdfast.session import Session, View
from tests.session.talks import call

BUDGET = 8_000


def exchanges(count: int, rows: int):
    """Exchanges of one long task, each with something to know."""
    for number in range(count):
        lines = "\n".join(f"row {number}.{row}: nothing to see in the depot of Porto" for row in range(rows))
        yield call(number, f"The port of service svc-{number} is {8000 + number}.\n{lines}")


def seen(session: Session, count: int, rows: int) -> list[View]:
    """The views of an agent at work, one after each exchange."""
    session.append({"role": "user", "content": "Find the port of every service."})
    found: list[View] = []
    for exchange in exchanges(count, rows):
        session.append(*exchange)
        found.append(session.fit())
    return found


@pytest.fixture(scope="module")
def session():
    with Session("t", budget=BUDGET, format="openai") as opened:
        yield opened


@pytest.fixture(scope="module")
def views(session):
    return seen(session, 120, 14)


def test_what_is_made_smaller_between_two_inputs_is_an_event_with_its_reason(session, views):
    shrinks = [event for event in session.history() if event.kind == "shrink"]
    moves = sum(event.kind == "compaction" for event in session.history())
    assert 0 < len(shrinks) <= sum(view.reason == "compacted" for view in views) <= len(shrinks) + moves
    assert all(event.facts["to"] < event.facts["from"] for event in shrinks)
    assert f"made smaller {len(shrinks)} times" in session.report()


def test_every_view_is_valid_and_within_its_budget(views):
    assert all(view.tokens <= BUDGET for view in views)
    assert not any(validate(view.messages, "openai") for view in views)
