from __future__ import annotations

import re

import pytest

from holdfast.memory.segments import LIGHT, Segment
from holdfast.session import Session
from holdfast.session.gist import HEADING, gist
from tests.session.talks import chatter, turns


def count(text: str) -> int:
    return len(text.split())


def form(first: int, text: str, tokens: int = 40) -> Segment:
    return Segment(f"{first}-{first + 1}", text, 0.0, tokens, level=LIGHT)


NEWEST_FIRST = [form(8, "Rita moved to Lisbon."), form(4, "The audit is in May."), form(2, "Ana pays by card.")]


def test_what_the_tiers_hold_is_written_in_order_of_time():
    told = gist(NEWEST_FIRST, 1_000, count, ())
    assert told.splitlines() == [
        HEADING,
        "- Ana pays by card.",
        "- The audit is in May.",
        "- Rita moved to Lisbon.",
    ]


def test_the_newest_have_the_room_where_there_is_too_little():
    long = [form(at, f"Order {at} " + "waits " * 90, 92) for at in range(90, 0, -2)]
    told = gist(long, 300, count, ())
    assert [line.split()[2] for line in told.splitlines()[1:]] == ["86", "88", "90"]
    assert count(told) <= 300


def test_what_the_view_says_already_is_not_said_again():
    assert "audit" not in gist(NEWEST_FIRST, 1_000, count, [5])
    assert gist([*NEWEST_FIRST, form(0, "Rita moved to Lisbon.")], 1_000, count, ()).count("Lisbon") == 1


@pytest.mark.parametrize(
    "text", ["Assistant: Goodbye, and thank you!", "User: Thanks!\nAssistant: You are welcome!"]
)
def test_courtesy_is_no_news(text):
    assert gist([form(0, text)], 1_000, count, ()) == ""


def test_a_little_room_stays_empty():
    assert gist(NEWEST_FIRST, 100, count, ()) == ""


@pytest.fixture
def session():
    """A talk that has outgrown its window; its newest words are about nothing that was said."""
    with Session("t", budget=2_000) as opened:
        for message in turns(40):
            opened.append(message)
        opened.fit()
        opened.append({"role": "user", "content": "Hm."})
        yield opened


def briefly(view):
    return next((m["content"] for m in view.messages if HEADING in m["content"]), "")


def test_a_view_that_finds_nothing_tells_in_brief_what_left_it(session):
    view = session.fit()
    told = briefly(view)
    assert "ORD-00" in told
    assert view.tokens <= 2_000
    assert not any(message["content"] in told for message in view.messages[2:])


def test_the_brief_stays_until_the_next_input_so_that_the_view_only_grows(session):
    first = session.fit()
    session.append({"role": "assistant", "content": "Yes?"})
    grown = session.fit()
    assert grown.messages[: len(first.messages)] == first.messages


def test_what_is_deleted_is_in_no_brief(session):
    order = re.findall(r"ORD-\d+", briefly(session.fit()))[0]
    session.delete(*(at for at, message in enumerate(session.messages()) if order in message["content"]))
    session.append({"role": "user", "content": "Hm, hm."})
    assert order not in briefly(session.fit())


def test_a_question_about_the_past_gets_the_room_for_itself(session):
    assert HEADING not in str(session.fit(query="Where is order ORD-0003?").messages)


def test_a_talk_that_fits_is_told_whole():
    with Session("t", budget=9_000) as opened:
        opened.append(*chatter(30))
        assert not briefly(opened.fit())
