"""What a thread takes, it can be read with: messages of two wires that cannot stand together
are refused.
"""

from __future__ import annotations

from itertools import product

import pytest

from holdfast.kernel.errors import ConfigError, FormatError
from holdfast.session import Session
from tests.session.test_pairing import CALL, RESULT

_GEMINI = {"role": "user", "parts": [{"text": "Which orders are late?"}]}
_PARTS = {"role": "user", "content": [{"type": "text", "text": "Which orders are late?"}]}
TALKS = {
    "plain": [{"role": "user", "content": "Which orders are late?"}],
    "parts": [_PARTS],
    "thinking": [
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "Late?", "signature": "s"}],
        }
    ],
    "gemini": [_GEMINI],
    "nothing": [{"role": "user"}],
    **{wire: [CALL[wire]("c"), RESULT[wire]("c", "two are late")] for wire in CALL},
}


TAKEN = [name for name in TALKS if name != "gemini"]  # which reads like nobody's without a call


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(("first", "then"), [*product(TALKS, TALKS)])
def test_whatever_was_refused_or_taken_the_thread_can_be_used(first, then, together, tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url, budget=400) as session:
        batches = [[*TALKS[first], *TALKS[then]]] if together else [TALKS[first], TALKS[then]]
        taken = [message for batch in batches for message in _taken(session, batch)]
        assert session.restore() == session.messages() == taken
        session.fit()
        opened = Session("t", store=url, budget=400)
        opened.fit()
        assert opened.restore() == taken


def _taken(session, batch):
    try:
        session.append(*batch)
    except FormatError:
        return []
    return batch


@pytest.mark.parametrize(("first", "then"), [*product(TAKEN, TALKS)])
def test_an_edit_that_the_thread_could_not_be_read_with_is_refused(first, then):
    session = Session("t", budget=400)
    session.append(*TALKS[first])
    try:
        session.edit(0, TALKS[then][0])
    except FormatError:
        assert session.restore() == session.messages() == TALKS[first]
    else:
        assert session.messages() == [TALKS[then][0], *TALKS[first][1:]]
    session.fit()


@pytest.mark.parametrize(("first", "then"), [*product(TAKEN, TALKS)])
def test_a_session_that_has_not_read_what_another_wrote_adds_nothing_that_cannot_be_read_with_it(
    first, then, tmp_path
):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url, budget=400) as late, Session("t", store=url, budget=400) as other:
        other.append(*TALKS[first])
        taken = [*TALKS[first], *_taken(late, TALKS[then])]
        assert late.restore() == other.restore() == taken
        assert late.fit().messages == other.fit().messages
        assert Session("t", store=url, budget=400).fit().messages == late.fit().messages


def test_an_append_of_nothing_does_nothing_whoever_wrote_before(tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url, budget=400) as late, Session("t", store=url, budget=400) as other:
        other.append(*TALKS["plain"])
        assert late.append() == []
        assert (
            late.append(*TALKS["plain"], ids=["a"])
            == other.append(*TALKS["parts"], ids=["a"])
            == [1]
        )


@pytest.mark.parametrize(
    ("one", "other"), [("openai", "anthropic"), ("anthropic", "openai"), ("openai", "plain")]
)
def test_a_thread_with_calls_is_not_opened_as_another_wires(one, other, tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url, budget=400, format=one) as session:
        session.append(*TALKS[one])
    with pytest.raises(ConfigError) as refused:
        Session("t", store=url, budget=400, format=other)
    assert str(refused.value).startswith("format: the thread is written in ")
    with Session("t", store=url, budget=400, format=one) as session:
        assert session.restore() == TALKS[one]


@pytest.mark.parametrize("other", ["openai", "plain"])
def test_that_holds_also_while_the_first_who_opened_it_has_not_closed_it(other, tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url, budget=400, format="anthropic") as session:
        session.append(*TALKS["plain"])
        session.append(*TALKS["anthropic"])
        with pytest.raises(ConfigError, match="the thread is written in anthropic"):
            Session("t", store=url, budget=400, format=other)


@pytest.mark.parametrize("named", [None, "openai"])
def test_a_call_of_another_wires_is_no_part_of_a_thread_whose_wire_is_known(named):
    with Session("t", budget=400, format=named) as session:
        session.append(*TALKS["openai"])
        with pytest.raises(FormatError) as refused:
            session.append(*TALKS["plain"], *TALKS["anthropic"])
        assert str(refused.value) == (
            "messages[1]: the thread is written in openai_chat, and this message in "
            "anthropic; convert it, or begin "
            "a thread of another name"
        )
        with pytest.raises(FormatError, match="message: the thread is written in openai_chat"):
            session.edit(0, TALKS["anthropic"][0])
        assert session.restore() == session.messages() == TALKS["openai"]


@pytest.mark.parametrize(("one", "other"), [("openai", "anthropic"), ("anthropic", "openai")])
def test_another_counter_does_not_open_a_thread_as_another_wires(one, other, tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url, budget=400, format=one) as session:
        session.append(*TALKS[one])
    with pytest.raises(ConfigError, match="the thread is written in "):
        Session("t", store=url, budget=400, format=other, counter="words")
    with Session("t", store=url, budget=400, counter="words") as session:
        assert session.wire().name in {one, "openai_chat"}
        assert session.restore() == TALKS[one]


@pytest.mark.parametrize(("one", "other"), [("openai", "anthropic"), ("anthropic", "openai")])
def test_of_two_who_open_an_empty_thread_as_different_wires_the_first_to_append_is_right(
    one, other, tmp_path
):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url, budget=400, format=one) as first:
        late = Session("t", store=url, budget=400, format=other)
        first.append(*TALKS["plain"], *TALKS[one])
        with pytest.raises((ConfigError, FormatError)):
            late.append(*TALKS[other])
        assert first.restore() == [*TALKS["plain"], *TALKS[one]]
        assert first.fit().messages == first.restore()


@pytest.mark.parametrize(
    ("one", "other"), [("anthropic", "bedrock"), ("openai", "azure"), ("anthropic", "vertex")]
)
def test_doors_of_one_wire_share_a_thread(one, other, tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url, budget=400, format=one) as session:
        session.append(*TALKS["plain"], *TALKS[one])
    with Session("t", store=url, budget=400, format=other) as session:
        assert session.fit().messages == [*TALKS["plain"], *TALKS[one]]


def test_a_talk_without_calls_may_change_its_wire(tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    for wire in ("anthropic", "openai"):
        with Session("t", store=url, budget=400, format=wire) as session:
            session.append(*TALKS["plain"])
            assert session.fit().messages == TALKS["plain"] * session.appended


def test_the_wire_that_was_named_is_that_of_views_too_whatever_the_messages_look_like():
    with Session("t", budget=300, format="plain") as session:
        session.append(
            TALKS["plain"][0], {"role": "tool", "content": "two are late\n" * 300}, *TALKS["plain"]
        )
        view = session.fit()
    assert view.budget_met
    assert view.reason == "compacted"
