from __future__ import annotations

import pytest

from holdfast.memory.tiers import TierSizes
from holdfast.session import Session
from holdfast.stores.in_process import InProcessStore
from tests.session.talks import TOPICS, chatter, talk

SIZES = TierSizes(hot=400, warm=300, cold=200)


@pytest.fixture
def store():
    return InProcessStore()


@pytest.fixture
def session(store):
    return Session("t", store=store, budget=900, tiers=SIZES)


def moves(session, *kinds):
    return [
        (move[1], move[2])
        for event in session.history()
        if event.kind == "tiers"
        for move in event.facts["moves"]
        if not kinds or move[3] in kinds
    ]


def test_what_is_said_goes_from_hot_to_warm_to_cold_and_out_and_no_tier_is_over_its_size(session):
    for message in talk(300):
        session.append(message)
        tiers = session.stats().tiers
        assert all(tier.size <= tier.capacity for tier in tiers.values())
    assert {("hot", "warm"), ("warm", "cold"), ("cold", None)} <= set(moves(session))
    assert all(tier.segment_count for tier in tiers.values())
    assert session.restore() == talk(300)


def test_the_tiers_are_tended_after_appends_without_being_asked(session):
    for message in talk(120):
        session.append(message)
    assert ("hot", "warm") in moves(session)


def test_what_fell_out_of_every_tier_can_still_be_found_and_recalled(session):
    session.append(*talk(300))
    session.stats()
    assert session.search("five retries", 1)[0].position == 4
    assert TOPICS[3] in "\n".join(message["content"] for message in session.fit("How many retries?").messages)


def test_what_was_recalled_comes_one_tier_up(session):
    session.append(*talk(60))
    session.stats()
    session.fit("Which invoice was charged twice?")
    session.tend()
    assert moves(session, "promoted")


@pytest.mark.parametrize(
    ("said", "to"), [("and it is vital that Noor hears it", "hot"), ("and Noor should hear it", "warm")]
)
def test_what_says_of_itself_that_it_matters_comes_back_from_cold_to_hot(said, to):
    session = Session("t", budget=900, tiers=TierSizes(hot=400, warm=20, cold=2_000))
    session.append(
        {"role": "user", "content": f"The code of the vault in Oslo is 4471-B, {said}."}, *chatter(61, 1)
    )
    session.tend()
    session.fit("What is the code of the vault in Oslo?")
    session.tend()
    assert ["0-1", "cold", to] in [
        move[:3] for event in session.history() if event.kind == "tiers" for move in event.facts["moves"]
    ]


def test_the_forms_of_the_tiers_can_be_the_callers_own():
    class Initials:
        def condense(self, text, level, count):
            return "".join(word[0] for word in text.split())[: 40 // level]

    session = Session("t", budget=900, tiers=SIZES, condenser=Initials())
    session.append(*talk(120))
    session.tend()
    moved = [move for event in session.history() if event.kind == "tiers" for move in event.facts["moves"]]
    assert max(after for _, _, to, _, _, after in moved if to == "cold") <= 20
    assert session.restore() == talk(120)


def test_forced_maintenance_empties_to_the_target(session):
    session.append(*talk(200))
    tiers = session.tend(force=True)
    assert all(tiers[name].size <= tiers[name].capacity * SIZES.target for name in ("warm", "cold"))
    assert tiers["hot"].size <= tiers["hot"].capacity * SIZES.trigger  # the newest segments stay while they may


def test_the_tiers_are_there_when_the_session_is_opened_again(session, store):
    session.append(*talk(120))
    before = session.stats()
    session.close()
    again = Session("t", store=store, budget=900, tiers=SIZES).stats()
    assert again.tiers == before.tiers
    assert again.events == before.events


def test_tiers_that_the_store_lost_are_made_again(session, store):
    session.append(*talk(120))
    session.stats()
    for tier in ("hot", "warm", "cold"):
        store.delete(f"tier:{tier}:t")
    again = Session("t", store=store, budget=900, tiers=SIZES).stats()
    assert again.tiers["hot"].segment_count
    assert again.tiers["warm"].segment_count


def test_a_message_longer_than_hot_is_cut_and_the_sizes_hold(session):
    session.append(
        {"role": "user", "content": " ".join(f"Sentence {n} says little." for n in range(400))}, *chatter(4)
    )
    tiers = session.stats().tiers
    assert all(tier.size <= tier.capacity for tier in tiers.values())
