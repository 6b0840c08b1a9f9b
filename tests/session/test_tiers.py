from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from holdfast.kernel.errors import StoreError
from holdfast.memory.tiers import Tiers, TierSizes
from holdfast.session import Session
from holdfast.stores.in_process import InProcessStore
from tests.session.talks import TOPICS, call, chatter, talk

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


def test_the_tiers_are_tended_when_somebody_looks_at_them(session):
    for message in talk(120):
        session.append(message)
    assert not moves(session)
    assert session.tiers().warm
    assert ("hot", "warm") in moves(session)


@pytest.fixture
def evicted(session):
    """A session whose message 4 fell out of every tier."""
    session.append(*talk(300))
    session.stats()
    spans = [span for event in session.history() for span in event.facts.get("evicted", ())]
    assert any(first <= 4 <= last for first, last in spans)
    return session


def recalled(session, query="How many retries?"):
    return "\n".join(message["content"] for message in session.fit(query).messages)


def test_what_fell_out_of_every_tier_is_no_candidate_of_a_fit(evicted):
    assert TOPICS[3] not in recalled(evicted)
    assert TOPICS[3] not in recalled(evicted, "five retries with a pause of two seconds")
    held = [
        segment.origin for tier in ("hot", "warm", "cold") for segment in evicted.tiers().of(tier)
    ]
    assert not any(int(origin.split("-")[0]) <= 4 <= int(origin.split("-")[1]) for origin in held)


@pytest.mark.parametrize(
    "find", [lambda session: session.search("five retries", 1), lambda session: session.recall(4)]
)
def test_what_is_found_or_recalled_comes_back_to_warm_and_is_a_candidate_again(evicted, find):
    assert find(evicted)
    assert (None, "warm") in moves(evicted, "readmitted")
    assert "3-4" in [segment.id for segment in evicted.tiers().warm]
    assert TOPICS[3] in recalled(evicted)
    assert all(tier.size <= tier.capacity for tier in evicted.stats().tiers.values())


def test_what_was_evicted_stays_so_for_whoever_opens_the_thread_next(evicted, store):
    evicted.close()
    again = Session("t", store=store, budget=900, tiers=SIZES)
    assert TOPICS[3] not in recalled(again)
    assert TOPICS[3] in again.fork("t2").recall(4)


def test_tiers_made_anew_do_not_bring_back_what_was_evicted(evicted, store):
    evicted.close()
    for tier in ("hot", "warm", "cold"):
        store.delete(f"tier:{tier}:t")
    again = Session("t", store=store, budget=900, tiers=SIZES)
    again.stats()
    assert TOPICS[3] not in recalled(again)


def test_what_was_evicted_and_is_edited_comes_back(evicted):
    evicted.edit(4, {"role": "assistant", "content": "We agreed on nine retries."})
    assert "nine retries" in recalled(evicted)


def test_what_was_recalled_comes_one_tier_up(session):
    session.append(*talk(60))
    session.stats()
    session.fit("Which invoice was charged twice?")
    session.tend()
    assert moves(session, "promoted")


@pytest.mark.parametrize(
    ("said", "to"),
    [("and it is vital that Noor hears it", "hot"), ("and Noor should hear it", "warm")],
)
def test_what_says_of_itself_that_it_matters_comes_back_from_cold_to_hot(said, to):
    session = Session("t", budget=900, tiers=TierSizes(hot=400, warm=20, cold=2_000))
    session.append(
        {"role": "user", "content": f"The code of the vault in Oslo is 4471-B, {said}."},
        *chatter(61, 1),
    )
    session.tend()
    session.fit("What is the code of the vault in Oslo?")
    session.tend()
    assert ["0-1", "cold", to] in [
        move[:3]
        for event in session.history()
        if event.kind == "tiers"
        for move in event.facts["moves"]
    ]


def test_the_forms_of_the_tiers_can_be_the_callers_own():
    class Initials:
        def condense(self, text, level, count):
            return "".join(word[0] for word in text.split())[: 40 // level]

    session = Session("t", budget=900, tiers=SIZES, condenser=Initials())
    session.append(*talk(120))
    session.tend()
    moved = [
        move
        for event in session.history()
        if event.kind == "tiers"
        for move in event.facts["moves"]
    ]
    assert max(after for _, _, to, _, _, after in moved if to == "cold") <= 20
    assert session.restore() == talk(120)


def test_forced_maintenance_empties_to_the_target(session):
    session.append(*talk(200))
    tiers = session.tend(force=True)
    assert all(tiers[name].size <= tiers[name].capacity * SIZES.target for name in ("warm", "cold"))
    assert (
        tiers["hot"].size <= tiers["hot"].capacity * SIZES.trigger
    )  # the newest segments stay while they may


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
        {"role": "user", "content": " ".join(f"Sentence {n} says little." for n in range(400))},
        *chatter(4),
    )
    tiers = session.stats().tiers
    assert all(tier.size <= tier.capacity for tier in tiers.values())


def test_tiers_that_cannot_be_kept_are_told_and_tended_again_when_they_can(tmp_path):
    path = tmp_path / "a.db"
    session = Session("t", store=f"sqlite:///{path}", budget=900, tiers=SIZES)
    session.append(*talk(4))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON entries WHEN instr(CAST(NEW.key AS "
            "TEXT), 'tier:') "
            "BEGIN SELECT RAISE(ABORT, 'no room for tiers'); END"
        )
    for message in chatter(40, 10):
        session.append(message)
    assert "fault" in session.stats().events
    assert "no room for tiers" in session.faults[-1]
    with pytest.raises(StoreError, match="no room for tiers"):
        session.tend()
    assert session.restore() == talk(4) + chatter(40, 10)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TRIGGER full")
    assert session.tend()["warm"].segment_count
    assert moves(session)[0] == ("hot", "warm")


def test_small_appends_of_many_processes_are_tended_too(tmp_path):
    for message in talk(120):
        with Session("t", store=f"sqlite:///{tmp_path / 'a.db'}", tiers=SIZES) as session:
            session.append(message)
            session.stats()
    assert ("hot", "warm") in moves(session)


def test_the_run_of_an_agent_that_is_still_going_on_stays_in_view_and_out_of_the_tiers(session):
    session.append({"role": "user", "content": "Find the fault."})
    for number in range(20):
        session.append(*call(number, f"line of file {number}\n" * 30))
    assert session.tiers() == Tiers()
    session.append(
        {"role": "user", "content": "Thanks."}, {"role": "assistant", "content": "Gladly."}
    )
    assert session.stats().tiers["warm"].segment_count
    assert all(tier.size <= tier.capacity for tier in session.stats().tiers.values())


def test_a_talk_that_was_behind_is_tended_again_while_it_goes_on(session):
    session.append(*talk(400))
    for message in chatter(60, 400):
        session.append(message)
        session.stats()
    assert ("warm", "cold") in moves(session)


def test_of_segments_without_a_models_form_only_the_chosen_are_read(session, monkeypatch):
    session.append(*talk(300))
    session.stats()
    tiers, read = session._tiers, []
    text_of = tiers._turns.condensed_of
    monkeypatch.setattr(
        "holdfast.session.turns.Turns.condensed_of",
        lambda _, segment: read.append(segment.id) or text_of(segment),
    )
    assert len(tiers.tiers.warm) + len(tiers.tiers.cold) > 4
    first = tiers.wanted_forms(2, set())
    more = tiers.wanted_forms(2, {wanted.key for wanted in first})
    assert read == [wanted.key[0] for wanted in (*first, *more)]
    assert len(set(read)) == 4
