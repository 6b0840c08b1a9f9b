from __future__ import annotations

import json

import pytest

from holdfast.memory.forms import RuleCondenser
from holdfast.memory.tiers import TIERS, TierSizes
from holdfast.meter import meter_for
from holdfast.session.arguments import SessionOptions
from holdfast.session.log import Thread
from holdfast.session.tiers import Likeness, ThreadTiers
from holdfast.stores.in_process import InProcessStore
from tests.session.talks import chatter, talk

SIZES = TierSizes(hot=400, warm=300, cold=200)


def opened(store, name="t"):
    thread = Thread(name, store, lambda: 1_000.0, meter_for(counter="o200k_base"))
    return thread, ThreadTiers(thread, SIZES, RuleCondenser(), Likeness(SessionOptions().lineup))


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


def told(tending):
    return [
        (each.id, each.content, each.tokens, each.level, each.access_count)
        for tier in TIERS
        for each in tending.tiers.of(tier)
    ]


def test_whoever_opens_the_thread_next_finds_the_tiers_as_they_were_left(tended, store):
    thread, tending = tended
    for n in range(3):
        said(thread, chatter(30, 300 + 30 * n))
        tending.found(range(0, 300, 7))
        tending.run()
    again = opened(store)[1]
    assert told(again) == told(tending)
    assert any(each.access_count for tier in TIERS for each in tending.tiers.of(tier))


def test_the_store_holds_every_segment_of_a_tier_of_which_few_changed(tended, store):
    thread, tending = tended
    before = told(tending)
    said(thread, chatter(6, 300))
    tending.run()
    kept = {
        each["id"] for tier in TIERS for each in json.loads(store.get(f"tier:{tier}:t"))["segments"]
    }
    assert kept == {entry[0] for entry in told(tending)}
    assert set(before) & set(told(tending))
