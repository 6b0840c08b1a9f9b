"""A view that can fit does, whatever is asked, and is one that the vendor takes."""

import json
from random import Random

import pytest

import holdfast
from tests.session.talks import call
from tests.session.test_view import work


def table(rng, rows):
    return json.dumps(
        [{"id": rng.randrange(10**6), "note": "word " * rng.randrange(4)} for _ in range(rows)]
    )


@pytest.mark.parametrize("form", ["openai", "anthropic", "bedrock"])
@pytest.mark.parametrize("seed", range(8))
def test_a_question_is_met_where_a_view_without_one_is(form, seed):
    rng = Random(seed)
    messages = []
    for n in range(rng.randrange(2, 7)):
        said = rng.choice((f"And {n}?", table(rng, 120), f"Look: {table(rng, 30)}\nWhich?"))
        messages += [
            {"role": "user", "content": said},
            {"role": "assistant", "content": f"I see row {n}. " * rng.randrange(1, 30)},
        ]
    with holdfast.Session("t", budget=300, format=form) as session:
        session.append(*messages)
        session.delete(0)
        for question in (None, "which row was it?", None, "and the notes of row 3?"):
            view = session.fit(question)
            assert view.budget_met
            assert holdfast.validate(view.messages, provider=form) == []
            assert view.messages[0]["role"] == "user"


def test_what_the_user_said_last_gives_way_where_the_frame_of_the_newest_exchange_needs_the_room():
    words = (
        "Please also write down why the depot of Porto closes at 17:45, and keep ORD-7731 "
        "out of it."
    )
    many = [call(n, f"The port is {n}.\n" + "row\n" * 60) for n in range(20, 40)]
    calls = [each for made, _ in many for each in made["tool_calls"]]
    exchange = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        *(result for _, result in many),
    ]
    messages = [*work(6), {"role": "user", "content": words}, *list(work(12))[1:], *exchange]
    smallest = next(
        b for b in range(400, 600, 10) if holdfast.compress(messages, b, format="openai").budget_met
    )
    for budget in range(smallest, smallest + 40, 10):
        with holdfast.Session("t", budget=budget, format="openai") as session:
            session.append(*messages)
            assert session.fit().budget_met


def test_a_question_is_answered_within_the_budget_where_a_large_file_stands_near_the_end():
    document = {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}}
    session = holdfast.Session("t", budget=2_000, format="anthropic")
    for number in range(20):
        session.append(
            {"role": "user", "content": f"The port of host {number} is {8000 + number}. " * 9},
            {"role": "assistant", "content": "Noted. " * 9},
        )
    session.append(
        {"role": "user", "content": [document, {"type": "text", "text": "Read this."}]},
        {"role": "assistant", "content": "I have read it."},
    )
    assert session.fit().budget_met
    view = session.fit("Which port has host 7?")
    assert view.budget_met
    assert "8007" in str(view.messages)


NAMES = ("anna", "boris", "clara", "dmitri", "elena", "frank", "greta", "hugo")


@pytest.mark.parametrize("budget", range(250, 420, 10))
def test_what_is_recalled_takes_no_room_from_the_newest_exchange(budget):
    with holdfast.Session("t", budget=budget, format="openai") as session:
        for n, name in enumerate(NAMES * 3):
            asked = f"Can you look up the order of {name}? It is number W{1000 + n}, a lamp."
            told = f"The order W{1000 + n} of {name} should arrive on May {n + 1}. Anything else?"
            session.append({"role": "user", "content": asked})
            session.append({"role": "assistant", "content": told})
        newest = "Then look up the orders of anna, boris and clara again, and cancel what you can."
        session.append({"role": "user", "content": newest})
        outputs = [
            json.dumps(
                {"order": f"W100{n}", "state": "open", "items": [*map(str.title, NAMES)] * 3}
            )
            for n in range(3)
        ]
        made = [call(n, output) for n, output in enumerate(outputs)]
        calls = [each for calling, _ in made for each in calling["tool_calls"]]
        session.append({"role": "assistant", "content": None, "tool_calls": calls})
        session.append(*(result for _, result in made))
        shown = session.fit().messages
    assert newest in [message["content"] for message in shown]
    assert all(f"W100{n}" in message["content"] for n, message in enumerate(shown[-3:]))
