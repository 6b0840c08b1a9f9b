from __future__ import annotations

import pytest

from holdfast.kernel.errors import StoreError
from holdfast.session import Session
from holdfast.session.log import Thread
from tests.session.talks import chatter


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'a.db'}"


@pytest.fixture
def session(url):
    with Session("t", store=url) as session:
        yield session


def test_the_newest_fact_holds_and_what_it_contradicts_is_kept(session):
    session.append({"role": "user", "content": "I live in Lisbon."}, *chatter(3))
    assert [fact.value for fact in session.facts().current()] == ["Lisbon"]
    session.append({"role": "user", "content": "I moved to Porto."})
    facts = session.facts()
    assert [(fact.value, fact.position) for fact in facts.current()] == [("Porto", 4)]
    assert [fact.value for fact in facts.contradicted()] == ["Lisbon"]


def test_a_fact_that_was_forgotten_is_known_to_no_session_until_it_is_said_again(url):
    with Session("t", store=url) as first:
        first.append(
            {"role": "user", "content": "I live in Lisbon."},
            {"role": "user", "content": "Call me Ines."},
        )
        first.forget(first.facts().current()[0])
        assert [fact.value for fact in first.facts().current()] == ["Ines"]
    with Session("t", store=url) as second:
        assert [fact.value for fact in second.facts().facts] == ["Ines"]
        second.append({"role": "user", "content": "I live in Lisbon."})
        assert [fact.position for fact in second.facts().current()] == [1, 2]


def test_facts_follow_edits_and_deletions(session):
    session.append(
        {"role": "user", "content": "I live in Lisbon."},
        {"role": "user", "content": "Call me Ines."},
    )
    assert len(session.facts().current()) == 2
    session.edit(0, {"role": "user", "content": "I live in Porto."})
    session.delete(1)
    assert [fact.value for fact in session.facts().facts] == ["Porto"]


def away(*_):
    raise StoreError("away")


def test_facts_follow_an_edit_though_the_store_failed_in_between(monkeypatch):
    with Session("t") as session:
        session.append({"role": "user", "content": "I live in Lisbon."})
        assert len(session.facts().current()) == 1
        session.edit(0, {"role": "user", "content": "Call me Ines."})
        with monkeypatch.context() as patched:
            patched.setattr(Thread, "forwards", away)
            with pytest.raises(StoreError, match="away"):
                session.facts()
        assert [fact.value for fact in session.facts().facts] == ["Ines"]
