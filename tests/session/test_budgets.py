"""The budget of a view is hard: what somebody wants kept in mind gives way too, and the
smallest that is told will do.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import pytest

from holdfast.kernel.budget import Budget
from holdfast.kernel.errors import BudgetError
from holdfast.session import Session
from tests.session.talks import chatter
from tests.session.test_growing import thread
from tests.session.test_pairing import CALL, RESULT

_LONG = " ".join(f"rule {n} holds." for n in range(900))


@pytest.mark.parametrize("budget", [400, 800, 3_000])
@pytest.mark.parametrize("query", [None, "Which rule holds?"])
def test_a_long_text_that_is_to_be_kept_in_mind_loses_its_middle_in_views(budget, query):
    with Session("t", budget=budget) as session:
        session.append(*chatter(80, 5))
        session.remember("The port is 5433.")
        session.remember(_LONG)
        view = session.fit(query)
        assert view.budget_met
        assert "- The port is 5433.\n- rule 0 holds." in str(view.messages[0]["content"])
        assert "rule 899 holds." in str(view.messages[0]["content"])
        assert _LONG in session.notes().values()


def test_texts_that_are_to_be_kept_in_mind_stand_whole_where_they_fit():
    with Session("t", budget=12_000) as session:
        session.append(*chatter(2_000, 5))
        session.remember(_LONG)
        assert f"- {_LONG}\n" in str(session.fit().messages[0]["content"]) + "\n"


@pytest.mark.parametrize("query", [None, "Which parcel was late?"])
@pytest.mark.parametrize(("limit", "pinned"), [(10, True), (60, True), (140, True), (10, False)])
def test_the_smallest_budget_that_is_told_will_do(query, limit, pinned):
    with Session("t", format="openai") as session:
        session.append(
            *chain.from_iterable(thread(1, turns=12)), {"role": "user", "content": _LONG[:2_000]}
        )
        if pinned:
            session.pin(4)
        with pytest.raises(BudgetError) as refused:
            session.fit(query, budget=Budget(limit=limit, hard=True))
        least = refused.value.smallest
        assert session.fit(query, budget=Budget(limit=least, hard=True)).budget_met
        soft = session.fit(query, budget=limit)
        assert not soft.budget_met
        assert session.fit(query, budget=soft.smallest).budget_met


@pytest.mark.parametrize("budget", [Budget(limit=90, headroom=0.2), Budget(window=90, reserve=60)])
def test_the_smallest_budget_has_the_headroom_and_the_reserve_of_the_one_that_failed(budget):
    with Session("t", format="openai") as session:
        session.append({"role": "user", "content": _LONG[:2_000]})
        session.pin(0)
        least = session.fit(budget=budget).smallest
        assert session.fit(budget=replace(budget, limit=least, window=None)).budget_met


def test_a_view_that_grows_with_its_room_is_followed_to_where_it_is_met():
    with Session("t", format="anthropic", counter="words") as session:
        session.append({"role": "user", "content": "one two three four five six seven eight nine"})
        session.append(
            {"role": "assistant", "content": "ok " * 90}, {"role": "user", "content": "go"}
        )
        session.append(CALL["anthropic"]("a"), RESULT["anthropic"]("a", "x rows " * 40))
        session.append(
            {"role": "assistant", "content": "ok " * 90}, {"role": "user", "content": "now " * 60}
        )
        session.pin(3)
        least = session.fit(budget=10).smallest
        assert session.fit(budget=least).budget_met
        assert session.fit(budget=least).smallest is None
