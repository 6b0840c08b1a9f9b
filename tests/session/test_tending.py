from __future__ import annotations

import json

import pytest

from holdfast.memory.forms import RuleCondenser
from holdfast.memory.relevance import Relevance
from holdfast.memory.tiers import TIERS, TierSizes
from holdfast.session import Session
from holdfast.session.arguments import SessionOptions
from holdfast.session.log import Thread
from holdfast.session.tiers import ThreadTiers
from holdfast.session.turns import covered
from holdfast.stores.in_process import InProcessStore
from holdfast.tokens import meter_for
from tests.session.talks import call, chatter, talk

SIZES = TierSizes(hot=400, warm=300, cold=200)


def opened(store, name="t"):
    thread = Thread(name, store, lambda: 1_000.0, meter_for(counter="o200k_base"))
    return thread, ThreadTiers(thread, SessionOptions(tiers=SIZES, condenser=RuleCondenser()))


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


def run_of(turns):
    """An agent at work, whose turns are all finished."""
    return [
        message
        for n in range(turns)
        for message in (
            {"role": "user", "content": f"Look into part {n}."},
            *call(n, "found words " * 40),
            {"role": "assistant", "content": f"Part {n} is done."},
        )
    ]


def test_after_a_batch_larger_than_twice_the_hot_tier_an_agents_tiers_are_tended(store):
    with Session("t", store=store, tiers=SIZES, llm=lambda _: "nothing") as session:
        session.append(*run_of(30))
        moves = [event for event in session.history() if event.kind == "tiers"]
        session.append(*run_of(5))
        assert moves
        assert moves != [event for event in session.history() if event.kind == "tiers"]


def test_segments_tell_how_important_they_were_found(tended):
    _, tending = tended
    found = {each.importance for tier in TIERS for each in tending.tiers.of(tier)}
    assert len(found) > 3
    assert all(0 <= each <= 1 for each in found)


def test_what_is_found_again_and_again_stays_where_what_is_as_old_leaves(tended):
    thread, tending = tended
    wanted, newer = tending.tiers.hot[:2]
    for _ in range(20):
        tending.found(covered(wanted))
    said(thread, chatter(2, 600))
    tending.run()
    hot = [each.id for each in tending.tiers.hot]
    assert wanted.id in hot
    assert newer.id not in hot


@pytest.mark.parametrize("reopened", [False, True])
def test_a_segment_counts_every_view_that_recalls_it(reopened, store):
    vault = {"role": "user", "content": "The password vault Zephyrine is kept in Trondheim."}
    options = {"store": store, "budget": 1_500, "tiers": TierSizes(hot=400, warm=800, cold=4_000)}
    session = Session("t", **options)
    session.append(*chatter(4), vault, *chatter(200, 5))
    recalled = 0
    for n in range(6):
        if reopened:
            session.close()
            session = Session("t", **options)
        session.append({"role": "user", "content": f"Where is the vault Zephyrine, {n}?"})
        recalled += 4 in [each.position for each in session.fit().recalled]
        session.append({"role": "assistant", "content": "In Trondheim."})
    (counted,) = [each for each in session.tiers().all() if 4 in covered(each)]
    assert counted.access_count == recalled > 3
    assert counted.level < 2


def spans(session):
    return [each.origin for tier in TIERS for each in session.tiers().of(tier)]


@pytest.mark.parametrize(
    ("segmentation", "first"), [("turns", "0-1"), ("time", "0-3"), ("entities", "0-5")]
)
def test_segments_end_where_the_session_is_told_to_end_them(segmentation, first, store):
    with Session("t", store=store, segmentation=segmentation) as session:
        for n in range(12):
            text = f"What does {'Dana' if n < 6 else 'Priya'} say of it, {n}?"
            role = "assistant" if n % 2 else "user"
            session.append({"role": role, "content": text}, at=1_000.0 + 7_200 * (n // 4))
        assert spans(session)[0] == first


def test_relevance_says_what_stays(store):
    recency = Relevance(1, 0, 0, 0, 0, 0, open_ends=0)
    said = [{"role": "user", "content": "TODO: water the roses."}, *chatter(60)]
    for name, relevance in (("usual", None), ("recency alone", recency)):
        sizes = TierSizes(hot=400, protect_last=2)
        with Session(name, store=store, relevance=relevance, tiers=sizes) as session:
            session.append(*said)
            hot = [each.content for each in session.tiers().hot]
        assert ("roses" in hot[0]) == (relevance is None), name


def test_a_view_recalls_what_has_the_score_and_no_more_than_it_is_told(store):
    question = "What do we know of the backup and of the parrots of Priya?"

    def recalled(**options):
        with Session("t", store=store, budget=600, vectors=False, **options) as session:
            if not session.appended:
                session.append(*talk(200))
            return [each.score for each in session.fit(question).recalled]

    scores = sorted(recalled(), reverse=True)
    assert scores[1] > 0.4 > scores[-1] >= 0
    assert sorted(recalled(recall_score=0.4)) == sorted(each for each in scores if each >= 0.4)
    assert recalled(recall_messages=1) == scores[:1]
