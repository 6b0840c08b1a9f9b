from __future__ import annotations

import json

import pytest

from holdfast.memory.condensing import RuleCondenser
from holdfast.memory.tiers import TIERS, TierSizes
from holdfast.meter import meter_for
from holdfast.session.likeness import Likeness
from holdfast.session.options import Options
from holdfast.session.tending import Tending
from holdfast.session.thread import Thread
from holdfast.session.turns import ends
from holdfast.stores.in_process import InProcessStore
from tests.session.talks import chatter, talk

SIZES = TierSizes(hot=400, warm=300, cold=200)


def opened(store, name="t"):
    thread = Thread(name, store, lambda: 1_000.0, meter_for(counter="o200k_base"))
    return thread, Tending(thread, SIZES, RuleCondenser(), Likeness(Options().lineup))


def said(thread, messages):
    thread.append(messages, [""] * len(messages), None)


@pytest.fixture
def store():
    return InProcessStore()


@pytest.fixture
def tended(store):
    thread, tending = opened(store)
    said(thread, talk(300))
    tending.run()
    return thread, tending


def spans(forms):
    return [ends(form.origin) for form in forms]


def told(tending):
    return [
        (each.id, each.content, each.tokens, each.level, each.access_count)
        for tier in TIERS
        for each in tending.tiers.of(tier)
    ]


def test_the_forms_of_what_is_past_come_newest_first(tended):
    _, tending = tended
    everything = [span for tier in TIERS for span in spans(tending.tiers.of(tier))]
    assert spans(tending.forms(1_000)) == sorted(everything, reverse=True)
    middle = spans(tending.forms(1_000))[3]
    assert spans(tending.forms(middle[1])) == sorted(everything, reverse=True)[4:]
    assert spans(tending.forms(middle[1] + 1)) == sorted(everything, reverse=True)[3:]
    assert tending.forms(0) == []


def test_forms_are_those_of_the_last_run_and_ask_nothing_of_the_store(tended):
    thread, tending = tended
    before = tending.forms(1_000)
    said(thread, chatter(50))
    thread.store = thread.log = thread.event_log = None
    assert tending.forms(1_000) == before


def test_the_pieces_of_a_long_turn_come_last_piece_first(store):
    thread, tending = opened(store)
    sentences = " ".join(f"Sentence {n} says little." for n in range(400))
    said(thread, [{"role": "user", "content": sentences}, *chatter(4)])
    tending.run()
    pieces = [form.span for form in tending.forms(1_000) if form.span]
    assert len(pieces) > 1
    assert pieces == sorted(pieces, reverse=True)


def test_what_was_reworded_since_the_last_run_has_no_form_until_the_next(tended):
    thread, tending = tended
    span = spans(tending.forms(1_000))[2]
    thread.record("delete", "deleted", {"positions": [span[1]]})
    assert span not in spans(tending.forms(1_000))
    tending.run()
    assert span in spans(tending.forms(1_000))


def test_what_another_session_evicted_has_no_form_any_more(tended):
    thread, tending = tended
    span = spans(tending.forms(1_000))[2]
    thread.record("tiers", "evicted elsewhere", {"evicted": [span]})
    assert span not in spans(tending.forms(1_000))


def test_whoever_opens_the_thread_next_finds_the_tiers_as_they_were_left(tended, store):
    thread, tending = tended
    for n in range(3):
        said(thread, chatter(30, 300 + 30 * n))
        tending.found(range(0, 300, 7))
        tending.run()
    again = opened(store)[1]
    assert told(again) == told(tending)
    assert any(form.access_count for form in tending.forms(1_000))


def test_the_store_holds_every_segment_of_a_tier_of_which_few_changed(tended, store):
    thread, tending = tended
    before = told(tending)
    said(thread, chatter(6, 300))
    tending.run()
    kept = {each["id"] for tier in TIERS for each in json.loads(store.get(f"tier:{tier}:t"))["segments"]}
    assert kept == {entry[0] for entry in told(tending)}
    assert set(before) & set(told(tending))
