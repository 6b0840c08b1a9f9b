"""A person's mistake gives one line that names the place and says what to do; no file is
touched.
"""

from __future__ import annotations

import pytest

from holdfast.cli import app

CONTENTS = [
    (b"", "chat.json: it is empty; give a JSON list of messages, or a request body"),
    (b" \n ", "chat.json: it is empty; give a JSON list of messages, or a request body"),
    (b'{"messages": [', "chat.json: line 1, column 15: this is not JSON"),
    (b'[\n {"role": "user",}\n]', "chat.json: line 2, column"),
    (b"[{'role': 'user'}]", "double quotes"),
    (b'[{"role": "user", "content": "a"},]', "remove the comma before the bracket"),
    (b'[{"role": "user", "content": "a"},\n' + b" " * 40 + b"]", "remove the comma before the"),
    (b'["a,\n]"]', "correct it there"),
    (b"\x00\x00\x00", "chat.json: line 1, column 1: this is not JSON"),
    (b'[{"role": "user", "content": "\xff"}]',
     "chat.json: byte 30 (0xff) is not UTF-8; save it as UTF-8"),
    ('[{"role": "user", "content": "a"}]'.encode("utf-16"), "it looks like UTF-16"),
    (b'[{"role": "user", "content": "a", "role": "tool"}]',
     "chat.json: messages[0]: the key 'role' appears twice"),
    (b'{"messages": [{"role": "user", "content": "a", "m": {"x": 1, "x": 2}}]}',
     "chat.json: messages[0].m: the key 'x'"),
    (b'[{"role": "user", "content": "a"}, {"role": "user", "content": "a", "score": NaN}]',
     "chat.json: messages[1].score: NaN"),
    (b'[{"role": "user", "content": "a", "score": -1e400}]',
     "chat.json: messages[0].score: -1e400 is too large a number"),
    (b'[{"role": "user", "content": "a", "n": ' + b"9" * 5000 + b"}]",
     "chat.json: messages[0].n: a number of 5,000 digits"),
    (b"[" * 200_000 + b"]" * 200_000, "chat.json: it is nested too deeply"),
    (b"3", "chat.json"),
    (b'"text"', "chat.json"),
    (b'{"role": "user", "content": "a"}',
     "chat.json: an object without \"messages\" is not a conversation"),
    (b'{"messages": 3}', "chat.json: messages"),
    (b"[1, 2]", "chat.json: messages[0]"),
    (b'[{"content": "a"}]', "chat.json: messages[0]: the message has no \"role\""),
    (b'[{"role": "user", "content": 5}]', "chat.json: messages[0].content"),
    (b'{"holdfast": 1, "messages": []}',
     "chat.json: this is a result, not a conversation; get the messages out"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "line"), CONTENTS, ids=range(len(CONTENTS)))
@pytest.mark.parametrize("command", ["count", "compress", "explain", "validate"])
def test_a_file_that_is_no_conversation_is_named_with_the_place(
    run, folder, command, content, line
):
    (folder / "chat.json").write_bytes(content)
    extra = ["--budget", "100"] if command in ("compress", "explain") else []
    ran = run(command, "chat.json", *extra)
    assert ran.code == 2
    assert line in ran.complaint
    assert [path.name for path in folder.iterdir()] == ["chat.json"]


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (b'{"role": "user", "content": "a"}\n'
            b'{"role": "user", "content": a}\n', "chat.jsonl: line 2, column 29: this is not JSON"),
        (b'{"messages": []}\n{"messages": []}\n', "chat.jsonl: each line is a "
            "conversation of its own"),
        (b'{"role": "user", "content": "a"}\n'
            b'{"role": "user", "x": NaN}\n', "chat.jsonl: line 2.x: NaN is not JSON"),
    ],
)  # fmt: skip
def test_a_wrong_line_of_json_lines_is_named(run, folder, lines, line):
    (folder / "chat.jsonl").write_bytes(lines)
    ran = run("count", "chat.jsonl")
    assert ran.code == 2
    assert line in ran.complaint


def test_a_file_that_is_not_there_and_a_directory_are_told_apart(run, folder):
    (folder / "chats").mkdir()
    assert run("count", "chat.json").complaint == "chat.json: there is no such file; check the path"
    assert run("count", "chats").complaint == "chats: this is a directory; name a file in it"
    assert "cannot be read" in run("count", "a\x00b").complaint


def test_standard_input_is_named_as_such(run):
    assert run("count", "-", stdin=b"[{]").complaint.startswith("standard input: line 1, column 3")


ARGUMENTS = [
    (["--budget", "lots"],
     "--budget: 'lots' is not a positive number of tokens; give one such as 8000"),
    (["--budget", "-5"], "--budget: '-5' is not a positive number of tokens"),
    (["--budget", "0"],
     "--budget: '0' is not a positive number of tokens; give one such as 8000 or 8k"),
    (["--budget", "8.5"],
     "--budget: '8.5' is not a positive number of tokens; give one such as 8000 or 8k"),
    (["--budget", "999999999999999k"],
     "--budget: '999999999999999k' is more than any model takes; give one such as"),
    (["--budget", "9" * 30], "is more than any model takes"),
    (["--budget", "80%"],
     "; for a share of a model's window, name the model and the rest as headroom"),
    (["--budget", "9", "--strategy", "stepwise"], "there is no strategy named 'stepwise'"),
    (["--budget", "0.0k"], "--budget: '0.0k' is not a positive number of tokens"),
    (["--budget", "9" * 5000], "is not a positive number of tokens"),
    ([], "--budget: no budget is given; give --budget, or name a model"),
    (["--window", "100", "--reserve", "100"], "reserve and headroom leave nothing"),
    (["--budget", "9", "--headroom", "1.5"], "--headroom: '1.5' is not a share in [0, 1]"),
    (["--budget", "9", "--headroom", "1"],
     "headroom: 1.0 does not belong here; give a share in [0, 1)"),
    (["--budget", "9", "--headroom", "nan"], "--headroom: 'nan' is not a share"),
    (["--budget", "9", "--step", "x"], "--step: 'x' is not a share"),
    (["--budget", "9", "--pin", "first"], "--pin: 'first' names no messages"),
    (["--budget", "9", "--pin", "99"], "--pin: there is no message 99; there are 6 messages"),
    (["--budget", "9", "--profile", "wide.toml"],
     "--profile: wide.toml:2: headroom: 2 does not belong here; give a share in [0, 1)"),
    (["--budget", "9", "--profile", "fats"], "--profile: there is no profile named 'fats'"),
    (["--budget", "9", "--strategy", "trimm"],
     "--strategy: there is no strategy named 'trimm'; did you mean 'trim'?"),
    (["--budget", "9", "--profile", "fast", "--strategy", "trim"],
     "--profile: a profile and strategies exclude each other"),
    (["--budget", "9", "--format", "openia"], "--format: there is no format named 'openia'"),
    (["--budget", "9", "--counter", "floor5"],
     "--counter: there is no token counter named 'floor5'"),
    (["--model", "gtp-4o"],
     "--model: the window of 'gtp-4o' is not known; check the name, or give a budget"),
    (["--budget", "9", "--llm", "opnai:mini"],
     "--llm: 'opnai:mini' names no model vendor; did you mean 'openai:mini'? known"),
    (["--budget", "9", "--llm", "gpt-4o"],
     "--llm: 'gpt-4o' names no model vendor; write 'vendor:name'; known are"),
    (["--budget", "9", "--store", "memory://"],
     "--store memory://: memory is lost when the command ends; name a file"),
    (["--budget", "9", "--store", "sqlite:///no/a.db"],
     "--store sqlite:///no/a.db: there is no directory no; make it first"),
    (["--budget", "9", "--store", "cassandra://a"], "--store: there is no store named 'cassandra'"),
    (["--budget", "9", "--profile", "fst"],
     "--profile: there is no profile named 'fst'; did you mean 'fast'? known are"),
    (["--budget", "9", "--report", "why.pdf"],
     "--report why.pdf: its name does not say the form of the report; let it "
        "end in .html"),
    (["--budgt", "9"], "--budgt: there is no such option; did you mean --budget"),
    (["--budgett", "9"], "--budgett: there is no such option; did you mean --budget?"),
    (["--budget", "9", "--format", "anthropic"],
     "chat.json: messages[2].tool_calls: the Messages API has no such field; convert the "
     "messages first, with `holdfast convert`"),
    (["--budget"], "--budget"),
    (["--budget", "9", "another.json"],
     "got unexpected extra argument (another.json); see holdfast compress --help"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "line"), ARGUMENTS)
def test_a_wrong_argument_is_named_as_the_option_that_it_is(run, talk, folder, arguments, line):
    (folder / "wide.toml").write_text('name = "wide"\nheadroom = 2\n[[steps]]\nstrategy = "trim"\n')
    ran = run("compress", "chat.json", *arguments, "-o", "out.json")
    assert ran.code == 2
    assert line in ran.complaint
    assert not (folder / "out.json").exists()


@pytest.mark.parametrize("server", [["mcp"], ["serve", "--port", "0"]])
def test_a_server_does_not_start_with_a_store_that_nobody_knows(run, server):
    ran = run(*server, "--store", "cassandra://a")
    assert ran.code == 2
    assert ran.complaint.startswith("--store: there is no store named 'cassandra'")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["compress", "chat.json", "--budget", "9", "--strategy", "summarizing"],
         "no model was given; pass --llm; "),
        (["convert", "chat.json", "--to", "plain"], "--to: 'plain' is not a wire to convert to"),
        (["eval", "chat.json", "chat.json", "--judge", "extractive"],
         "--judge: it has no question; give --probes too"),
        (["batch", "chat.jsonl", "out.jsonl", "--budget", "9", "--engine", "processes://x"],
         "--engine: 'processes://x' says no number; write one such as processes://4"),
        (["batch", "chat.jsonl", "out.jsonl", "--budget", "9", "--chunk", "x"],
         "--chunk: 'x' is not a valid whole number; see holdfast batch --help"),
        (["batch", "chat.jsonl", "out.jsonl", "--budget", "9", "--chunk", "0"],
         "--chunk: 0 is not in the range x>=1; see holdfast batch --help"),
        (["store", "chek"], "holdfast store: there is no command named 'chek'"),
        (["store", "check", "cassandra://a"],
         "cassandra://a: there is no store named 'cassandra'; known are"),
    ],
)  # fmt: skip
def test_an_error_names_the_command_and_the_options_that_a_person_typed(
    run, talk, folder, arguments, line
):
    (folder / "chat.jsonl").write_text("[]\n")
    assert line in run(*arguments).complaint


def test_a_vendor_without_a_key_is_not_told_as_a_fault_of_another_option(run, talk, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    line = run("compress", "chat.json", "--budget", "9", "--embedder", "openai:a").complaint
    told = "there is no key for OpenAI; set OPENAI_API_KEY, or in Python give api_key="
    assert line == told


def test_what_a_step_asks_for_is_an_option_in_the_summary_of_a_shell(run, talk):
    ran = run("compress", "chat.json", "--budget", "500", "--profile", "quality")
    assert "not applied: no model was given; pass --llm" in ran.err


def test_a_missing_file_name_and_an_unknown_command_say_what_there_is(run):
    assert run("compress").complaint == "FILE|-: it is missing; see holdfast compress --help"
    assert run("comprss").complaint.startswith(
        "there is no command named 'comprss'; did you mean 'compress'?"
    )


def test_tools_that_are_no_list_of_schemas_are_named_by_their_file(run, talk, folder):
    (folder / "tools.json").write_text('{"tool": 1}')
    line = run("count", "chat.json", "--tools", "tools.json").complaint
    assert line == 'tools.json: it has no list of schemas; give a list, or an object with "tools"'


def test_a_file_of_tools_that_is_not_there_is_named_once(run, talk):
    line = run("count", "chat.json", "--tools", "none.json").complaint
    assert line == "none.json: there is no such file; check the path"


def test_what_python_says_of_a_text_without_an_end_is_said_in_whole_words(run, folder):
    (folder / "chat.json").write_text('[{"role": "user')
    line = run("count", "chat.json").complaint
    assert line.startswith(
        "chat.json: line 1, column 11: this is not JSON (unterminated string starting at '\"user')"
    )


def test_a_file_name_cannot_act_on_the_terminal(run):
    assert "\\x1b[2J" in run("count", "\x1b[2J\nx").complaint


def test_a_fault_of_ours_is_one_line_with_a_code_of_its_own(run, talk, monkeypatch):
    monkeypatch.setattr("holdfast.cli.conversation.count", lambda *_args, **_options: 1 // 0)
    ran = run("count", "chat.json")
    assert ran.code == 70
    assert ran.complaint.startswith("an error in Holdfast itself: ZeroDivisionError: ")
    assert "holdfast --debug" in ran.complaint


def test_the_traceback_is_shown_only_for_debug(run, talk, monkeypatch):
    monkeypatch.setattr("holdfast.cli.conversation.count", lambda *_args, **_options: 1 // 0)
    ran = run("--debug", "count", "chat.json")
    assert ran.code == 70
    assert "Traceback" in ran.err


@pytest.mark.parametrize("in_a_class", [False, True])
def test_an_interrupt_is_no_fault(run, talk, monkeypatch, in_a_class):
    def interrupted(*_args: object, **_options: object) -> None:
        if in_a_class:  # as Python 3.11 tells it
            raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()
        raise KeyboardInterrupt

    monkeypatch.setattr("holdfast.cli.conversation.count", interrupted)
    ran = run("count", "chat.json")
    assert (ran.code, ran.out, ran.err.strip()) == (130, "", "")


def test_every_option_has_help_and_every_command_a_line(run):
    ran = run("--help")
    assert ran.code == 0
    for name in app.list_commands(None):
        assert name in ran.out
        helped = run(name, "--help")
        assert helped.code == 0
        assert all(
            param.help
            for param in app.get_command(None, name).params
            if param.param_type_name == "option"
        )
    assert "cannot be met" in ran.out


def test_without_a_command_the_help_is_shown(run):
    assert run().out == run("--help").out


def test_the_version_is_told(run):
    assert run("--version").out.startswith("holdfast, version ")
