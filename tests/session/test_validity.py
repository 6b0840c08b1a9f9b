"""What a wire refuses and a thread holds all the same is mended in its views, whatever it is
refused for.
"""

from __future__ import annotations

import pytest

import holdfast
from holdfast.session import Session
from tests.session.test_pairing import CALL, RESULT, SAID, USER

_TEXT = {"type": "text", "text": "hm"}
_THOUGHT = {"type": "thinking", "thinking": "b", "signature": "s"}
_SYSTEM = {"role": "system", "content": "Be kind."}


def said(role: str, *blocks: dict[str, object]) -> dict[str, object]:
    return {"role": role, "content": list(blocks)}


def call(*ids: str) -> dict[str, object]:
    return CALL["anthropic"](*ids)


def result(name: str, words: str = "") -> dict[str, object]:
    message = RESULT["anthropic"](name, "x rows " * 20)
    return said("user", *message["content"], {"type": "text", "text": words}) if words else message


def calling_without(**arguments: object) -> dict[str, object]:
    function = {"name": "read", **arguments}
    calls = [{"id": "a", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


REFUSED = {
    "results of one reply in two messages": ("anthropic", USER, call("a", "b"), result("a"),
     result("b"), USER),
    "words before a result": ("anthropic", USER, call("a"), said("user", _TEXT,
     *result("a")["content"])),
    "words after a call": ("anthropic", USER, said("assistant", *call("a")["content"], _TEXT),
     result("a"), USER),
    "an id with a colon": ("anthropic", USER, call("a:1"), result("a:1")),
    "thinking that begins within the loop": (
        "anthropic", USER, call("a"), result("a"), said("assistant", _THOUGHT,
         *call("b")["content"]), result("b"),
    ),
    "white space at the very end": ("anthropic", USER, {"role": "assistant", "content": "done "}),
    "a word of the system's within an exchange": (
        "openai", USER, CALL["openai"]("a"), _SYSTEM, RESULT["openai"]("a", "x"), USER,
    ),
    "no arguments": ("openai", USER, calling_without(), RESULT["openai"]("a", "x"), USER),
    "arguments that are null": ("openai", USER, calling_without(arguments=None),
     RESULT["openai"]("a", "x"), USER),
    "a role that there is not": ("openai", USER, {"role": "model", "content": "hm"}, USER),
}  # fmt: skip


@pytest.mark.parametrize("reopened", [False, True])
@pytest.mark.parametrize("refused", REFUSED)
def test_every_view_is_valid_and_everything_is_kept(tmp_path, refused, reopened):
    named, *messages = REFUSED[refused]
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url, budget=400, format=named) as session:
        session.append(*messages)
        session.append() if reopened else session.fit()
    with Session("t", store=url, budget=400, format=named) as session:
        view = session.fit()
        assert holdfast.validate(messages, provider=session.wire().name)
        assert holdfast.validate(view.messages, provider=session.wire().name) == []
        assert view.tokens == holdfast.count(view.messages, format=session.wire().name).total
        assert session.restore() == session.messages() == messages


@pytest.mark.parametrize("named", ["anthropic", None])
def test_a_message_of_the_systems_among_those_of_the_messages_api_stays_where_it_is(
    tmp_path, named
):
    messages = [_SYSTEM, USER, call("a"), result("a")]
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url, budget=400, format=named) as session:
        session.append(*messages)
    with Session("t", store=url, budget=400, format=named) as session:
        view = session.fit()
        assert view.messages[0] == _SYSTEM
        assert holdfast.validate(view.messages, provider="anthropic") == []
        assert session.restore() == session.messages() == messages


@pytest.mark.parametrize("budget", [150, 300, 500])
def test_calls_of_one_id_are_told_apart_also_where_results_come_with_words(budget):
    with Session("t", budget=budget, format="anthropic") as session:
        session.append(USER, SAID, USER, call("c"), result("c", "Keep it short."))
        for _ in range(8):
            session.append(call("c"), result("c"))
        for query in (None, "which rows?"):
            assert holdfast.validate(session.fit(query).messages, provider="anthropic") == []


@pytest.mark.parametrize("budget", [200, 400, 700])
@pytest.mark.parametrize("query", [None, "which rows?"])
def test_a_task_that_was_said_with_a_result_stands_with_its_call(budget, query):
    with Session("t", budget=budget, format="anthropic") as session:
        session.append(call("first"), result("first", "Go through all files."), SAID, USER)
        for n in range(12):
            session.append(call(f"c{n}"), result(f"c{n}"))
        assert holdfast.validate(session.fit(query).messages, provider="anthropic") == []
