"""A thread may hold calls without results, results without calls, and what was changed later:
views are valid.
"""

from __future__ import annotations

import random

import pytest

import holdfast
from holdfast.session import Session
from tests.session.talks import talk

CALL = {
    "openai": lambda *ids: {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": name, "type": "function", "function": {"name": "read", "arguments": "{}"}}
            for name in ids
        ],
    },
    "anthropic": lambda *ids: {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": name, "name": "read", "input": {}} for name in ids],
    },
}
RESULT = {
    "openai": lambda name, text: {"role": "tool", "tool_call_id": name, "content": text},
    "anthropic": lambda name, text: {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": name, "content": text}],
    },
}
USER = {"role": "user", "content": "go on"}
SAID = {"role": "assistant", "content": "it is done"}
WIRES = ["openai", "anthropic"]
FORMATS = {"openai": "openai_chat", "anthropic": "anthropic", "bedrock": "bedrock"}


def session_of(wire, **options):
    return Session("t", budget=400, format=FORMATS[wire], **options)


@pytest.mark.parametrize("wire", WIRES)
def test_a_result_without_its_call_is_kept_told_and_sent_with_one(wire):
    session = session_of(wire)
    orphan = RESULT[wire]("lost", "42 rows")
    assert session.append(USER, orphan) == [0, 1]
    view = session.fit()
    assert holdfast.validate(view.messages, provider=wire) == []
    assert "42 rows" in str(view.messages)
    assert session.restore() == [USER, orphan]
    (event,) = session.history()
    assert (event.kind, event.reason) == (
        "fault",
        "a call and its result were appended apart from each other; all is kept, and views mend it",
    )
    assert session.faults == (
        "1 message parted a call from its result; all is kept, and views mend it",
    )


@pytest.mark.parametrize("wire", WIRES)
def test_a_program_that_ended_between_a_call_and_its_result_goes_on_where_it_was(wire, tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with session_of(wire, store=url) as session:
        session.append(USER, CALL[wire]("a", "b"))
        session._thread.save = lambda: None  # as if it had been killed
    with session_of(wire, store=url) as session:
        assert session.faults == ()
        assert session.fit().messages == [USER, CALL[wire]("a", "b")]  # it may still be under way
        session.append(USER)
        view = session.fit()
        assert holdfast.validate(view.messages, provider=wire) == []
        assert "go on" in str(view.messages[-1]["content"])
        assert len(session.faults) == 1


def test_a_call_that_is_under_way_stays_so_though_another_one_never_ended():
    session = session_of("openai")
    session.append(
        USER, CALL["openai"]("a"), USER, CALL["openai"]("b", "c"), RESULT["openai"]("b", "x")
    )
    view = session.fit()
    assert view.messages[-2:] == [CALL["openai"]("b", "c"), RESULT["openai"]("b", "x")]
    assert [each.problem for each in holdfast.validate(view.messages, provider="openai")] == [
        "tool call 'c' has no result"
    ]


def test_whole_exchanges_are_no_fault_and_their_messages_are_sent_as_they_are():
    session = session_of("openai")
    messages = [
        USER,
        CALL["openai"]("a", "b"),
        RESULT["openai"]("b", "x"),
        RESULT["openai"]("a", "y"),
        USER,
    ]
    session.append(*messages)
    assert session.fit().messages == messages
    assert session.history() == []
    assert session.faults == ()


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("budget", [400, 4_000])
def test_calls_that_are_counted_anew_in_each_turn_are_told_apart_where_the_wire_wants_it(
    wire, budget
):
    turn = [USER, CALL[wire]("0"), RESULT[wire]("0", "some words of a result"), SAID]
    session = session_of(wire)
    for _ in range(12):
        for message in turn:
            session.append(message)
            view = session.fit(budget=budget)
            assert view.budget_met
            if message != turn[1]:  # a call that is under way has no result yet
                assert holdfast.validate(view.messages, provider=wire) == []
    assert session.restore() == 12 * turn
    assert session.faults == ()


@pytest.mark.parametrize("query", [None, "node-17"])
@pytest.mark.parametrize("turns", [1, 80])
def test_a_door_that_is_stricter_than_its_wire_takes_every_view(turns, query):
    session = session_of("bedrock")
    session.remember("Answer in one line.")
    session.append(*talk(turns))
    for message in (
        {"role": "user", "content": "And now?"},
        {"role": "user", "content": "Are you there?"},
    ):
        session.append(message)
        view = session.fit(query)
        assert holdfast.validate(view.messages, provider="bedrock") == []
        assert view.budget_met
        assert view.tokens == holdfast.count(view.messages, format="bedrock").total
        assert message["content"] in str(view.messages[-1])


@pytest.mark.parametrize("query", [None, "which parcel was late?"])
@pytest.mark.parametrize("budget", [150, 300, 500, 800])
def test_results_that_a_user_hands_over_with_words_stand_with_their_calls(budget, query):
    handed = RESULT["anthropic"]("first", "42 rows " * 20)
    handed["content"].append({"type": "text", "text": "Keep it short."})
    session = Session("t", budget=budget, format="anthropic")
    session.append(*talk(20)[1:], USER, CALL["anthropic"]("first"), handed)
    for n in range(8):
        session.append(CALL["anthropic"](f"c{n}"), RESULT["anthropic"](f"c{n}", "some rows " * 20))
    view = session.fit(query)
    assert holdfast.validate(view.messages, provider="anthropic") == []
    assert budget < 300 or "Keep it short." in str(view.messages)


@pytest.mark.parametrize("wire", WIRES)
def test_a_stray_result_behind_a_call_under_way_is_mended(wire):
    session = session_of(wire)
    session.append(USER, CALL[wire]("a", "b"), RESULT[wire]("lost", "42 rows"))
    view = session.fit()
    left = holdfast.validate(view.messages, provider=wire)
    assert left
    assert all("has no result" in each.problem for each in left)  # the calls may still be under way
    assert view.messages[-1] == CALL[wire]("a", "b")
    assert "42 rows" in str(view.messages[:-1])


@pytest.mark.parametrize("change", ["pin", "delete"])
def test_a_view_begins_with_a_user_where_the_wire_wants_it_whatever_was_pinned_or_deleted(change):
    session = session_of("anthropic")
    session.append(*talk(2 if change == "delete" else 80)[1:])
    if change == "pin":
        session.pin(1)
    else:
        session.delete(0)
    view = session.fit()
    assert view.budget_met
    assert holdfast.validate(view.messages, provider="anthropic") == []
    assert "node-17" in str(view.messages)


@pytest.mark.parametrize("turns", [2, 80])
def test_a_view_of_a_talk_that_an_assistant_opens_begins_with_a_user_where_the_wire_wants_it(turns):
    session = session_of("anthropic")
    session.append(
        {"role": "assistant", "content": "Hello! What can I do for you?"}, *talk(turns)[1:]
    )
    view = session.fit()
    assert view.budget_met
    assert holdfast.validate(view.messages, provider="anthropic") == []
    assert session.restore()[0]["content"] == "Hello! What can I do for you?"


def test_an_edit_that_takes_a_call_away_leaves_a_valid_view():
    session = session_of("openai")
    session.append(USER, CALL["openai"]("a"), RESULT["openai"]("a", "y"), USER)
    session.edit(1, {"role": "assistant", "content": "I need no tool."})
    assert holdfast.validate(session.fit().messages, provider="openai") == []


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_appended_every_view_is_valid_and_within_its_budget(wire, seed):
    chance = random.Random(seed)
    session = session_of(wire)
    session.append(USER)
    said = iter(talk(200)[1:])
    for n in range(60):
        name = f"c{chance.randrange(n + 1)}"
        kind = chance.choice(["said", "said", "call", "exchange", "orphan"])
        if kind == "said":
            session.append(next(said))
        elif kind == "call":
            session.append(CALL[wire](f"n{n}", f"m{n}"), RESULT[wire](f"m{n}", "half " * 9), USER)
        elif kind == "exchange":
            session.append(
                CALL[wire](f"n{n}"), RESULT[wire](f"n{n}", "whole " * chance.randrange(90))
            )
        else:
            session.append(RESULT[wire](name, "an orphan"), USER)
        for query in (None, "parcel"):
            view = session.fit(query, budget=chance.choice([300, 400, 700]))
            assert view.budget_met
            assert view.tokens == holdfast.count(view.messages, format=FORMATS[wire]).total
            assert holdfast.validate(view.messages, provider=wire) == []


SILENT = {
    "openai": [{"content": None}, {"content": "Done.", "tool_calls": []}],
    "anthropic": [{"content": []}, {"content": ""}, {"content": [{"type": "text", "text": ""}]}],
}


@pytest.mark.parametrize(
    ("wire", "silent"), [(wire, each) for wire in WIRES for each in SILENT[wire]]
)
@pytest.mark.parametrize("named", [True, False])
def test_a_message_that_the_wire_refuses_is_kept_and_mended_in_views(tmp_path, wire, silent, named):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    options = {"budget": 400, "store": url} | ({"format": FORMATS[wire]} if named else {})
    messages = [
        USER,
        {"role": "assistant", **silent},
        USER,
        CALL[wire]("a"),
        RESULT[wire]("a", "x"),
    ]
    with Session("t", **options) as session:
        for message in messages:
            session.append(message)
        assert holdfast.validate(session.fit().messages, provider=wire) == []
        assert session.faults == ()
    with Session("t", **options) as session:
        assert session.restore() == messages
        assert holdfast.validate(session.fit().messages, provider=wire) == []


def test_a_call_under_way_that_no_view_has_room_for_leaves_the_rest_of_it_valid():
    calls, result = CALL["openai"], RESULT["openai"]
    session = session_of("openai")
    session.append(USER, calls("a"), result("a", "x"), USER, calls("b"), result("lost", "42 rows"))
    session.pin(1)
    session.append({**calls("c"), "content": "so it goes " * 800}, result("gone", "7 rows " * 200))
    view = session.fit()
    broken = holdfast.validate(view.messages, provider="openai")
    assert [each.problem for each in broken if "has no call" in each.problem] == []


THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc" * 40}
ITEMS = {
    "a call": [
        THOUGHT,
        {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "42 rows"},
    ],
    "calls made together": [
        THOUGHT,
        {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"},
        {"type": "function_call", "call_id": "b", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "42 rows"},
        {"type": "function_call_output", "call_id": "b", "output": "43 rows"},
    ],
    "an approval": [
        {"type": "mcp_approval_request", "id": "m", "server_label": "s", "name": "n"},
        {"type": "mcp_approval_response", "approval_request_id": "m", "approve": True},
    ],
    "a screen": [
        {"type": "computer_call", "call_id": "a", "action": {"type": "screenshot"}},
        {
            "type": "computer_call_output",
            "call_id": "a",
            "output": {"type": "computer_screenshot", "image_url": "https://example.org/a.png"},
        },
    ],
}


@pytest.mark.parametrize("query", [None, "How many rows?"])
@pytest.mark.parametrize("items", ITEMS.values(), ids=list(ITEMS))
def test_recent_turns_begin_with_a_whole_exchange_also_if_its_first_item_is_no_call(items, query):
    session = Session("t", format="openai_responses")
    session.append(*talk(6), *items)
    for budget in range(20, 400, 20):
        messages = session.fit(query, budget=budget).messages
        kinds = [item["type"] for item in messages if "type" in item]
        assert kinds == [item["type"] for item in items]


def test_calls_of_one_turn_that_are_messages_of_their_own_are_not_parted():
    calls = [
        {"type": "function_call", "call_id": name, "name": "read", "arguments": "{}"}
        for name in ("a", "b")
    ]
    results = [
        {"type": "function_call_output", "call_id": name, "output": "42 rows"} for name in "ab"
    ]
    session = Session("t", budget=400)
    for message in (USER, *calls, *results):
        session.append(message)
        assert session.fit().messages == session.restore()  # the others are still under way
    assert session.faults == ()
    assert session.history() == []
