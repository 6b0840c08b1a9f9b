from __future__ import annotations

import json

import pytest

from holdfast.session import Session
from tests.session.talks import call

BUDGET = 2_000


def work(first: int, last: int):
    """Exchanges of one long task, each with something to know."""
    for number in range(first, last):
        rows = "\n".join(
            f"row {number}.{row}: nothing to see in the depot of Porto" for row in range(12)
        )
        yield call(number, f"The port of service svc-{number} is {8000 + number}.\n{rows}")


@pytest.fixture
def session(tmp_path):
    """An agent far beyond its window, whose first exchanges have left the recent turns."""
    with Session(
        "t", store=f"sqlite:///{tmp_path / 'a.db'}", budget=BUDGET, format="openai"
    ) as opened:
        opened.append({"role": "user", "content": "Find the port of every service."})
        for exchange in work(0, 160):
            opened.append(*exchange)
            opened.fit()
        yield opened


def told(view) -> str:
    return "\n".join(str(message["content"]) for message in view.messages)


def test_what_left_the_recent_turns_of_an_agent_is_told_in_notes(session):
    view = session.fit()
    assert view.since > 1
    assert any(f"svc-{number}" in told(view) for number in range(view.since // 2 - 2))
    assert view.tokens <= BUDGET


def test_notes_that_were_lost_are_made_again(session, tmp_path):
    view = session.fit()
    session.close()
    with Session(
        "t", store=f"sqlite:///{tmp_path / 'a.db'}", budget=BUDGET, format="openai"
    ) as opened:
        opened._thread.state.made = None
        again = opened.fit()
    assert again.tokens <= BUDGET
    assert any(f"svc-{number}" in told(again) for number in range(view.since // 2 - 2))


def test_another_process_sees_the_same_notes(session, tmp_path):
    session.fit()
    with Session(
        "t", store=f"sqlite:///{tmp_path / 'a.db'}", budget=BUDGET, format="openai"
    ) as opened:
        assert opened._thread.state.made == session._thread.state.made
        assert opened.fit().messages == session.fit().messages


def test_what_is_deleted_is_in_no_notes(session):
    noted = next(number for number in range(160) if f"svc-{number} " in told(session.fit()))
    session.delete(1 + 2 * noted)
    assert f"svc-{noted} " not in told(session.fit())


def test_a_view_tells_notes_and_fits_after_an_undo_too(session):
    session.fit()
    session.undo()
    view = session.fit()
    assert any(f"svc-{number}" in told(view) for number in range(view.since // 2 - 2))
    assert view.tokens <= BUDGET


def test_what_a_view_is_made_of_does_not_grow_with_the_thread(session):
    made = session._thread.state.made
    assert made is not None
    assert made.end - made.start + len(made.earlier) < made.end / 2


def test_the_notes_of_a_larger_budget_are_cut_for_a_smaller_one(session):
    assert session.fit(budget=1_200).tokens <= 1_200


def test_of_history_that_is_folded_only_single_outputs_are_kept_a_second_time(session):
    """Each output that stood in part in a view once, and no transcript of what was folded."""
    session.fit()
    store = session._thread.store
    kept = [store.get_bytes(key) or b"" for key in store.keys("content_")]
    assert not any(b'"kind": "history"' in content[:200] for content in kept)
    assert sum(map(len, kept)) < len(str(session.restore())) / 2


def test_what_a_user_said_between_acts_that_are_text_stays_the_users():
    """Also where the message before it is in no view any more."""
    orders = []
    asked = "I have looked at some more now, and would like to know how you want me to go on."
    with Session("shelves", budget=1_500) as session:
        session.append({"role": "user", "content": "Sort the records of the library, please."})
        for number in range(80):
            act = json.dumps({"do": "open", "record": f"R-{number * 37 + 1000}"})
            row = {"ok": True, "titles": [f"Book {number * 7 + n} of {n}" for n in range(25)]}
            session.append({"role": "assistant", "content": act})
            session.append({"role": "user", "content": json.dumps(row)})
            if number % 6 == 3:
                orders.append(f"Never move the maps of shelf {number}, they are too old for that.")
                session.append({"role": "assistant", "content": asked})
                session.append({"role": "user", "content": orders[-1]})
            view = session.fit().messages
    said = "\n".join(str(message["content"]) for message in view).splitlines()
    found = [line for order in orders for line in said if order in line]
    assert len(found) >= len(orders)
    assert not [line for line in found if line.lstrip().startswith(">")]
