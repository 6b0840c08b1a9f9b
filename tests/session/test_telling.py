from __future__ import annotations

import pytest

from holdfast.memory.segments import HEAVY, LIGHT
from holdfast.metering import meter_for
from holdfast.session import Session
from holdfast.session.condensing import TurnCondenser
from holdfast.session.telling import history_of
from tests.session.talks import call, turns

COUNT = meter_for(counter="o200k_base").text

ORDERS = """User: Which orders of mine are late, and why?
Call: list_orders({"customer": "C-4471"})
Call: carrier_news({"country": "PT"})
Result: [{"order": "A-17", "status": "late", "depot": "Lisbon", "due": "2024-05-02"}, {"order": "A-18", "status": \
"on time", "depot": "Porto", "due": "2024-05-09"}]
Result: The port of Lisbon is on strike until 6 May.
Everything else runs.
Assistant: A-17 is late because of the strike in Lisbon; it comes on 7 May. A-18 is on time."""


def test_each_result_is_read_with_its_call():
    history = history_of(ORDERS)
    asked, first, second, orders, news, answer = history.said
    assert (asked, answer) == (
        "Which orders of mine are late, and why?",
        "A-17 is late because of the strike in Lisbon; it comes on 7 May. A-18 is on time.",
    )
    assert first[0].id == orders[0].call_id
    assert second[0].id == news[0].call_id
    assert (second[0].name, second[0].arguments) == ("carrier_news", '{"country": "PT"}')
    assert news[0].text.endswith("Everything else runs.")


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("and then all of it was sent to the other depot.\nCall: done({})", "assistant"),
        ('{"order": "A-18", "rows": [1, 2]}\nCall: done({})', "tool"),
    ],
)
def test_a_piece_that_begins_within_a_message_goes_on_with_it(text, role):
    assert history_of(text).roles[0] == role


def test_talk_is_no_history():
    assert history_of("User: Call me.\nAssistant: When?") is None
    assert history_of("") is None


@pytest.mark.parametrize(("level", "least", "most"), [(LIGHT, 3, 5), (HEAVY, 8, 15)])
def test_a_turn_with_calls_becomes_notes_of_the_promised_size(level, least, most):
    days = [f"2024-{1 + n % 12:02}-{1 + n % 28:02}" for n in range(60)]
    rows = ", ".join(f'{{"order": "A-{n}", "due": "{day}", "total": {n * 7}}}' for n, day in enumerate(days))
    text = f"User: Which orders wait in Lisbon?\nCall: list_orders({{}})\nResult: [{rows}]\nAssistant: All sixty."
    form = TurnCondenser().condense(text, level, COUNT)
    assert least <= COUNT(text) / COUNT(form) <= most
    assert "list_orders" in form
    assert "A-7" in form


def test_notes_name_what_was_asked_what_was_called_and_what_it_gave():
    form = TurnCondenser().condense(ORDERS, LIGHT, COUNT)
    assert "C-4471" in form
    assert "A-17" in form
    assert form.count("\n") >= 1


def test_the_segments_of_a_session_tell_what_was_called():
    with Session("t", budget=4_000) as session:
        session.append({"role": "user", "content": "Read it."}, *call(7, "The port is 8443."), *turns(2))
        told = session.tiers().hot[0].content
    assert told.splitlines()[:3] == [
        "User: Read it.",
        'Call: read({"path": "file-7.txt"})',
        "Result: The port is 8443.",
    ]
