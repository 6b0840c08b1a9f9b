from __future__ import annotations

from itertools import takewhile

import pytest

from holdfast import validate
from holdfast.session import Session, View
from holdfast.session.folding import HEADING
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


def pages(view) -> int:
    return sum(HEADING in str(message["content"]) for message in view.messages)


def same(before, after) -> int:
    """How many messages two views begin with alike."""
    return sum(
        1 for _ in takewhile(lambda two: two[0] == two[1], zip(before.messages, after.messages, strict=False))
    )


def test_what_outgrows_its_room_becomes_a_page_of_notes_behind_those_that_stand(views):
    folds = [(a, b) for a, b in zip(views, views[1:], strict=False) if pages(b) > pages(a)]
    assert folds
    for before, after in folds:
        assert same(before, after) >= 2
        assert after.reason == "compacted"
        assert len(after.messages) < len(before.messages) + 2


def test_a_page_says_what_was_called_and_what_it_gave(views):
    page = next(m["content"] for view in views for m in view.messages if HEADING in str(m["content"]))
    assert "read(path file-" in page
    assert "svc-" in page


def test_what_is_made_smaller_between_two_inputs_is_an_event_with_its_reason(session, views):
    shrinks = [event for event in session.history() if event.kind == "shrink"]
    moves = sum(event.kind == "compaction" for event in session.history())
    assert 0 < len(shrinks) <= sum(view.reason == "compacted" for view in views) <= len(shrinks) + moves
    assert all(event.facts["to"] < event.facts["from"] for event in shrinks)
    assert any("became notes" in event.reason for event in shrinks)
    assert f"made smaller {len(shrinks)} times" in session.report()


def test_every_view_is_valid_and_within_its_budget(views):
    assert all(view.tokens <= BUDGET for view in views)
    assert not any(validate(view.messages, "openai") for view in views)


def test_pages_give_way_to_a_view_made_anew_so_that_recent_turns_keep_their_room(views):
    assert any(pages(b) < pages(a) for a, b in zip(views, views[1:], strict=False))
    assert all(view.messages[-1]["role"] == "tool" for view in views)
