"""With ``redact=True`` no secret is told again, whoever said it and wherever it is told."""

from __future__ import annotations

import json

import pytest

from holdfast import search_tool
from holdfast.session import Session
from tests.session.talks import chatter

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
QUESTIONS = [None, "Which token do we clone the repository with?", "What did we clone?"]


def call(arguments: dict[str, str], output: str) -> list[dict[str, object]]:
    function = {"name": "clone", "arguments": json.dumps(arguments)}
    asked = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": function}],
    }
    return [asked, {"role": "tool", "tool_call_id": "c", "content": output}]


HOLDERS = {
    "user": [{"role": "user", "content": f"We clone the repository with the token {TOKEN}."}],
    "assistant": [
        {"role": "assistant", "content": f"We cloned the repository with the token {TOKEN}."}
    ],
    "fact": [{"role": "user", "content": f"My token is {TOKEN}."}],
    "arguments": call(
        {"repository": "https://git.example.org/orders/service", "token": TOKEN},
        "cloned the repository",
    ),
    "cut arguments": call(
        {"where": "the repository of the orders " * 2, "token": TOKEN}, "cloned it with the token"
    ),
    "output": call({"repository": "orders"}, f"cloned the repository with the token {TOKEN}"),
}


@pytest.fixture(params=HOLDERS)
def session(request):
    with Session("t", budget=700, redact=True, vectors=False) as session:
        session.append(
            {"role": "user", "content": "Hello."}, *HOLDERS[request.param], *chatter(120, 7)
        )
        session.tend(force=True)
        yield session


def pieces(text: str) -> list[str]:
    """Where 12 characters of the token in a row stand in the text."""
    return [piece for at in range(len(TOKEN) - 11) if (piece := TOKEN[at : at + 12]) in text]


@pytest.mark.parametrize("budget", [300, 700, 2_000])
@pytest.mark.parametrize("question", QUESTIONS)
def test_no_view_tells_it(session, question, budget):
    view = session.fit(question, budget=budget)
    assert view.reason != "everything_fits"
    assert pieces(str(view)) == []


def test_neither_a_search_nor_a_report_nor_a_fact_tells_it(session):
    told = [session.search(QUESTIONS[1]), session.report(), session.report("html"), session.facts()]
    assert told[0]
    assert pieces(str(told)) == []


def test_the_tool_of_a_model_does_not_tell_it(session):
    tool = search_tool(session)
    assert pieces(tool(json.dumps({"query": QUESTIONS[1]}))) == []
    assert [pieces(tool(json.dumps({"message": at}))) for at in range(4)] == [[], [], [], []]


def test_what_is_kept_in_mind_is_masked_and_the_original_is_there(session):
    session.remember(f"clone with {TOKEN}")
    assert pieces(str(session.fit())) == []
    assert "clone with" in str(session.fit())
    assert TOKEN in str(session.restore())
    assert TOKEN in str(session.notes())


def test_recent_turns_that_fit_beside_what_was_found_are_masked_too():
    with Session("t", budget=700, redact=True, vectors=False) as session:
        for n in range(400):
            session.append(
                {"role": "user", "content": f"What says the report of week {n}?"},
                {"role": "assistant", "content": f"It says that part {n * 7} was sold."},
            )
        session.append({"role": "assistant", "content": f"The token is {TOKEN}."})
        session.append({"role": "user", "content": "Thanks."})
        view = session.fit("Which part was sold in week 12?")
    assert view.result is None
    assert pieces(str(view.messages)) == []


def test_turns_that_follow_a_view_are_masked_too():
    held = call({"token": TOKEN}, f"cloned with {TOKEN}")
    lines = "\n".join(f"line {n} of the output says {n * 7}" for n in range(1_000))
    with Session("t", budget=2_000, redact=True, vectors=False) as session:
        session.append({"role": "user", "content": "Look."}, *call({"repository": "a"}, lines))
        session.append({"role": "assistant", "content": "Seen."})
        session.append({"role": "user", "content": "And now?"}, *held)
        session.append({"role": "assistant", "content": f"It is {TOKEN}."})
        session.append({"role": "user", "content": "Next?"})
        views = [session.fit()]
        for _ in range(2):
            session.append(*held)
            views.append(session.fit())
    assert [view.reason for view in views] == ["compacted", "compacted", "grown"]
    assert pieces(str([view.messages for view in views])) == []
