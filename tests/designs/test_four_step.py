"""The pipeline of llm4s over rounds that hand its output back: one digest that knows every
round.
"""

from __future__ import annotations

import pytest

import holdfast
from holdfast.compressors.digest import StructuredInfo
from holdfast.designs.llm4s import llm4s_history
from holdfast.formats import read
from holdfast.providers.scripted import Scripted

SYSTEM = {"role": "system", "content": "You help with deployments. Never share keys."}
OF_THE_SYSTEM = {
    "role": "system",
    "content": "[HISTORY_SUMMARY]\nIdentifiers: ORD-1111; ORD-2222\nDecisions: We chose blue.",
}


def _digests(messages):
    return [m for m in messages if str(m["content"]).startswith("[HISTORY_SUMMARY]")]


PROFILE = {"profile": "four_step"}
HISTORY_AND_TRIM = {"strategy": ["llm4s_history", "trim"]}


def _rounds(start, budget, chosen=PROFILE, sentences=4):
    """Five rounds of four exchanges, each round about a ticket of its own."""
    messages = start
    for n in range(5):
        for turn in range(4):
            about = f"ticket TKT-{4711 + 13 * n}" if turn == 0 else "that"
            messages = [
                *messages,
                {"role": "user", "content": f"Please look at {about}, it is step {turn}."},
                {"role": "assistant", "content": "It was done as you asked for it. " * sentences},
            ]
        messages = [*messages, {"role": "user", "content": "And what now?"}]
        result = holdfast.compress(messages, budget, **chosen)
        messages = result.messages
        yield result


@pytest.mark.parametrize("budget", [300, 420, 700])
@pytest.mark.parametrize("start", [[SYSTEM], [SYSTEM, OF_THE_SYSTEM]])
@pytest.mark.parametrize("chosen", [PROFILE, HISTORY_AND_TRIM], ids=["profile", "list"])
@pytest.mark.parametrize("sentences", [4, 16])
def test_five_rounds_leave_one_digest_that_names_what_every_round_was_about(
    start, budget, chosen, sentences
):
    results = list(_rounds(start, budget, chosen, sentences))
    for result in results:
        assert len(_digests(result.messages)) <= 1
        assert result.budget_met
        assert not result.degraded
    last = results[-1].messages
    assert len(_digests(last)) == 1
    named = "\n".join(m["content"] for m in last)
    assert [n for n in range(5) if f"TKT-{4711 + 13 * n}" not in named] == []
    if OF_THE_SYSTEM in start:
        assert "ORD-1111" in named


@pytest.mark.parametrize("chosen", [PROFILE, HISTORY_AND_TRIM], ids=["profile", "list"])
def test_where_roles_must_alternate_the_digest_has_an_answer(chosen):
    def said(role, text):
        return {"role": role, "content": [{"text": text}]}

    messages = []
    for n in range(5):
        for turn in range(4):
            about = f"ticket TKT-{4711 + 13 * n}" if turn == 0 else "that"
            messages.append(said("user", f"Please look at {about}, it is step {turn}."))
            messages.append(said("assistant", "It was done as you asked for it. " * 4))
        messages.append(said("user", "And what now?"))
        body = {"modelId": "m", "system": [{"text": "Be brief."}], "messages": messages}
        result = holdfast.compress(body, 320, **chosen)
        assert result.budget_met
        assert holdfast.validate(result.messages) == []
        assert holdfast.compress(result.messages, 320, **chosen).messages == result.messages
        messages = [*result.messages["messages"], said("assistant", "Nothing.")]
    named = str(messages)
    assert named.count("[HISTORY_SUMMARY]") == 1
    assert [n for n in range(5) if f"TKT-{4711 + 13 * n}" not in named] == []


@pytest.mark.parametrize("words", [60, 120, 180])
def test_a_digest_gives_way_to_a_long_question_and_stays(words):
    *_, result = _rounds([SYSTEM], 300)
    question = {"role": "user", "content": "word " * words}
    answer = {"role": "assistant", "content": "ok"}
    after = holdfast.compress([*result.messages, answer, question], 300, profile="four_step")
    assert after.budget_met
    assert after.messages[-1] == question
    (digest,) = _digests(after.messages)
    assert "TKT-" in digest["content"]


def test_a_model_squeezes_the_digest_where_it_must_be_shorter():
    *_, result = _rounds([SYSTEM], 300)
    model = Scripted("Five tickets were looked at, all done.")
    messages = [
        *result.messages,
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "word " * 180},
    ]
    after = holdfast.compress(messages, 300, profile="four_step", llm=model)
    (squeeze,) = (step for step in after.steps if step.name == "LLMHistorySqueeze")
    assert squeeze.reason == "squeezed"
    assert len(model.calls) == 1
    assert "Five tickets were looked at" in _digests(after.messages)[0]["content"]
    assert after.budget_met


def test_a_digest_alone_leaves_nothing_to_be_shortened_by_a_model():
    messages = [SYSTEM]
    for n in range(9):
        asked = {"role": "user", "content": f"Please look at ticket TKT-{4711 + 13 * n}. " * 4}
        messages = [*messages, asked, {"role": "assistant", "content": "It was done. " * 4}]
    alone = holdfast.compress(messages, 420, strategy="llm4s_history")
    beside = holdfast.compress(messages, 420, strategy="llm4s_history", llm=Scripted("notes"))
    assert alone.budget_met
    assert beside.messages == alone.messages


def test_exact_things_are_found_by_the_eight_kinds_of_the_design():
    call = {"name": "look_up", "arguments": '{"order": "ORD-12345"}'}
    messages = [
        {"role": "user", "content": "You must never ship to CUST-789 without a signature."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "status: 404\nThe request failed."},
        {
            "role": "assistant",
            "content": "We agreed on a refund. See "
            "https://example.com/orders. The result is final.",
        },
    ]
    assert StructuredInfo.of(read(messages)[2].messages) == StructuredInfo(
        identifiers=("CUST-789", "ORD-12345"),
        urls=("https://example.com/orders",),
        status_codes=("404",),
        tools=("look_up",),
        decisions=("We agreed on a refund.",),
        constraints=("You must never ship to CUST-789 without a signature.",),
        errors=("status: 404", "The request failed."),
        outcomes=("The result is final.",),
    )


def test_what_an_older_digest_lists_is_listed_in_the_next_one():
    talk = [
        {"role": ("user", "assistant")[n % 2], "content": f"Words number {n}. " * 9}
        for n in range(9)
    ]
    result = holdfast.compress([OF_THE_SYSTEM, *talk], 100, strategy=llm4s_history(1))
    (digest,) = _digests(result.messages)
    assert "ORD-1111; ORD-2222" in digest["content"]
    assert "Decisions: We chose blue." in digest["content"]
