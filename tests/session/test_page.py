"""The story of a thread says what a person would ask first, as text and as a page."""

from __future__ import annotations

import pytest

from holdfast.session import Session
from tests.session.talks import talk, turns


@pytest.fixture
def session():
    session = Session("t", budget=800)
    session.append(*talk(200))
    session.fit()
    return session


def test_it_says_where_the_recent_turns_begin_and_how_long_they_are(session):
    since, tokens = session.stats().since, session.stats().recent_tokens
    assert since
    assert (
        f"  recent turns begin at message {since}: {tokens} tokens unchanged\n" in session.report()
    )
    assert f"<dd>from message {since}, {tokens} tokens unchanged</dd>" in session.report("html")


def test_it_counts_what_people_and_models_did_to_the_thread(session):
    session.edit(1, {"role": "user", "content": "x"})
    session.delete(2)
    session.pin(3)
    session.remember("Answer in Portuguese.")
    assert "  1 deleted, 1 edited, 1 pinned, 1 remembered\n" in session.report()
    told = session.report("html")
    for name in ("edited", "deleted", "pinned", "remembered"):
        assert f"<dt>{name}</dt><dd>1</dd>" in told


def test_a_result_without_its_call_is_among_what_went_wrong(session):
    session.append({"role": "tool", "tool_call_id": "lost", "content": "late"})
    assert "What went wrong (1); nothing was lost by it\n  at message" in session.report()
    assert "1 time, last: a call and its result were appended apart" in session.report("html")


def test_of_a_message_that_was_recalled_and_deleted_since_it_says_so(session):
    (recalled,) = session.search("Which retries did we agree on?", 1)
    session.fit("Which retries did we agree on?")
    session.delete(recalled.position)
    assert f"message {recalled.position}: (deleted since)\n" in session.report()
    assert "(deleted since)<br>" in session.report("html")


def test_a_look_that_brought_nothing_back_is_counted_and_not_listed():
    with Session("t", budget=2_000) as session:
        for message in turns(40):
            session.append(message)
        session.append({"role": "user", "content": "Hm."})
        session.fit()
        session.fit("Which orders are late?")
        looks = [event for event in session.history() if event.kind == "recall"]
        listed = sum(bool(event.facts["chosen"]) for event in looks)
        assert 0 < listed < len(looks)
        assert f"<dd>{len(looks)}, {listed} with results</dd>" in session.report("html")
        assert f"Recalls ({listed})" in session.report()
        assert session.report("html").count("<details>") == listed


def test_every_view_is_counted_with_the_tokens_that_it_did_not_send(tmp_path):
    store = f"sqlite:///{tmp_path}/a.db"
    spared = 0
    with Session("t", store=store, budget=800) as session:
        for message in turns(60):
            session.append(message)
            spared += max(0, session.stats().tokens - session.fit().tokens)
    with Session("t", store=store, budget=800) as again:
        stats = again.stats()
        assert (stats.fits, stats.spared) == (len(turns(60)), spared)
        assert f"{spared:,} tokens were not sent, over {stats.fits} views" in again.report()


def test_a_long_run_shows_its_newest_compactions_and_keeps_the_rest_behind_a_line():
    with Session("t", budget=400) as session:
        for message in turns(120):
            session.append(message)
            session.fit()
        made = session.stats().events["compaction"]
        page = session.report("html")
    assert made > 8
    assert f"<summary>{made - 5} earlier ones</summary>" in page


def test_an_event_explains_the_best_of_many_that_came_back_and_the_view_all():
    with Session("t", budget=3_000, vectors=False) as session:
        session.append(*({"role": "user", "content": f"Parcel {n} is late."} for n in range(400)))
        view = session.fit("Which parcel is late?")
        (event,) = (event for event in session.history() if event.kind == "recall")
        explained = [score for _, score, why in event.facts["chosen"] if why]
        assert len(view.recalled) == len(event.facts["chosen"]) > len(explained) >= 8
        assert min(explained) >= max(score for _, score, why in event.facts["chosen"] if not why)
        assert all(sum(each.why.values()) == pytest.approx(each.score) for each in view.recalled)


def test_a_very_large_message_is_put_into_tiers_by_who_asks_for_them_and_not_by_a_report():
    rows = "\n".join(f"{n},name{n * 7919 % 9973},{n % 7}" for n in range(12_000))
    session = Session("t", budget=800)
    session.append(
        {"role": "user", "content": rows},
        {"role": "assistant", "content": "Read."},
        {"role": "user", "content": "Go on."},
    )
    for form in ("text", "html"):
        assert "some messages are in no tier yet: tiers() puts them there" in session.report(form)
    assert session.tiers().all()
    assert "in no tier yet" not in session.report()


def test_the_page_of_a_thread_with_one_view_says_when_its_chart_begins():
    with Session("t", budget=2_000) as session:
        session.append(*turns(40))
        session.fit()
        assert "The chart begins with the second new view." in session.report("html")
        session.append(*turns(40))
        session.fit("Which orders are late?")
        assert "The chart begins" not in session.report("html")
