from __future__ import annotations

import json

CALL = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
TALK = [
    {"role": "user", "content": "What is in the file?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "a", "content": "two lines"},
]


def test_a_conversation_is_written_as_a_request_of_another_provider(run, folder):
    (folder / "chat.json").write_text(json.dumps(TALK))
    ran = run("convert", "chat.json", "--to", "openai_responses")
    assert ran.code == 0
    assert [item.get("type", "message") for item in ran.json["input"]] == [
        "message",
        "function_call",
        "function_call_output",
    ]


def test_it_goes_to_the_file_that_is_named(run, folder):
    ran = run("convert", "-", "--to", "gemini", "-o", "out.json", stdin=json.dumps(TALK).encode())
    assert (ran.code, ran.out) == (0, "")
    assert len(json.loads((folder / "out.json").read_text())["contents"]) == 3


def test_a_form_that_has_no_messages_of_its_own_is_refused_in_one_line(run, folder):
    (folder / "chat.json").write_text(json.dumps(TALK))
    ran = run("convert", "chat.json", "--to", "plain")
    assert ran.code == 2
    assert "'plain' is not a wire to convert to" in ran.complaint


def test_a_request_never_takes_the_place_of_the_conversation_that_it_is_made_of(run, folder):
    file = folder / "chat.json"
    file.write_text(json.dumps(TALK))
    ran = run("convert", "chat.json", "--to", "gemini", "-o", "chat.json")
    assert ran.code == 2
    assert ran.complaint == "-o chat.json: this is the file that is read; name another"
    assert json.loads(file.read_text()) == TALK
