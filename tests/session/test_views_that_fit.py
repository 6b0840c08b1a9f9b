"""A view that can fit does, whatever is asked, and is one that the vendor takes."""

import json
from random import Random

import pytest

import holdfast


def table(rng, rows):
    return json.dumps([{"id": rng.randrange(10**6), "note": "word " * rng.randrange(4)} for _ in range(rows)])


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
