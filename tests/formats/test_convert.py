from __future__ import annotations

import pytest

from holdfast.formats import detect, named
from holdfast.formats.convert import convert
from holdfast.kernel.errors import ConfigError, FormatError
from holdfast.kernel.messages import Text
from holdfast.validity import validate
from tests.formats.rules.messages import assistant, calling, result, tool, use, user


def to_anthropic(payload):
    return convert(payload, "anthropic", "openai_chat")


def to_openai(payload):
    return convert(payload, "openai_chat", "anthropic")


def test_system_messages_become_the_system_prompt():
    messages = [
        {"role": "system", "content": "Be brief."},
        user("x"),
        {"role": "developer", "content": "Be kind."},
    ]
    assert to_anthropic(messages) == {"system": "Be brief.\n\nBe kind.", "messages": [user("x")]}


def test_results_of_parallel_calls_become_blocks_of_one_user_message():
    body = to_anthropic(
        [user("x"), calling("a", "b"), tool("a", "1"), tool("b", "2"), assistant("y")]
    )
    assert body["messages"] == [
        user("x"),
        assistant(use("a"), use("b")),
        user(result("a", "1"), result("b", "2")),
        assistant("y"),
    ]
    assert validate(body, "bedrock") == []


def test_text_beside_a_call_stands_before_it():
    body = to_anthropic([user("x"), calling("a") | {"content": "Reading."}, tool("a")])
    assert body["messages"][1] == assistant({"type": "text", "text": "Reading."}, use("a"))


def test_an_id_that_is_used_twice_gets_another_name_the_second_time():
    body = to_anthropic([user("x"), calling("a"), tool("a", "1"), calling("a"), tool("a", "2")])
    blocks = [message["content"][0] for message in body["messages"][1:]]
    assert [block.get("id") or block["tool_use_id"] for block in blocks] == [
        "a", "a", "a_2", "a_2",
    ]  # fmt: skip
    assert validate(body) == []


def test_an_id_that_anthropic_does_not_spell_is_spelled_anew():
    assert validate(to_anthropic([user("x"), calling("f.x:0"), tool("f.x:0")])) == []


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ('{"n": 12345678901234567890}', {"n": 12345678901234567890}),
        ("", {"text": ""}),
        ("[1]", {"text": "[1]"}),
    ],
)
def test_arguments_become_an_object(arguments, given):
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    body = to_anthropic([user("x"), {"role": "assistant", "content": None, "tool_calls": [call]}])
    assert body["messages"][1]["content"][0]["input"] == given


def test_images_and_files_become_sources():
    content = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
        {"type": "file", "file": {"file_id": "file-1"}},
    ]
    (message,) = to_anthropic([{"role": "user", "content": content}])["messages"]
    assert [block["source"] for block in message["content"]] == [
        {"type": "base64", "media_type": "image/png", "data": "AAAA"},
        {"type": "url", "url": "https://x/y.png"},
        {"type": "file", "file_id": "file-1"},
    ]


def test_what_says_nothing_stays_behind():
    messages = [
        user("x"),
        {"role": "assistant", "content": "", "reasoning_content": "hm"},
        user(" "),
        user("y"),
    ]
    assert to_anthropic(messages)["messages"] == [user("x"), user("y")]


def test_tools_of_a_body_are_converted_too():
    function = {
        "name": "read",
        "description": "Reads.",
        "parameters": {"type": "object", "properties": {}},
    }
    body = to_anthropic(
        {
            "messages": [user("x")],
            "tools": [{"type": "function", "function": function}, {"name": "ls"}],
        }
    )
    assert body["tools"] == [
        {"name": "read", "input_schema": function["parameters"], "description": "Reads."},
        {"name": "ls", "input_schema": {"type": "object"}},
    ]
    assert detect(body).name == "anthropic"


def test_the_old_function_calls_become_tool_calls():
    call = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "old", "arguments": "{}"},
    }
    body = to_anthropic([user("x"), call, {"role": "function", "name": "old", "content": "42"}])
    assert validate(body) == []
    assert body["messages"][1]["content"][0]["name"] == "old"


def test_what_is_no_conversation_is_refused():
    with pytest.raises(FormatError, match=r"messages\[0\]: a str is not a message"):
        to_anthropic(["x"])


def test_a_conversation_comes_back_from_the_other_wire_as_it_was():
    function = {"name": "read", "parameters": {"type": "object"}, "description": "Reads."}
    body = {
        "messages": [
            {"role": "system", "content": "Be brief."},
            user("x"),
            calling("a", "b"),
            tool("a", "1"),
            tool("b", "2"),
            assistant("y"),
        ],
        "tools": [{"type": "function", "function": function}],
    }
    assert to_openai(to_anthropic(body)) == body


def test_words_beside_results_follow_them_and_images_become_the_users():
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
    }
    found = {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": [{"type": "text", "text": "1"}, image],
    }
    document = {"type": "document", "source": {"type": "file", "file_id": "file-1"}}
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    body = to_openai(
        [user("x", document), assistant(thinking, "Reading.", use("a")), user(found, "y")]
    )
    assert validate(body, "openai") == []
    assert body["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "x"},
                {"type": "file", "file": {"file_id": "file-1"}},
            ],
        },
        calling("a") | {"content": "Reading."},
        tool("a", "1"),
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "text", "text": "y"},
            ],
        },
    ]


WIRES = (
    "openai_chat",
    "openai_responses",
    "anthropic",
    "bedrock",
    "gemini",
    "converse",
    "langchain",
    "pydantic_ai",
)


def request() -> dict:
    function = {"name": "read", "description": "Reads.", "parameters": {"type": "object"}}
    return {
        "messages": [
            {"role": "system", "content": "Be brief."},
            user("x"),
            calling("a", "b"),
            tool("a", "1"),
            tool("b", "2"),
            assistant("y"),
            user("z"),
        ],
        "tools": [{"type": "function", "function": function}],
    }


def told(messages: list) -> list:
    """Who says what, without the ids of calls, which a wire may lack."""
    read = named("openai_chat").read(messages).messages
    return [(message.role, [part.text for part in message.parts]) for message in read]


@pytest.mark.parametrize("wire", WIRES)
def test_every_wire_expresses_a_run_and_gives_it_back(wire):
    body = convert(request(), wire)
    assert validate(body, wire) == []
    assert detect(body).name in (wire, "anthropic")
    assert convert(body, "openai_chat", wire)["tools"] == request()["tools"]
    back = convert(body, "openai_chat", wire)["messages"]
    assert told(back) == told(request()["messages"])


@pytest.mark.parametrize("wire", WIRES)
def test_a_conversation_of_each_wire_goes_to_each_other(wire):
    body = convert(request(), wire)
    for other in WIRES:
        assert validate(convert(body, other, wire), other) == []


def test_items_of_one_reply_become_one_message():
    items = [
        user("x"),
        {"type": "reasoning", "id": "rs_1", "summary": []},
        assistant("Reading."),
        {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"},
        {"type": "function_call", "call_id": "b", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "b", "output": "2"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
    ]
    messages = convert(items, "openai_chat")["messages"]
    assert messages[1] == calling("a", "b") | {"content": "Reading."}
    assert messages[2:] == [tool("b", "2"), tool("a", "1")]


def test_tools_among_the_items_become_tools_of_the_request():
    given = {"type": "function", "name": "read", "parameters": {"type": "object"}}
    space = {"type": "namespace", "name": "files", "tools": [given]}
    items = [{"type": "additional_tools", "role": "developer", "tools": [space]}, user("x")]
    assert convert(items, "anthropic") == {
        "messages": [user("x")],
        "tools": [{"name": "read", "input_schema": {"type": "object"}}],
    }


def test_an_image_goes_where_the_wire_has_a_place_for_it():
    content = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
    messages = [{"role": "user", "content": content}]
    shown = {
        "gemini": ("contents", "parts", {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}),
        "converse": (
            "messages",
            "content",
            {"image": {"format": "png", "source": {"bytes": "AAAA"}}},
        ),
        "openai_responses": (
            "input",
            "content",
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        ),
    }
    for wire, (field, inner, block) in shown.items():
        assert convert(messages, wire)[field] == [{"role": "user", inner: [block]}]


@pytest.mark.parametrize("wire", ["openai_chat", "anthropic", "bedrock", "converse", "responses"])
@pytest.mark.parametrize(
    "medium",
    [
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
        {"fileData": {"mimeType": "application/pdf", "fileUri": "https://x/y.pdf"}},
    ],
)
def test_what_a_model_drew_becomes_text_where_only_users_show_media(wire, medium):
    turns = [("user", {"text": "draw"}), ("model", medium), ("user", {"text": "and?"})]
    contents = [{"role": role, "parts": [part]} for role, part in turns]
    body = convert({"contents": contents}, wire)
    assert validate(body, wire) == []
    _, drawn, _ = named(wire).read(body).messages
    assert drawn.role == "assistant"
    assert [type(part) for part in drawn.parts] == [Text]
    source = medium.get("inlineData", {}).get("data") or medium["fileData"]["fileUri"]
    assert source in drawn.content_text


def test_what_a_model_drew_stays_media_for_a_model_that_draws():
    contents = [
        {"role": "user", "parts": [{"text": "draw"}]},
        {"role": "model", "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]},
    ]
    assert convert({"contents": contents}, "gemini")["contents"] == contents


PDF = "JVBERi0xLjQ="
WAV = "UklGRg=="


def shown_in(content: list, wire: str, of: str) -> list:
    """The parts of one user's message on another wire, without the field that says where."""
    (message,) = next(
        value
        for field, value in convert([{"role": "user", "content": content}], wire, of).items()
        if field in ("messages", "contents", "input")
    )
    return message.get("content") or message["parts"]


def test_a_document_of_converse_has_the_type_that_others_know_and_comes_back_as_a_document():
    block = {"document": {"name": "d", "format": "pdf", "source": {"bytes": PDF}}}
    kind = "application/pdf"
    (file,) = shown_in([block], "openai_chat", "converse")
    assert file["file"] == {
        "filename": "document.pdf",
        "file_data": f"data:{kind};base64,{PDF}",
    }
    (item,) = shown_in([block], "openai_responses", "converse")
    assert item == {"type": "input_file", **file["file"]}
    (shown,) = shown_in([block], "anthropic", "converse")
    assert shown["source"] == {"type": "base64", "media_type": kind, "data": PDF}
    assert shown_in([block], "gemini", "converse") == [
        {"inlineData": {"mimeType": kind, "data": PDF}}
    ]
    other = {"type": "file", "file": {"file_data": f"data:{kind};base64,AAAA"}}
    back = shown_in([file, other], "converse", "openai_chat")
    told, *held = back
    assert told == {"text": "[document]"}  # without a text Bedrock takes none
    assert [each["document"]["source"] for each in held] == [{"bytes": PDF}, {"bytes": "AAAA"}]
    assert len({each["document"]["name"] for each in held}) == len(held)
    assert validate([{"role": "user", "content": back}], "converse") == []


def test_a_document_of_text_is_text_where_only_that_is_accepted():
    block = {"document": {"name": "d", "format": "csv", "source": {"bytes": "YSxi"}}}
    (shown,) = shown_in([block], "anthropic", "converse")
    assert shown["source"] == {"type": "text", "media_type": "text/plain", "data": "a,b"}
    sheet = {"document": {"name": "d", "format": "xlsx", "source": {"bytes": "YSxi"}}}
    assert shown_in([sheet], "anthropic", "converse")[0]["type"] == "text"


def test_sound_is_sound_where_the_wire_has_a_field_for_it():
    sound = {"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}}
    parts = shown_in([sound], "gemini", "openai_chat")
    assert parts == [{"inlineData": {"mimeType": "audio/wav", "data": WAV}}]
    contents = [{"role": "user", "parts": parts}]
    assert convert(contents, "openai_chat")["messages"] == [{"role": "user", "content": [sound]}]


@pytest.mark.parametrize("wire", ["openai_chat", "openai_responses", "anthropic", "converse"])
@pytest.mark.parametrize("kind", ["image/png", "application/pdf", "video/mp4"])
def test_what_is_in_a_bucket_is_told_as_text_and_not_taken_for_data(wire, kind):
    part = {"fileData": {"mimeType": kind, "fileUri": "gs://bucket/a.b"}}
    contents = [{"role": "user", "parts": [{"text": "x"}, part]}]
    assert convert(contents, "gemini")["contents"] == contents
    (message,) = named(wire).read(convert(contents, wire)).messages
    assert [type(part) for part in message.parts] == [Text, Text]
    assert "gs://bucket/a.b" in message.parts[1].text


def test_data_and_types_are_spelled_as_every_vendor_reads_them():
    parts = [{"inlineData": {"mimeType": "image/jpg", "data": "-_8="}}]
    (message,) = convert([{"role": "user", "parts": parts}], "anthropic")["messages"]
    (block,) = message["content"]
    assert block["source"] == {"type": "base64", "media_type": "image/jpeg", "data": "+/8="}


@pytest.mark.parametrize("wire", ["anthropic", "bedrock", "converse"])
def test_a_conversation_that_the_assistant_begins_and_ends_is_accepted(wire):
    messages = [assistant("Hello."), user("x"), assistant("y ")]
    assert validate(convert(messages, wire), wire) == []


@pytest.mark.parametrize("wire", ["openai_chat", "openai_responses", "converse"])
def test_an_id_that_is_too_long_for_the_wire_is_cut(wire):
    ids = [f"{'a' * 200}{number}" for number in range(2)]
    results = [result(each, "1") for each in ids]
    body = convert([user("x"), assistant(*map(use, ids)), user(*results)], wire, "anthropic")
    assert validate(body, wire) == []


def test_plain_is_no_wire_to_convert_to():
    with pytest.raises(ConfigError, match="to: 'plain' is not a wire to convert to; known are"):
        convert([user("x")], "plain")
