from __future__ import annotations

import asyncio
import json

import pytest
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage

import holdfast
from holdfast.agent import AgentLoop, FunctionTool, remember_tool
from holdfast.agent.tools import as_text
from holdfast.formats import named
from holdfast.formats.convert import convert
from holdfast.kernel.errors import ConfigError, ContextOverflowError, ModelError
from holdfast.session import Session
from tests.session.talks import talk

SCHEMA = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}
BUDGET = 800


def calling(*names: str, arguments: str = "{}"):
    calls = [
        {"id": name, "type": "function", "function": {"name": "read", "arguments": arguments}}
        for name in names
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


class Model:
    """A model whose replies are written before; an exception is raised in the place of one."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.sent = []

    def __call__(self, messages, tools):
        self.sent.append(list(messages))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def reading(output):
    return FunctionTool(SCHEMA, lambda arguments: output)


@pytest.fixture
def session():
    return Session("t", budget=BUDGET)


def test_what_a_server_signs_beside_its_call_comes_back_to_it(session):
    signed = {"google": {"thought_signature": "c2ln"}}
    reply = calling("a")
    reply["tool_calls"][0]["extra_content"] = signed
    reply["reasoning_details"] = [{"type": "reasoning.encrypted", "data": "c2ln"}]
    model = Model(reply, "done")
    AgentLoop(model, session, [reading("output")]).run("go")
    assert model.sent[1][1] == reply


def test_it_calls_tools_until_the_model_answers_and_everything_is_in_the_session(session):
    model = Model(calling("a"), calling("b", "c"), "done")
    final = AgentLoop(model, session, [reading("output")]).run("go")
    assert final == {"role": "assistant", "content": "done"}
    assert [message["role"] for message in session.restore()] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    assert holdfast.validate(session.messages(), provider="openai") == []


def test_every_model_call_of_a_long_tool_loop_fits_and_is_valid(session):
    model = Model(*[calling(f"c{n}") for n in range(30)], "done")
    AgentLoop(model, session, [reading("a line of output\n" * 80)]).run("find it")
    assert len(model.sent) == 31
    for sent in model.sent:
        assert holdfast.count(sent, tools=[SCHEMA]).total <= BUDGET
        assert holdfast.validate(sent, provider="openai") == []
        assert "find it" in [message["content"] for message in sent]


@pytest.mark.parametrize(
    "wire", ["openai_chat", "openai_responses", "anthropic", "gemini", "converse"]
)
def test_it_runs_on_every_wire(wire):
    def on_wire(message):
        body = convert([{"role": "user", "content": "go"}, message], wire)
        said = [
            each.original for each in named(wire).read(body).messages if each.role == "assistant"
        ]
        return said if wire == "openai_responses" else said[0]

    done = on_wire({"role": "assistant", "content": "done"})
    replies = [on_wire(calling("a", "b")), on_wire(calling("c")), done]
    tool = FunctionTool({"name": "read", "input_schema": {}}, lambda arguments: "out")
    with Session("t", budget=BUDGET, format=wire) as session:
        assert AgentLoop(Model(*replies), session, [tool]).run("go") == done
        messages = session.messages()
    assert holdfast.validate(messages, provider=wire) == []
    read = named(wire).read(messages).messages
    assert [result.text for each in read for result in each.results] == ["out"] * 3
    assert [call.name for each in read for call in each.calls] == ["read"] * 3


def test_a_model_may_answer_with_the_items_of_openais_package():
    call = {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"}
    said = {"type": "output_text", "text": "done", "annotations": []}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    items = [
        ResponseFunctionToolCall.model_validate(call),
        ResponseOutputMessage.model_validate({**message, "content": [said]}),
    ]
    with Session("t", budget=BUDGET, format="openai_responses") as session:
        AgentLoop(Model(items[:1], items[1:]), session, [reading("out")]).run("go")
        messages = session.messages()
    assert holdfast.validate(messages, provider="openai_responses") == []
    assert [each.get("type") for each in messages[1:3]] == [
        "function_call",
        "function_call_output",
    ]


@pytest.mark.parametrize(
    ("fault", "share"),
    [
        (ContextOverflowError("too long", limit=400, size=800), 0.5),
        (
            ValueError(
                "This model's maximum context length is 400 tokens; your messages "
                "resulted in 800 tokens"
            ),
            0.5,
        ),
        (RuntimeError("code: context_length_exceeded"), 0.7),
    ],
)
def test_a_refusal_for_length_is_answered_by_fitting_harder_once(session, fault, share):
    session.append(*talk(200))
    model = Model(fault, "done")
    assert AgentLoop(model, session).run("go on")["content"] == "done"
    first, second = (holdfast.count(sent).total for sent in model.sent)
    assert second <= share * first
    assert model.sent[1][-1]["content"] == "go on"
    assert session.restore()[:-2] == talk(200)


def test_a_second_refusal_is_a_typed_error_with_its_figures(session):
    session.append(*talk(200))
    model = Model(
        *[ValueError("context_length_exceeded: maximum context length is 300 tokens")] * 2
    )
    with pytest.raises(ContextOverflowError) as refused:
        AgentLoop(model, session).run("go on")
    assert len(model.sent) == 2
    assert refused.value.limit == 300
    assert refused.value.size == holdfast.count(model.sent[1]).total
    assert session.messages()[-1] == {"role": "user", "content": "go on"}


def test_what_the_model_was_found_to_take_holds_for_the_calls_that_follow(session):
    session.append(*talk(200))
    sent = []

    def model(messages, tools):
        sent.append(holdfast.count(messages).total)
        if sent[-1] > 300:
            raise ContextOverflowError("too long", limit=300, size=sent[-1])
        return calling(f"c{len(sent)}") if len(sent) < 6 else "done"

    AgentLoop(model, session, [reading("out")]).run("go on")
    assert [tokens > 300 for tokens in sent] == [True, *[False] * 5]


def test_fitting_harder_never_means_more_than_the_budget_of_the_session(session):
    session.append(*talk(200))
    model = Model(ValueError("context_length_exceeded"), "done")
    AgentLoop(model, session, trigger="overflow").run("go on")
    assert holdfast.count(model.sent[0]).total > 4 * BUDGET
    assert holdfast.count(model.sent[1]).total <= BUDGET


@pytest.mark.parametrize("trigger", ["call", "manual"])
def test_a_loop_that_ended_while_a_tool_ran_goes_on_with_what_a_provider_takes(session, trigger):
    session.append(
        {"role": "user", "content": "go"},
        calling("a", "b"),
        {"role": "tool", "tool_call_id": "b", "content": "out"},
    )
    model = Model(calling("c"), "done")
    AgentLoop(model, session, [reading("out")], trigger=trigger).run("go on")
    assert all(holdfast.validate(sent, provider="openai") == [] for sent in model.sent)
    assert len(session.restore()) == 7


@pytest.mark.parametrize("awaited", [False, True])
def test_what_tools_gave_before_an_interrupt_is_in_the_session(session, awaited):
    outputs = iter(["42 rows"])

    def read(arguments):
        for output in outputs:
            return output
        raise asyncio.CancelledError

    model = Model(calling("a", "b"), "done")
    loop = AgentLoop(model, session, [FunctionTool(SCHEMA, read)])
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(loop.arun("go")) if awaited else loop.run("go")
    assert session.restore()[2:] == [{"role": "tool", "tool_call_id": "a", "content": "42 rows"}]
    loop.run("go on")
    assert holdfast.validate(model.sent[-1], provider="openai") == []
    assert "42 rows" in str(model.sent[-1])


@pytest.mark.parametrize("trigger", ["request", "call", "result", "overflow", "manual"])
def test_a_loop_that_was_broken_off_while_a_tool_ran_can_be_run_again(session, trigger):
    def broken_off(arguments):
        raise KeyboardInterrupt

    model = Model(calling("a"), "done", calling("b"), "done")
    loop = AgentLoop(model, session, [FunctionTool(SCHEMA, broken_off)], trigger=trigger)
    loop.fit()
    with pytest.raises(KeyboardInterrupt):
        loop.run("go")
    loop.run("and now?")
    assert all(holdfast.validate(sent, provider="openai") == [] for sent in model.sent)


@pytest.mark.parametrize("trigger", ["request", "call", "result", "overflow", "manual"])
def test_a_model_that_once_says_nothing_is_called_again_with_what_a_provider_takes(
    session, trigger
):
    model = Model({"role": "assistant", "content": None}, "done")
    loop = AgentLoop(model, session, trigger=trigger)
    loop.run("go")
    loop.run("and now?")
    assert all(holdfast.validate(sent, provider="openai") == [] for sent in model.sent)


@pytest.mark.parametrize("trigger", ["request", "call", "manual"])
def test_what_a_model_does_to_the_messages_it_is_sent_is_gone_at_the_next_call(trigger):
    """As who marks the last block for the prompt cache."""
    marks = []

    def model(messages, tools):
        messages[-1]["content"] = messages[-1]["content"] or []
        if isinstance(messages[-1]["content"], list):
            messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
        marks.append(str(messages).count("cache_control"))
        if len(marks) == 6:
            return "done"
        call = {"type": "tool_use", "id": f"t{len(marks)}", "name": "read", "input": {}}
        return {"role": "assistant", "content": [call]}

    tool = FunctionTool(
        {"name": "read", "input_schema": {"type": "object"}}, lambda arguments: "out"
    )
    with Session("t", budget=4_000, format="anthropic") as session:
        loop = AgentLoop(model, session, [tool], trigger=trigger)
        loop.fit()
        loop.run("go")
    assert marks == [0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("trigger", ["overflow", "manual"])
def test_nothing_that_was_handed_out_is_sent_again_as_it_was_changed(trigger):
    sent = []

    def model(messages, tools):
        sent.append(([message["content"] for message in messages], len(tools)))
        for message in messages:
            message["content"] = "changed"
        tools.clear()
        if len(sent) == 1:
            raise ValueError(
                "maximum context length is 500 tokens, however you requested 900 tokens"
            )
        return {"role": "assistant", "content": "fine"}

    loop = AgentLoop(model, Session("t", budget=8_000), [reading("out")], trigger=trigger)
    loop.run("one")["content"] = "changed"
    loop.fit().messages[0]["content"] = "changed"
    loop.run("two")
    assert len(sent) == 3
    assert [contents[-2:] for contents, _ in sent[1:]] == [["one"], ["fine", "two"]]
    assert all("changed" not in contents and schemas == 1 for contents, schemas in sent)


@pytest.mark.parametrize("awaited", [False, True])
def test_an_iterator_that_ends_in_a_tool_is_told_to_the_model(session, awaited):
    tool = FunctionTool(SCHEMA, lambda arguments: next(iter(())))
    loop = AgentLoop(Model(calling("a"), "done"), session, [tool])
    final = asyncio.run(asyncio.wait_for(loop.arun("go"), 60)) if awaited else loop.run("go")
    assert final["content"] == "done"
    assert "StopIteration" in session.restore()[2]["content"]


@pytest.mark.parametrize("awaited", [False, True])
def test_an_iterator_that_ends_in_the_model_is_the_callers(session, awaited):
    loop = AgentLoop(lambda messages, tools: next(iter(())), session)
    with pytest.raises(RuntimeError, match="StopIteration was raised"):
        asyncio.run(asyncio.wait_for(loop.arun("go"), 60)) if awaited else loop.run("go")


def test_any_other_fault_of_the_model_is_the_callers(session):
    model = Model(KeyError("no such model"))
    with pytest.raises(KeyError):
        AgentLoop(model, session).run("go")
    assert len(model.sent) == 1


@pytest.mark.parametrize(
    ("output", "read"),
    [
        (b"two caf\xc3\xa9s\n", "two caf\u00e9s\n"),
        (bytearray("na\u00efve".encode("latin-1")), "na\ufffdve"),
        (b"", ""),
        (b"\xff\x00", "[2 bytes of data that is not text]"),
        (b"\x89PNG\r\n\x1a\n" + bytes(1_000), "[1,008 bytes of image/png]"),
        ({"name": "a.txt", "body": memoryview(b"tea")}, '{"name":"a.txt","body":"tea"}'),
    ],
    ids=["text", "text of another encoding", "nothing", "no text", "an image", "text in JSON"],
)
def test_bytes_of_a_tool_are_read_as_text_or_named(output, read):
    assert as_text(output) == read


def test_what_a_tool_has_done_is_no_error_where_json_has_no_form_for_it():
    assert as_text({(1, 2): "moved"}) == "{(1, 2): 'moved'}"
    around: list[object] = ["moved"]
    around.append(around)
    assert as_text(around) == "['moved', [...]]"


def test_a_tool_that_fails_or_does_not_exist_is_told_to_the_model(session):
    def broken(arguments):
        raise OSError("no disk")

    other = {"id": "b", "type": "function", "function": {"name": "write", "arguments": "{}"}}
    model = Model(
        calling("a"), {"role": "assistant", "content": None, "tool_calls": [other]}, "done"
    )
    AgentLoop(model, session, [FunctionTool(SCHEMA, broken)]).run("go")
    outputs = [message["content"] for message in session.messages() if message["role"] == "tool"]
    assert outputs == [
        "error: OSError: no disk",
        "error: there is no tool named 'write'; known are read",
    ]


def test_a_model_that_never_stops_calling_is_stopped(session):
    model = Model(*[calling(f"c{n}") for n in range(9)])
    with pytest.raises(ModelError, match="still calls tools after 3 rounds"):
        AgentLoop(model, session, [reading("out")], rounds=3).run("go")


@pytest.mark.parametrize(
    ("trigger", "fits"),
    [("request", 1), ("call", 3), ("result", 2), ("overflow", 0), ("manual", 0)],
)
def test_it_fits_when_it_is_told_to(session, trigger, fits, monkeypatch):
    fitted = []
    fit = Session.fit
    monkeypatch.setattr(
        Session, "fit", lambda self, *given, **named: fitted.append(1) or fit(self, *given, **named)
    )
    model = Model(calling("a"), calling("b"), "done")
    AgentLoop(model, session, [reading("out")], trigger=trigger).run("go")
    assert len(fitted) == fits
    assert [len(sent) for sent in model.sent] == [1, 3, 5]


def test_an_unknown_trigger_is_refused(session):
    with pytest.raises(
        ConfigError, match="give 'request' or 'call' or 'result' or 'overflow' or 'manual'"
    ):
        AgentLoop(Model(), session, trigger="sometimes")


def test_what_the_model_asks_to_remember_stands_in_every_view(session):
    arguments = json.dumps({"text": "The customer may not be called before nine."})
    function = {"name": "remember", "arguments": arguments}
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "r", "type": "function", "function": function}],
    }
    AgentLoop(Model(call, "noted"), session, [remember_tool(session)]).run(
        "Do not call before nine."
    )
    noted = "- The customer may not be called before nine."
    assert noted in session.fit().messages[0]["content"]  # nothing was too long yet
    session.append(*talk(300)[1:])
    for query in (None, "parrots"):
        assert noted in "\n".join(
            message["content"] or "" for message in session.fit(query).messages
        )
    (note,) = session.notes()
    session.forget(note)
    assert session.notes() == {}
    assert "To be kept in mind" not in str(session.fit().messages)


def test_an_empty_text_is_not_remembered_and_the_model_is_told(session):
    tool = remember_tool(session)
    assert tool('{"text": " "}').startswith("error: give an object such as")
    assert session.notes() == {}


def test_what_a_tool_gives_reaches_the_model_as_json_unless_it_is_text(session):
    model = Model(calling("a"), "done")
    AgentLoop(model, session, [reading({"total": None, "città": True})]).run("go")
    assert model.sent[1][-1]["content"] == '{"total":null,"città":true}'


@pytest.mark.parametrize("reply", [None, 5, {"choices": []}])
def test_a_reply_that_is_no_message_is_the_models_fault_and_is_not_kept(session, reply):
    with pytest.raises(
        ModelError,
        match=r"^the model gave .*, which is not a message; return a text, or the message",
    ):
        AgentLoop(Model(reply), session).run("go")
    assert session.restore() == [{"role": "user", "content": "go"}]


def test_without_a_budget_a_loop_that_fits_by_hand_is_given_the_whole_thread():
    session = Session("t")
    assert AgentLoop(Model("done"), session, trigger="manual").run("go")["content"] == "done"


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "converse", "pydantic_ai"])
def test_tools_have_the_schemas_of_any_provider(session, provider):
    @holdfast.tool(provider=provider)
    def read() -> str:
        return "output"

    assert AgentLoop(Model(calling("a"), "done"), session, [read]).run("go")["content"] == "done"
    assert [each["content"] for each in session.restore() if each["role"] == "tool"] == ["output"]


def test_models_and_tools_may_be_awaited(session):
    async def model(messages, tools):
        await asyncio.sleep(0)
        return "done" if messages[-1]["role"] == "tool" else calling("a")

    async def tool(arguments):
        await asyncio.sleep(0)
        return "out"

    loop = AgentLoop(model, session, [FunctionTool(SCHEMA, tool)])
    assert asyncio.run(loop.arun("go")) == {"role": "assistant", "content": "done"}
    assert loop.run("again") == {"role": "assistant", "content": "done"}
    assert len(session.messages()) == 8


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (
            {"tools": [print]},
            r"tools\[0\]: a builtin_function_or_method is not a tool; "
            r"decorate a function with @holdfast.tool",
        ),
        (
            {"tools": [SCHEMA]},
            r"tools\[0\]: a dict is not a tool; .* or give a FunctionTool",
        ),
        ({"tools": reading("x")}, "tools: a FunctionTool is not a list of tools; give a list"),
        (
            {"model": type("OpenAI", (), {})()},
            "model: an OpenAI is not a model; give a function of the messages",
        ),
        ({"model": "gpt-4o"}, "model: a str is not a model; give a function of the messages"),
        ({"rounds": 0}, "rounds: 0 does not belong here; give a whole number of 1 or more"),
    ],
)
def test_what_no_loop_can_run_with_is_one_clear_line(session, wrong, line):
    with pytest.raises(ConfigError, match=f"^{line}"):
        AgentLoop(**{"model": Model(), "session": session} | wrong)


def test_a_model_may_answer_with_the_object_of_its_package(session):
    reply = ChatCompletionMessage(role="assistant", content="done")
    assert AgentLoop(Model(reply), session).run("go") == {"role": "assistant", "content": "done"}
    assert session.restore()[1] == {"role": "assistant", "content": "done"}


@pytest.mark.parametrize("trigger", ["request", "call", "result", "overflow", "manual"])
@pytest.mark.parametrize("fitted", [True, False])
def test_what_was_deleted_edited_or_appended_beside_the_loop_is_sent_as_it_stands(trigger, fitted):
    session, model = Session("t", budget=8_000), Model("ok", "ok")
    loop = AgentLoop(model, session, trigger=trigger)
    loop.run("my password is hunter2")
    if fitted:
        loop.fit()
    session.edit(1, {"role": "assistant", "content": "noted"})
    session.delete(0)
    session.append(
        {"role": "user", "content": "use port 99"}, {"role": "assistant", "content": "yes"}
    )
    loop.run("and now?")
    assert [message["content"] for message in model.sent[-1]] == [
        "noted",
        "use port 99",
        "yes",
        "and now?",
    ]


@pytest.mark.parametrize("role", ["user", "tool", "system"])
def test_what_a_model_says_in_the_name_of_somebody_else_is_not_kept(role):
    session = Session("t", budget=8_000)
    with pytest.raises(
        ModelError, match=f"the model gave a message of the role '{role}'; return its own message"
    ):
        AgentLoop(Model({"role": role, "content": "x", "tool_call_id": "a"}), session).run("go")
    assert session.messages() == [{"role": "user", "content": "go"}]
