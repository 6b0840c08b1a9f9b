from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.tiers import pieces, shares
from holdfast.compressors.digest import noted
from holdfast.memory.forms import HEAVY, LIGHT
from holdfast.memory.tiers import TierSizes
from holdfast.session import Session
from holdfast.session.turns import TurnCondenser, events_in, opening
from holdfast.tokens import meter_for
from tests.session.talks import call, turns

COUNT = meter_for(counter="o200k_base").text

ORDERS = """User: Which orders of mine are late, and why?
Call: list_orders({"customer": "C-4471"})
Call: carrier_news({"country": "PT"})
Result: [{"order": "A-17", "status": "late", "depot": "Lisbon", "due": "2024-05-02"}, \
{"order": "A-18", "status": "on time", "depot": "Porto", "due": "2024-05-09"}]
Result: The port of Lisbon is on strike until 6 May.
Everything else runs.
Assistant: A-17 is late because of the strike in Lisbon; it comes on 7 May. A-18 is on time."""


def test_each_result_is_read_with_its_call():
    asked, first, second, orders, news, answer = events = events_in(ORDERS)
    assert (asked.text, answer.text) == (
        "Which orders of mine are late, and why?",
        "A-17 is late because of the strike in Lisbon; it comes on 7 May. A-18 is on time.",
    )
    assert events[orders.act] is first
    assert events[news.act] is second
    assert (second.by, second.text) == ("carrier_news", '{"country": "PT"}')
    assert news.text.endswith("Everything else runs.")


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("and then all of it was sent to the other depot.\nCall: done({})", "assistant"),
        ('{"order": "A-18", "rows": [1, 2]}\nCall: done({})', "tool"),
    ],
)
def test_a_piece_that_begins_within_a_message_goes_on_with_it(text, role):
    assert events_in(text)[0].by == role


def test_talk_is_no_history():
    assert events_in("User: Call me.\nAssistant: When?") is None
    assert events_in("") is None


@pytest.mark.parametrize(("level", "least", "most"), [(LIGHT, 3, 5), (HEAVY, 8, 15)])
def test_a_turn_with_calls_becomes_notes_of_the_promised_size(level, least, most):
    days = [f"2024-{1 + n % 12:02}-{1 + n % 28:02}" for n in range(60)]
    rows = ", ".join(
        f'{{"order": "A-{n}", "due": "{day}", "total": {n * 7}}}' for n, day in enumerate(days)
    )
    text = (
        f"User: Which orders wait in Lisbon?\nCall: list_orders({{}})\nResult: [{rows}]\n"
        f"Assistant: All sixty."
    )
    form = TurnCondenser().condense(text, level, COUNT)
    assert least <= COUNT(text) / COUNT(form) <= most
    assert "list_orders" in form
    assert sum(f"A-{n} " in form for n in range(60)) >= 3


def test_notes_name_what_was_asked_what_was_called_and_what_it_gave():
    room = COUNT(ORDERS) // 2
    told = noted(events_in(ORDERS), room, COUNT, "Notes:")
    assert "Which orders of mine are late" in told
    assert "C-4471" in told
    assert "A-17" in told


def test_the_short_form_of_a_turn_names_what_was_asked_what_was_called_and_what_it_gave():
    form = TurnCondenser().condense(ORDERS, LIGHT, COUNT)
    assert "C-4471" in form
    assert "A-17" in form
    assert form.count("\n") >= 1


EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.json"))


def messages_of(example):
    told = json.loads(example.read_text("utf-8"))
    return told if isinstance(told, list) else told["messages"]


@pytest.mark.parametrize(("level", "least", "share"), [(LIGHT, 3, 0.8), (HEAVY, 8, 0.5)])
def test_forms_of_real_conversations_keep_what_was_named_counted_and_decided(level, least, share):
    told = [piece for example in EXAMPLES for piece in pieces(messages_of(example))]
    kept, factor = shares(told, level)
    assert factor >= least
    for kind, each in kept.items():
        assert len(each) > 1
        assert sum(each) >= share * len(each), kind


@pytest.mark.parametrize(("level", "share"), [(LIGHT, 0.8), (HEAVY, 0.5)])
def test_forms_keep_the_amounts_that_an_output_gives(level, share):
    steps = ["compile", "link", "package", "upload", "verify", "deploy"]
    took = [f"{7 * n + 3}.{n}s" for n in range(len(steps))]
    lines = [
        line
        for step, seconds in zip(steps, took, strict=True)
        for line in (
            *(f"[{step}] reading module {step}_{n}" for n in range(9)),
            f"{step} {seconds}",
        )
    ]
    output = "\n".join(lines)
    text = f"User: Build it.\nCall: run({{}})\nResult: {output}\nAssistant: It is built."
    form = TurnCondenser().condense(text, level, COUNT)
    assert sum(seconds in form for seconds in took) >= share * len(took)


@pytest.mark.parametrize(("level", "share"), [(LIGHT, 0.8), (HEAVY, 0.5)])
def test_forms_keep_the_codes_that_an_output_quotes(level, share):
    orders = [f"ord-{n * 7919 % 997}-{'abcdefgh'[n % 8]}" for n in range(24)]
    lines = [
        json.dumps({"level": 30, "time": 1743578297231 + n, "orderId": order}) + f"\n** {end}"
        for n, order in enumerate(orders)
        for end in ("an order comes in for the desk", "the desk has seen the order and is done")
    ]
    text = "User: Look.\nCall: logs({})\nResult: " + "\n".join(lines) + "\nAssistant: Seen."
    form = TurnCondenser().condense(text, level, COUNT)
    assert sum(order in form for order in orders) >= share * len(orders)
    assert COUNT(form) <= COUNT(text) / (3 if level == LIGHT else 8)


def test_the_segments_of_a_session_tell_what_was_called():
    with Session("t", budget=4_000) as session:
        session.append(
            {"role": "user", "content": "Read it."}, *call(7, "The port is 8443."), *turns(2)
        )
        told = session.tiers().hot[0].content
    assert told.splitlines()[:3] == [
        "User: Read it.",
        'Call: read({"path": "file-7.txt"})',
        "Result: The port is 8443.",
    ]


TURN = """User: Run them.
Call: run({"command": "make test"})
Call: read({"path": "app.log"})
Result: ran 812 tests
FAILED (failures=9)
Result: the port is 8443
and it is open
Assistant: Nine of them fail,
and the port is open."""


@pytest.mark.parametrize(
    ("start", "end", "before"),
    [
        ("FAILED", "Result: the", "Call: run(command make test)\nResult: "),
        ("FAILED", "Assistant", "Call: run(command make test)\nCall: read(path app.log)\nResult: "),
        ("Result: the", "Assistant", "Call: read(path app.log)\n"),
        ("and it is", "and the port", "Call: read(path app.log)\nResult: "),
        ("and the port", "open.", "Assistant: "),
        ('"app.log"', "FAILED", "Call: run(command make test)\nCall: read("),
        ("User", "Call", ""),
    ],
)
def test_a_piece_of_a_turn_is_read_with_who_speaks_or_which_call_gave_it(start, end, before):
    assert opening(TURN, TURN.index(start), TURN.rindex(end)) == before


def test_a_piece_that_begins_within_a_table_is_read_under_its_header():
    rows = "".join(f"{n},{n * 7 % 90}.50,open\n" for n in range(400))
    table = f'Call: read({{"path": "orders.csv"}})\nResult: order,total,state\n{rows}'
    at = table.index("\n200,") + 1
    head = opening(table, at, len(table))
    assert head == "Call: read(path orders.csv)\nResult: order,total,state\n"
    assert opening(table, at + 2, len(table)).endswith("Result: ")  # it begins within a row
    form = TurnCondenser().condense(head + table[at:], LIGHT, COUNT)
    assert "> order,total,state\n200," in form.replace(" …", "")


def _chat(path, output):
    asked = {"name": "read", "arguments": f'{{"path": "{path}"}}'}
    calls = [{"id": path, "type": "function", "function": asked}]
    yield {"role": "assistant", "content": None, "tool_calls": calls}
    yield {"role": "tool", "tool_call_id": path, "content": output}


def _messages(path, output):
    use = {"type": "tool_use", "id": path, "name": "read", "input": {"path": path}}
    yield {"role": "assistant", "content": [use]}
    yield {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": path, "content": output}],
    }


WIRES = {"openai_chat": _chat, "anthropic": _messages}


@pytest.mark.parametrize("wire", WIRES)
def test_on_every_wire_a_form_tells_as_the_tools_what_a_tool_gave(wire):
    output = "\n".join(f"The gauge of tank {n} shows {n * 3} litres today." for n in range(300))
    words = {"role": "user", "content": "Go on."}
    sizes = TierSizes(hot=700, warm=900, cold=900)
    with Session("t", budget=2_000, format=wire, tiers=sizes) as session:
        session.append(words, *WIRES[wire]("tanks.log", output))
        for n in range(3):
            session.append(words, *WIRES[wire](f"file-{n}.log", "It is empty."))
        session.tend(force=True)
        tiers = session.tiers()
    forms = [each.content for each in (*tiers.warm, *tiers.cold) if "gauge" in each.content]
    assert forms
    for form in forms:
        spoken = [
            line for line in form.splitlines() if line.lower().startswith(("assistant", "user"))
        ]
        assert "gauge" not in "".join(spoken)
        assert "read path tanks.log" in form


def test_what_a_user_says_beside_a_result_is_told_as_his_own():
    asked, given = _messages("app.log", "The port is 8443.")
    given["content"].append({"type": "text", "text": "Is that so?"})
    with Session("t", budget=4_000, format="anthropic") as session:
        session.append({"role": "user", "content": "Read it."}, asked, given, *turns(2))
        told = "\n".join(each.content for each in session.tiers().hot)
    assert "Result: The port is 8443.\nUser: Is that so?" in told
