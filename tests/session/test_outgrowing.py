from __future__ import annotations

from itertools import pairwise

import pytest

from holdfast import count, validate
from holdfast.session import Session, View
from tests.session.talks import DECIDED, call, outputs

BUDGET = 8_000


def exchanges(count: int, rows: int):
    """Exchanges of one long task, each with something to know."""
    for number in range(count):
        lines = "\n".join(
            f"row {number}.{row}: nothing to see in the depot of Porto" for row in range(rows)
        )
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


def test_each_time_that_a_view_is_made_anew_is_an_event_with_its_reason(session, views):
    moves = [event for event in session.history() if event.kind == "compaction"]
    assert 0 < len(moves) == sum(view.reason == "compacted" for view in views)
    assert {event.reason for event in moves} == {
        "the recent turns outgrew their share of the budget"
    }
    assert all(event.facts["tokens"] <= BUDGET for event in moves)


def test_a_view_that_is_made_anew_has_room_to_grow(views):
    made = [
        view
        for before, view in pairwise(views)
        if view.reason == "compacted" and before.reason == "grown"
    ]
    assert made
    assert all(view.tokens <= 0.85 * BUDGET for view in made)


def test_every_view_is_valid_and_within_its_budget(views):
    assert all(view.tokens <= BUDGET for view in views)
    assert not any(validate(view.messages, "openai") for view in views)


@pytest.mark.parametrize("kind", ["diff", "log", "prose"])
def test_what_users_decided_stays_in_views_when_what_tools_returned_goes(kind):
    texts = outputs(kind)
    budget = count([{"role": "user", "content": text} for text in texts]).total // 12
    with Session("t", budget=budget) as session:
        session.append({"role": "user", "content": "Find out why the export fails, and mend it."})
        for number, output in enumerate(texts):
            session.append(*call(number, output))
            if number < len(DECIDED):
                session.append({"role": "assistant", "content": f"I have read {number}, and now?"})
                session.append({"role": "user", "content": DECIDED[number]})
            view = str(session.fit().messages)
    assert all(decision in view for decision in DECIDED)


def large_output(rows: int):
    """An output far larger than the room of a view, what was said of it, and what comes next."""
    lines = "\n".join(f"row {row} of depot {row * 7919 % 9973}: late" for row in range(rows))
    return [
        {"role": "user", "content": "Find the port of the service."},
        *call(1, f"{lines}\nERROR: the port of service svc-7 is 8007.\n{lines}"),
        {"role": "assistant", "content": "I have read it."},
        {"role": "user", "content": "And what now?"},
    ]


PORT = "Which port has the service svc-7?"


@pytest.mark.parametrize(
    ("rows", "query"), [(500, None), (2_500, None), (10_000, None), (2_500, PORT)]
)
def test_an_output_of_any_size_stays_in_view_as_far_as_there_is_room(rows, query):
    with Session("t", budget=2_000, format="openai") as session:
        session.append(*large_output(rows))
        view = session.fit(query)
        assert view.budget_met
        assert view.tokens > (0.9 if query else 0.75) * 2_000
        assert query is None or "8007" in str(view.messages)


@pytest.mark.parametrize("budget", [400, 1_000, 6_000])
def test_a_question_uses_its_budget_where_all_but_a_pasted_log_is_told(budget):
    output = large_output(2_500)[2]["content"]
    talk = [
        {"role": "user", "content": output},
        {"role": "assistant", "content": "I have read it."},
    ]
    for number in range(4):
        talk.append({"role": "user", "content": f"And what of depot {number}, which waits?"})
        talk.append({"role": "assistant", "content": f"Depot {number} waits for the pump."})
    with Session("t", budget=budget, format="openai") as session:
        session.append(*talk)
        view = session.fit(PORT)
        assert 0.9 * budget < view.tokens <= budget
        assert "8007" in str(view.messages)


def test_an_output_far_larger_than_a_view_is_not_lost_when_the_view_is_made_anew():
    with Session("t", budget=2_000, format="openai") as session:
        session.append(*large_output(10_000))
        for number in range(4):
            said = f"So it is for {number}. " + "It waits. " * 40
            session.append({"role": "assistant", "content": said})
            session.append({"role": "user", "content": f"And what of {number}?"})
            view = session.fit()
            assert "depot" in str(view.messages)
            assert view.budget_met
