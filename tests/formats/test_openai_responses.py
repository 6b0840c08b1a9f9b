from __future__ import annotations

import pytest

import holdfast
from holdfast.formats import detect, named
from holdfast.formats.rules.exchanges import NO_RESULT
from holdfast.kernel.errors import FormatError
from holdfast.kernel.messages import Media, Opaque, Reasoning, Text, ToolCall, ToolResult
from holdfast.validity import repair, validate
from tests.contracts.format_contract import FormatContract

TOOLS = {"type": "additional_tools", "role": "developer", "tools": [{"type": "namespace"}]}
COMPACTION = {"type": "compaction", "encrypted_content": "gAAAA" * 20}
SHELL = {
    "type": "local_shell_call",
    "id": "lsh_1",
    "call_id": "s",
    "status": "completed",
    "action": {"type": "exec", "command": ["ls", "-l"], "env": {}},
}


def call(call_id: str, **fields) -> dict:
    item = {"type": "function_call", "call_id": call_id, "name": "read", "arguments": "{}"}
    return item | fields


def output(call_id: str, text="two lines") -> dict:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def reasoning(name: str) -> dict:
    return {
        "type": "reasoning",
        "id": name,
        "summary": [{"type": "summary_text", "text": "Look first."}],
        "encrypted_content": "gAAAA" * 30,
    }


class TestOpenAIResponses(FormatContract):
    @pytest.fixture
    def form(self):
        return named("responses")

    @pytest.fixture
    def messages(self):
        return [
            TOOLS,
            {"role": "developer", "content": "Be brief."},
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "What is this?"},
                    {"type": "input_image", "image_url": "https://x/y.png", "detail": "low"},
                    {"type": "input_file", "file_id": "file-1"},
                    {"type": "hologram", "depth": 12345678901234567890},
                ],
            },
            reasoning("rs_1"),
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
            },
            call("a", arguments='{"path": "x"}', namespace="files"),
            {"type": "custom_tool_call", "call_id": "b", "name": "patch", "input": "*** Begin"},
            output("a"),
            {
                "type": "custom_tool_call_output",
                "call_id": "b",
                "output": [
                    {"type": "input_text", "text": "x"},
                    {"type": "input_image", "file_id": "file-2"},
                ],
            },
            {"type": "web_search_call", "id": "ws_1", "status": "completed"},
            COMPACTION,
            {"id": "msg_9"},
            {
                "role": "assistant",
                "content": [{"type": "refusal", "refusal": "I would rather not."}],
            },
        ]

    @pytest.fixture
    def body(self, messages):
        return {"model": "gpt-5", "input": messages}

    def test_each_part_is_what_it_says(self, form, messages):
        parts = [message.parts for message in form.read(messages).messages]
        assert parts[2] == (
            Text("What is this?"),
            Media("image", source="https://x/y.png", detail="low"),
            Media("document", source="file-1"),
            Opaque('{"type":"hologram","depth":12345678901234567890}'),
        )
        assert parts[3] == (Reasoning("Look first.", signed=True),)
        assert parts[5:9] == [
            (ToolCall("a", "read", '{"path": "x"}'),),
            (ToolCall("b", "patch", "*** Begin"),),
            (ToolResult("a", "two lines"),),
            (ToolResult("b", "x", (Media("image", source="file-2"),)),),
        ]
        assert parts[12] == (Text("I would rather not."),)

    def test_every_item_has_the_role_of_who_made_it(self, form, messages):
        roles = [message.role for message in form.read(messages).messages]
        assert roles[:4] == ["system", "system", "user", "assistant"]
        assert roles[5:9] == ["assistant", "assistant", "tool", "tool"]

    def test_reasoning_its_items_and_their_outputs_are_one_unit(self, form, messages):
        assert range(3, 9) in form.read(messages).units

    def test_what_stands_beside_the_parts_is_counted(self, form, messages):
        read = form.read(messages).messages
        assert "files" in read[5].aside
        assert "gAAAA" in read[3].aside


def test_tools_compaction_references_and_the_newest_reasoning_may_not_leave():
    items = [TOOLS, COMPACTION, {"id": "msg_1"}, {"role": "user", "content": "hi"}]
    items += [reasoning("rs_1"), call("a"), output("a"), reasoning("rs_2"), call("b"), output("b")]
    transcript = named("responses").read([*items, {"role": "user", "content": "and?"}])
    assert {0, 1, 2, 7} <= transcript.protected
    assert 4 not in transcript.protected


def test_instructions_and_tools_of_a_body_are_counted_beside_the_items():
    body = {
        "instructions": "Be brief.",
        "input": "hello",
        "tools": [{"type": "namespace", "name": "files", "tools": []}],
        "text": {"format": {"type": "json_schema"}},
    }
    assert [part.text for part in named("responses").read(body).envelope] == [
        "Be brief.",
        '{"type":"namespace","name":"files","tools":[]}',
        '{"format":{"type":"json_schema"}}',
    ]


def test_an_input_that_is_one_text_stays_one_and_comes_back():
    body = {"model": "gpt-5", "input": "a line of a long text\n" * 400}
    result = holdfast.compress(body, budget=300)
    assert isinstance(result.messages["input"], str)
    assert result.budget_met
    assert holdfast.restore(result) == body
    assert holdfast.compress(body, budget=30_000).messages == body


@pytest.mark.parametrize("field", ["previous_response_id", "conversation"])
def test_a_request_that_goes_on_from_what_the_vendor_keeps_is_passed_by(field):
    items = [{"role": "user", "content": "a long text " * 400}, output("elsewhere")]
    body = {"input": items, field: "resp_1"}
    result = holdfast.compress(body, budget=100)
    assert all(a is b for a, b in zip(result.messages["input"], items, strict=True))
    assert (result.status, result.reason) == ("skipped", "goes_on_elsewhere")
    assert field in result.steps[0].detail
    assert field in result.detail
    assert validate(body) == []


def test_calls_of_other_kinds_and_their_outputs_are_one_unit():
    items = [
        {"role": "user", "content": "go"},
        {"type": "computer_call", "id": "cu_1", "call_id": "a", "action": {}},
        {"type": "computer_call_output", "call_id": "a", "output": {}},
        {"type": "mcp_approval_request", "id": "ap_1", "name": "x", "arguments": "{}"},
        {"role": "user", "content": "yes"},
        {"type": "mcp_approval_response", "approval_request_id": "ap_1", "approve": True},
    ]
    units = named("responses").read(items).units
    assert range(1, 3) in units
    assert range(3, 6) in units


@pytest.mark.parametrize(
    "alone",
    [
        [{"type": "computer_call", "id": "cu_1", "call_id": "a", "action": {}}],
        [{"type": "computer_call_output", "call_id": "a", "output": {}}],
        [{"type": "tool_search_call", "call_id": "a", "arguments": {}}],
        [{"type": "tool_search_output", "call_id": "a", "tools": []}],
        [{"type": "mcp_approval_response", "approval_request_id": "m", "approve": True}],
        [reasoning("rs_1"), {"type": "computer_call", "call_id": "a", "action": {}}],
        [
            {"type": "computer_call_output", "call_id": "a", "output": {}},
            {"type": "computer_call", "call_id": "a", "action": {}},
        ],
    ],
)
def test_a_half_of_another_kind_without_the_other_is_refused_and_goes(alone):
    items = [{"role": "user", "content": "go"}, *alone, {"role": "user", "content": "and?"}]
    assert {"unread_exchange_whole"} == {each.rule for each in validate(items, "responses")}
    result = repair(items, "responses")
    assert result.messages == [items[0], items[-1]]
    assert validate(result.messages, "responses") == []


@pytest.mark.parametrize(
    "items",
    [
        [
            {"type": "item_reference", "id": "cu_1"},
            {"type": "computer_call_output", "call_id": "a"},
        ],
        [
            {"type": "tool_search_call", "call_id": None},
            {"type": "tool_search_output", "tools": []},
        ],
        [{"type": "web_search_call", "id": "ws_1", "action": {}}],
        [{"type": "mcp_call", "id": "mc_1", "approval_request_id": "m", "name": "n"}],
        [{"type": "mcp_approval_request", "id": "m", "server_label": "s", "name": "n"}],
    ],
)
def test_what_the_vendor_pairs_by_itself_may_stand_alone(items):
    assert validate([{"role": "user", "content": "go"}, *items], "responses") == []


def test_an_action_keeps_its_shape_whatever_it_says_now():
    (message,) = named("responses").read([SHELL]).messages
    assert message.parts == (
        ToolCall("s", "local_shell", '{"type":"exec","command":["ls","-l"],"env":{}}'),
    )
    changed = message.saying({0: '{"type": "exec", "command": "gone", "env": {"A": "b"}}'})
    assert changed.original["action"] == {**SHELL["action"], "env": {"A": "b"}}


def test_the_output_of_a_shell_says_something_else_in_its_first_stream():
    streams = {"stdout": "one", "stderr": "two", "outcome": {"type": "exit", "exit_code": 3}}
    item = {"type": "shell_call_output", "call_id": "s", "output": [streams, streams]}
    (message,) = named("responses").read([item]).messages
    assert message.parts == (ToolResult("s", "one\ntwo\none\ntwo"),)
    assert message.saying({0: "less"}).original["output"] == [
        {**streams, "stdout": "less", "stderr": ""}
    ]


def test_the_recall_tool_is_known_among_the_items_too():
    tools = {**TOOLS, "tools": [{"type": "function", "name": "recall", "parameters": {}}]}
    text = "\n".join(f"{n}: a line that says {n * 7919}" for n in range(600))
    items = [tools, {"role": "user", "content": "go"}, call("a"), output("a", text)]
    result = holdfast.compress(items, 600, strategy="shrink", store="memory://")
    assert "recall" in result.messages[3]["output"]


@pytest.mark.parametrize(
    "item", [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}, call("a"), SHELL]
)
def test_an_item_or_a_part_of_its_own_tells_the_format(item):
    assert detect([{"role": "user", "content": "hi"}, item]).name == "openai_responses"


@pytest.mark.parametrize(
    ("item", "error"),
    [
        (call(""), r'input\[0\]: the function_call has no "call_id"; a call and its output'),
        (output("a", 5), r"input\[0\]\.output: an int does not belong here; give text or a list"),
        ({"role": "user", "content": 5}, r"input\[0\]\.content: an int does not belong here"),
        ({"content": "hi"}, r'input\[0\]: the message has no "role"'),
    ],
)
def test_what_is_wrong_is_named_with_its_place(item, error):
    with pytest.raises(FormatError, match=error):
        named("responses").read([item])


@pytest.mark.parametrize(
    "kind",
    ["function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call"],
)
def test_the_missing_half_of_an_exchange_is_of_the_kind_of_the_other(kind):
    result = {"type": f"{kind}_output", "call_id": "a", "output": []}
    made, _ = repair([result], "responses").messages
    assert (made["type"], made["call_id"]) == (kind, "a")
    called, answer = repair([made], "responses").messages
    assert (called, answer["type"], answer["call_id"]) == (made, f"{kind}_output", "a")
    failed = kind == "apply_patch_call"
    assert named("responses").parts(answer) == (ToolResult("a", NO_RESULT, is_error=failed),)
