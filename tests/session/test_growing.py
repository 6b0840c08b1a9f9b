"""What a session does incrementally is what it would do from the beginning."""

from __future__ import annotations

import random
from dataclasses import asdict

import pytest

import holdfast
from holdfast.session import Session
from holdfast.session.recall import Inquiry
from holdfast.stores.artifacts import KEY
from holdfast.stores.in_process import InProcessStore
from tests.session.talks import TOPICS, call, chatter

BUDGET = 1_200
_QUESTIONS = [
    "Which invoice was charged twice?",
    "Where does the parcel go?",
    "What did we say about retries?",
]


def thread(seed: int, turns: int = 40) -> list[list[dict[str, object]]]:
    """What is appended before each fit: inputs of a user, answers, calls with outputs of every
    length.
    """
    chance = random.Random(seed)
    steps: list[list[dict[str, object]]] = [[{"role": "system", "content": "You help."}]]
    for number in range(turns):
        said = chance.choice([*TOPICS, *_QUESTIONS])
        steps.append([{"role": "user", "content": f"{said} ({number})"}])
        for step in range(chance.randrange(6)):
            lines = [
                f"row {number}.{step}.{line}: {chance.random()}"
                for line in range(chance.randrange(1, 40))
            ]
            steps.append(call(100 * number + step, "\n".join(lines)))
        steps.append(chatter(chance.randrange(1, 3), 2 * number + 1))
    return steps


def forgetful(session: Session) -> Session:
    """The session without what it keeps to count on from: its next fit counts from the
    beginning.
    """
    session._last_fit.part = session._last_fit.past_message = None
    return session


def kept():
    """A store whose secret is known, so that what is written here has the same digits in each."""
    store = InProcessStore()
    store.set(KEY, "a secret")
    return store


@pytest.mark.parametrize("seed", range(4))
def test_views_that_grow_are_those_that_are_counted_anew(seed):
    with (
        Session("t", budget=BUDGET, format="openai", store=kept()) as grown,
        Session("t", budget=BUDGET, format="openai", store=kept()) as anew,
    ):
        for at, messages in enumerate(thread(seed)):
            grown.append(*messages, at=float(at))
            anew.append(*messages, at=float(at))
            assert grown.fit() == forgetful(anew).fit()


@pytest.mark.parametrize("seed", range(4))
def test_every_view_is_valid_within_the_budget_and_counted_right(seed):
    with Session("t", budget=BUDGET, format="openai") as session:
        said = []
        for messages in thread(seed):
            session.append(*messages)
            said += messages
            view = session.fit()
            assert view.tokens == holdfast.count(view.messages, format="openai").total <= BUDGET
            assert holdfast.validate(view.messages, provider="openai") == []
            assert view.messages[-1] | {"content": ""} == messages[-1] | {
                "content": ""
            }  # an output may be shrunk
            assert (view.reason == "everything_fits") == (
                holdfast.count(said, format="openai").total <= BUDGET
            )


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_until_the_next_input_the_view_only_grows_at_its_end_or_says_that_it_did_not(seed):
    with Session("t", budget=BUDGET, format="openai") as session:
        before = None
        for messages in thread(seed):
            session.append(*messages)
            view = session.fit()
            if before is not None and view.reason == "grown":
                assert view.messages[: len(before.messages)] == before.messages
                assert view.messages[len(before.messages) :] == messages
            before = view


def test_what_fits_is_in_the_view_as_it_was_said():
    with Session("t", budget=BUDGET) as session:
        session.append(*chatter(200))
        view = session.fit("Which row grows what?")
        assert view.result is None
        assert view.messages[-1] == chatter(200)[-1]


def test_notes_that_change_are_told_and_counted_anew():
    with Session("t", budget=BUDGET) as session:
        session.append(*chatter(200))
        session.fit()
        note = session.remember("The garden is closed on Mondays.")
        told = session.fit()
        assert any("closed on Mondays" in str(message["content"]) for message in told.messages)
        assert told.tokens == holdfast.count(told.messages).total
        session.forget(note)
        assert not any(
            "closed on Mondays" in str(message["content"]) for message in session.fit().messages
        )


@pytest.mark.parametrize("budget", [120, 200, 300, 600])
@pytest.mark.parametrize("noted", [0, 20, 60])
def test_a_view_made_twice_is_the_same_however_much_of_it_notes_take(budget, noted):
    with Session("t", format="openai") as session:
        if noted:
            session.remember("Dana wants it " * (noted // 4))
        for messages in thread(3, turns=8):
            session.append(*messages)
            view = session.fit(budget=budget)
            assert session.fit(budget=budget).messages == view.messages


def test_a_deletion_may_make_everything_fit_again():
    with Session("t", budget=BUDGET) as session:
        session.append({"role": "user", "content": "word " * 2_000}, *chatter(4))
        assert session.fit().reason != "everything_fits"
        session.delete(0)
        assert session.fit().messages == chatter(4)


UNTOLD = {"recalled": None, "made": None, "found": {}, "fits": 0, "spared": 0, "slowest": 0.0}
"""What no event tells: views are made without one, and their number and what they recalled are
kept with the state alone.
"""


@pytest.mark.parametrize("seed", range(3))
def test_a_thread_that_folds_its_own_events_stands_where_one_that_reads_them_does(tmp_path, seed):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url, budget=BUDGET, format="openai") as session:
        for messages in thread(seed, turns=20):
            session.append(*messages)
            session.fit()
        mine = asdict(session._thread.state) | UNTOLD
        session._thread.store.delete("session:t")
        with Session("t", store=url, budget=BUDGET, format="openai") as other:
            assert asdict(other._thread.state) | UNTOLD == mine


def test_only_the_question_asks_for_a_time_and_the_work_beside_it_does_not():
    said = [{"role": "user", "content": f"(8 May 202{n}) The gate was painted."} for n in range(4)]
    with Session("t") as session:
        session.append(*said)
        answers = session._past._retrieval(()).answers
        asked, beside = (
            Inquiry("When was the gate painted in May 2021?"),
            Inquiry("The gate?", "log of May 2021"),
        )
        assert "time" in answers(asked.question, 2e9, asked.work).factors
        assert "time" not in answers(beside.question, 2e9, beside.work).factors


def test_a_view_that_grows_counts_the_tools_that_are_sent_with_it_now():
    parameters = {"type": "object", "properties": {}}
    function = {"name": "read", "description": "Reads a file. " * 40, "parameters": parameters}
    tools = [{"type": "function", "function": function}]
    with Session("t", budget=BUDGET, format="openai") as session:
        for at, messages in enumerate(thread(0, turns=8)):
            session.append(*messages)
            sent = tools if at % 3 else None
            view = session.fit(tools=sent)
            assert (
                view.tokens
                == holdfast.count(view.messages, format="openai", tools=sent).total
                <= BUDGET
            )


def test_the_first_search_after_an_edit_is_as_every_later_one(tmp_path):
    with Session(
        "t", store=f"sqlite:///{tmp_path / 'a.db'}", budget=BUDGET, vectors=False
    ) as session:
        for n in range(10):
            kind, state = ("gateway", "printer")[n % 2], "repaired" if n < 2 else "seen"
            session.append(
                {"role": "user", "content": f"The {kind} of room {n} was {state}; number {n * 7}."}
            )
        session.search("gateway repaired")
        session.edit(4, {"role": "user", "content": "Nothing of note."})
        assert session.search("gateway repaired") == session.search("gateway repaired")
