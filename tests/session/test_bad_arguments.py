"""What cannot be meant is refused in one line: what is wrong, where, and what to do."""

from __future__ import annotations

from datetime import datetime

import pytest

from holdfast.agent import AgentLoop, FunctionTool, remember_tool
from holdfast.kernel.budget import Budget
from holdfast.kernel.errors import HoldfastError, InputError, NotFoundError
from holdfast.memory.tiers import TierSizes
from holdfast.session import Session
from tests.session.talks import chatter

MESSAGE = {"role": "user", "content": "x"}


@pytest.fixture
def session():
    session = Session("t", budget=500)
    session.append(*chatter(2))
    return session


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"thread": 5}, "thread: 5 does not belong here; give a name as text"),
        ({"thread": ""}, "thread: '' does not belong here; give a name as text"),
        ({"store": 5}, "store: an int is not a store; give a URL such as"),
        (
            {"store": "agent.db"},
            "store: 'agent.db' is not a URL; a file is written 'sqlite:///agent.db'",
        ),
        (
            {"profile": "fast", "strategy": "trim"},
            "profile: a profile and strategies exclude each other; give one of them",
        ),
        (
            {"budget": "many"},
            "budget: 'many' is not a positive number of tokens; give one such as 8000 or 8k",
        ),
        (
            {"budget": Budget()},
            "budget: no budget is given; give budget=, or name a",
        ),
        ({"budget": 0}, "budget: 0 does not belong here; give a positive number of tokens"),
        ({"model": 5}, "model: 5 does not belong here; give text"),
        ({"format": 5}, "format: 5 is not a name of a format; known are "),
        ({"profile": "none such"}, "there is no profile named 'none such'; known are "),
        ({"redact": "yes"}, "redact: 'yes' does not belong here; give true or false"),
        (
            {"tiers": 5},
            "tiers: 5 does not belong here; give a TierSizes",
        ),
        (
            {"relevance": 5},
            "relevance: 5 does not belong here; give a Relevance",
        ),
        (
            {"segmentation": "pages"},
            "segmentation: 'pages' does not belong here; give 'turns' or 'time' or 'entities'",
        ),
        ({"recall_score": 2}, "recall_score: 2 does not belong here; give a share in [0, 1]"),
        ({"recall_score": "high"}, "recall_score: 'high' does not belong here; give a share"),
        (
            {"recall_messages": 0},
            "recall_messages: 0 does not belong here; give a whole",
        ),
        ({"vectors": "yes"}, "vectors: 'yes' does not belong here; give true or false"),
        ({"background": 1}, "background: 1 does not belong here; give true or false"),
        (
            {"condenser": 5},
            "condenser: 5 does not belong here; give an object with condense(text, level, count)",
        ),
        ({"llm": "nobody:x"}, "llm: 'nobody:x' names no model vendor; known are "),
        ({"embedder": 5}, "embedder: an int cannot be used as embedder; give "),
        ({"cache": 5}, "cache: 5 does not belong here; give a CompressionCache"),
        ({"limits": 5}, "limits: 5 does not belong here; give a CallLimits"),
        (
            {"clock": 5},
            "clock: 5 does not belong here; give a function that tells seconds since 1970 UTC",
        ),
    ],
)
def test_an_option_that_is_none(options, line):
    with pytest.raises(InputError) as refused:
        Session(**{"thread": "t", **options})
    assert str(refused.value).startswith(line)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("sizes", "line"),
    [
        (
            {"hot": "much"},
            "TierSizes.hot: 'much' does not belong here; give a whole number of 1 or more",
        ),
        ({"cold": 0}, "TierSizes.cold: 0 does not belong here; give a whole number of 1 or more"),
        (
            {"protect_last": -1},
            "TierSizes.protect_last: -1 does not belong here; give a whole number of 0 or more",
        ),
        (
            {"trigger": 0.5},
            "TierSizes.target: the tiers cannot be emptied to this; "
            "give 0 < target <= trigger <= 1",
        ),
        (
            {"target": "low"},
            "TierSizes.target: 'low' does not belong here; give a share in [0, 1]",
        ),
    ],
)
def test_sizes_that_are_none(sizes, line):
    with pytest.raises(InputError) as refused:
        TierSizes(**sizes)
    assert str(refused.value) == line


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda s: s.fit(query=5), "query: 5 does not belong here; give text"),
        (lambda s: s.fit(budget="x"), "budget: 'x' is not a positive number of tokens; "),
        (lambda s: s.fit(tools=5), "tools: an int does not belong here; "),
        (lambda s: s.append(5), "messages[0]: an int is not a message; "),
        (lambda s: s.append(None), "messages[0]: null is not a message; "),
        (
            lambda s: s.append(MESSAGE, ids="x"),
            "ids: 'x' does not belong here; give a list, each item text",
        ),
        (lambda s: s.append(MESSAGE, ids=[5]), "ids: 5 does not belong here; "),
        (lambda s: s.append(MESSAGE, ids=5), "ids: 5 does not belong here; "),
        (
            lambda s: s.append(MESSAGE, ids=["a", "b"]),
            "ids: 2 ids for 1 message; give one for each message",
        ),
        (
            lambda s: s.append([MESSAGE]),
            "messages[0]: a list of messages is not a message; give its messages one by "
            "one, as append(*messages)",
        ),
        (
            lambda s: s.append({"model": "gpt-4o", "messages": [MESSAGE]}),
            "messages[0]: the body of a request is not a message; give its messages one by one, "
            'as append(*body["messages"])',
        ),
        (
            lambda s: Session("t").fit(),
            "budget: there is none; give one such as 8_000 to the session, or to fit",
        ),
        (
            lambda s: s.append(MESSAGE, at="now"),
            "at: 'now' is not a time; give a datetime, or seconds since 1970 UTC",
        ),
        (lambda s: s.append(MESSAGE, at=float("nan")), "at: nan is not a time; "),
        (lambda s: s.append(MESSAGE, at=1.7e12), "at: 1700000000000.0 is not a time; "),
        (
            lambda s: Session("t", clock=lambda: 1.7e12).append(MESSAGE),
            "clock: 1700000000000.0 is not a time; let it tell seconds since 1970 UTC, as "
            "time.time does",
        ),
        (
            lambda s: Session("t", clock=lambda: 1 / 0).append(MESSAGE),
            "clock: it failed: ZeroDivisionError: division by zero; let it tell seconds",
        ),
        (
            lambda s: Session("t", clock=lambda: "now").append(MESSAGE),
            "clock: 'now' is not a time; ",
        ),
        (
            # one without a zone is what callers give
            lambda s: s.append(MESSAGE, at=datetime(1, 1, 1)),  # noqa: DTZ001
            "at: datetime.datetime(1, 1, 1, 0, 0) is not a time; ",
        ),
        (lambda s: s.search(5), "query: 5 does not belong here; give text"),
        (lambda s: s.search("x", limit=0), "limit: 0 does not belong here; give a whole"),
        (
            lambda s: s.recall(None),
            "message: None does not belong here; give its position, or the id ",
        ),
        (lambda s: s.recall(True), "message: True does not belong here; "),
        (lambda s: s.recall(0, lines="x"), "lines: 'x' is not a range of lines; write it as 10:80"),
        (lambda s: s.recall(0, pattern=5), "pattern: 5 does not belong here; give text"),
        (lambda s: s.recall(0, field=5), "field: 5 does not belong here; give text"),
        (
            lambda s: s.recall(0, expand="me"),
            "expand: 'me' does not belong here; give 'model'",
        ),
        (lambda s: s.edit(0, 5), "messages[0]: an int is not a message; "),
        (lambda s: s.edit(0, MESSAGE, reason=5), "reason: 5 does not belong here; give text that"),
        (
            lambda s: s.edit(0, MESSAGE, reason=""),
            "reason: '' does not belong here; give text that is not",
        ),
        (
            lambda s: s.delete(0, reason=" "),
            "reason: ' ' does not belong here; give text that is not",
        ),
        (
            lambda s: s.pin(0, reason="\n"),
            "reason: '\\n' does not belong here; give text that is not",
        ),
        (lambda s: s.delete(), "message: no message is named; give positions or ids"),
        (lambda s: s.pin(1.5), "message: 1.5 does not belong here; "),
        (
            lambda s: s.delete("nothing"),
            "there is no 'nothing' in thread 't'; it has 2 messages, counted from 0",
        ),
        (lambda s: s.forget(9), "there is no '9' in the notes of thread 't'; known are none"),
        (lambda s: s.remember(5), "text: 5 does not belong here; give text that"),
        (lambda s: s.remember(""), "text: '' does not belong here; give text that is not"),
        (lambda s: s.remember("  "), "text: '  ' does not belong here; give text that is not"),
        (lambda s: s.remember("x", by=""), "by: '' does not belong here; give text that is not"),
        (
            lambda s: s.forget("x"),
            "event: 'x' does not belong here; give one of history(), or its number",
        ),
        (
            lambda s: s.undo("x"),
            "event: 'x' does not belong here; give one of history(), or its number",
        ),
        (
            lambda s: s.undo(),
            "there is nothing to undo; a compaction, an edit, a deletion or a pin can be; ",
        ),
        (lambda s: s.undo(99), "event 99 cannot be undone; a compaction, "),
        (lambda s: s.fork(""), "thread: '' does not belong here; give a name as text"),
        (lambda s: s.fork(5), "thread: 5 does not belong here; give a name as text"),
        (lambda s: s.report("pdf"), "form: 'pdf' does not belong here; give 'html' or 'text'"),
        (lambda s: s.tend(force="x"), "force: 'x' does not belong here; give true or false"),
        (lambda s: AgentLoop(5, s), "model: an int is not a model; "),
        (lambda s: AgentLoop(len, s, 5), "tools: an int is not a list of tools; "),
        (lambda s: AgentLoop(len, s, [5]), "tools[0]: an int is not a tool; "),
        (
            lambda s: AgentLoop(len, 5),
            "session: an int is not a session; give holdfast.Session(thread, budget=...)",
        ),
        (
            lambda s: AgentLoop(len, s, {"read": 5}),
            "tools: a dict is not a list of tools; give a list of FunctionTool",
        ),
        (
            lambda s: AgentLoop(len, s, [FunctionTool({"name": "a"}, 5)]),
            "FunctionTool.run: an int is not a function; ",
        ),
        (
            lambda s: AgentLoop(len, s, [FunctionTool({}, len)]),
            "tools[0]: its schema has no name; give one such as ",
        ),
        (
            lambda s: AgentLoop(len, s, [FunctionTool({"function": 5}, len)]),
            "tools[0]: its schema has no name; ",
        ),
        (
            lambda s: AgentLoop(len, s, [FunctionTool({"name": "a"}, len)] * 2),
            "tools[1]: there is another tool named 'a'; rename one of them",
        ),
        (
            lambda s: AgentLoop(len, Session("t")),
            "budget: the session has none to fit to; give Session(..., budget",
        ),
        (
            lambda s: AgentLoop(len, s, rounds=0),
            "rounds: 0 does not belong here; give a whole number of 1 or more",
        ),
        (
            lambda s: AgentLoop(len, s, rounds="x"),
            "rounds: 'x' does not belong here; give a whole number of 1 or more",
        ),
        (
            lambda s: AgentLoop(len, s, rounds=True),
            "rounds: True does not belong here; give a whole number of 1 or more",
        ),
        (
            lambda s: AgentLoop(len, s, trigger=["call"]),
            "trigger: ['call'] does not belong here; give 'request' or ",
        ),
        (lambda s: remember_tool(5), "session: an int is not a session; "),
        (
            lambda s: AgentLoop(len, s, trigger="never"),
            "trigger: 'never' does not belong here; give 'request' or ",
        ),
        (
            lambda s: remember_tool(s, "xml"),
            "provider: 'xml' has no form of tools here; known are anthropic, bedrock, converse",
        ),
    ],
)
def test_an_argument_that_is_none(session, call, line):
    before = session.restore(), session.history()
    with pytest.raises(HoldfastError) as refused:
        call(session)
    assert str(refused.value).startswith(line)
    assert "\n" not in str(refused.value)
    assert (session.restore(), session.history()) == before


def test_what_was_deleted_is_told_to_be_there():
    session = Session("t")
    session.append(MESSAGE, MESSAGE, ids=["a", "b"])
    session.delete(1)
    for which in (1, -1, "b"):
        for asked in (session.recall, session.pin, lambda each: session.edit(each, MESSAGE)):
            with pytest.raises(
                NotFoundError, match=r"in thread 't', where it was deleted; undo brings it back$"
            ):
                asked(which)


def test_an_error_lists_no_more_notes_than_a_person_reads():
    with Session("t") as session:
        for number in range(30):
            session.remember(f"Rule {number} holds.")
        with pytest.raises(NotFoundError, match="known are .* and 10 more$"):
            session.forget(999)


def test_an_option_that_a_session_has_not_is_told_with_those_that_it_has():
    with pytest.raises(TypeError, match="no option 'nope'; known are model, format, profile, "):
        Session("t", nope=1)
