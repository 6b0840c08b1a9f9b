"""Who opens a thread again is given the view that who closed it had, and what budgets there
were leaves no trace.
"""

from __future__ import annotations

from itertools import chain, pairwise

import pytest

from holdfast.session import Session
from holdfast.session.state import State
from tests.session.talks import call, chatter
from tests.session.test_growing import thread


def opened(tmp_path, budget: int) -> Session:
    return Session("t", store=f"sqlite:///{tmp_path / 'a.db'}", budget=budget, format="openai")


@pytest.mark.parametrize("budget", [900, 2_500, 8_000])
@pytest.mark.parametrize("seed", range(3))
def test_a_thread_that_is_opened_for_each_fit_has_one_view(tmp_path, seed, budget):
    with opened(tmp_path, budget) as session:
        session.append(*chain.from_iterable(thread(seed)))
    views = []
    for _ in range(3):
        with opened(tmp_path, budget) as session:
            views.append(session.fit().messages)
    assert views[0] == views[1] == views[2]


def test_what_comes_meanwhile_stands_behind_the_view_as_it_was(tmp_path):
    with opened(tmp_path, 8_000) as session:
        session.append(*chain.from_iterable(thread(1)))
    views = []
    for step in range(4):
        with opened(tmp_path, 8_000) as session:
            views.append(session.fit().messages)
            session.append(*call(9_000 + step, f"step {step} is done"))
    for before, after in pairwise(views):
        assert after[: len(before)] == before


def test_a_state_that_was_kept_is_read_as_it_was(tmp_path):
    with opened(tmp_path, 900) as session:
        session.append(*chain.from_iterable(thread(2)))
        session.pin(4)
        session.remember("the port is 5433")
        session.edit(3, {"role": "user", "content": "something else"})
        session.delete(6)
        session.fit()
        state = session._thread.state
    read = State.from_json(state.to_json())
    assert read.made == state.made is not None
    assert read.to_json() == state.to_json()


@pytest.mark.parametrize("agent", [True, False])
def test_a_small_view_in_between_leaves_the_larger_ones_what_they_had(agent):
    messages = list(chain.from_iterable(thread(3))) if agent else chatter(400, 0)
    with Session("a", format="openai") as session, Session("b", format="openai") as other:
        session.append(*messages)
        other.append(*messages)
        for budget in (3_000, 900):
            session.fit(budget=budget)
        other.fit(budget=7_000)
        assert session.fit(budget=6_000).since <= other.fit(budget=5_000).since
        reasons = [event.reason for event in session.history() if event.kind == "compaction"]
    assert reasons[-1] == "the budget has room for more of the recent turns"


def test_what_the_system_says_stands_first_where_all_recent_turns_are_made_smaller():
    outputs = (
        call(n, "\n".join(f"row {n}.{line} of the port scan" for line in range(90)))
        for n in range(12)
    )
    with Session("t", budget=6_000, format="openai") as session:
        session.append(
            {"role": "system", "content": "You help."},
            {"role": "user", "content": "Which port is open? It is 5433."},
        )
        session.append(
            *chain.from_iterable(outputs), {"role": "user", "content": "Which port was open?"}
        )
        view = session.fit()
    assert "5433" in str(view.messages)
    assert [message["role"] for message in view.messages].index("system") == 0
