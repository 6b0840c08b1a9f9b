"""``holdfast compress`` writes the messages, the result and the report, all or none."""

from __future__ import annotations

import json
import os
import stat

import pytest

import holdfast


def test_messages_go_to_the_file_in_the_form_in_which_they_came(run, talk, folder):
    ran = run("compress", "chat.json", "--budget", "500", "-o", "short.json")
    assert ran.code == 0
    assert ran.out == ""
    assert json.loads((folder / "short.json").read_text()) == holdfast.compress(talk, 500).messages
    assert "500 tokens: met" in ran.err
    assert "The messages are in short.json." in ran.err
    assert "The original is still in chat.json." in ran.err


def test_without_a_file_they_go_into_the_pipe(run, talk):
    assert (
        run("compress", "chat.json", "--budget", "500", "-q").json
        == holdfast.compress(talk, 500).messages
    )
    ran = run("compress", "-", "--budget", "500", "-o", "-", "-q", stdin=json.dumps(talk).encode())
    assert ran.json == holdfast.compress(talk, 500).messages
    assert ran.err == ""


def test_a_conversation_that_fits_is_written_as_it_is(run, folder):
    text = (
        '[{"role":"user","zeta":1,"content":"é \\ud83d\\ude00 \\ud800 '
        '\\u0000","n":12345678901234567890123,"f":1.5}]'
    )
    (folder / "chat.json").write_text(text)
    ran = run("compress", "chat.json", "--budget", "500", "-q")
    assert ran.raw.count(b"\n") == 1
    assert "é \N{GRINNING FACE} \\ud800 \\u0000" in ran.out
    assert json.loads(ran.raw, object_pairs_hook=list) == json.loads(text, object_pairs_hook=list)


def test_json_lines_stay_json_lines_and_an_indented_file_stays_indented(run, talk, folder):
    (folder / "chat.jsonl").write_text("".join(f"{json.dumps(message)}\n" for message in talk))
    lines = run("compress", "chat.jsonl", "--budget", "500", "-q").out.splitlines()
    assert [json.loads(line) for line in lines] == holdfast.compress(talk, 500).messages
    assert run("compress", "chat.json", "--budget", "500", "-q").out.startswith(
        '[\n  {\n    "role"'
    )


def test_json_lines_are_known_without_their_suffix(run, talk):
    lines = "".join(f"{json.dumps(message)}\n" for message in talk).encode()
    assert run("compress", "-", "--budget", "9k", "-q", stdin=lines).out.count("\n") == len(talk)


def test_a_byte_order_mark_is_not_part_of_the_messages(run, talk):
    ran = run(
        "compress", "-", "--budget", "9k", "-q", stdin=b"\xef\xbb\xbf" + json.dumps(talk).encode()
    )
    assert ran.json == talk


def test_a_request_body_comes_back_whole(run, talk, folder):
    (folder / "body.json").write_text(
        json.dumps({"model": "gpt-4o", "messages": talk, "temperature": 0.5})
    )
    body = run("compress", "body.json", "--budget", "500", "-q").json
    assert list(body) == ["model", "messages", "temperature"]
    assert body["messages"] == holdfast.compress(talk, 500).messages


def test_a_budget_that_cannot_be_met_is_refused_and_nothing_is_written(run, talk, folder):
    ran = run(
        "compress",
        "chat.json",
        "--budget",
        "5",
        "-o",
        "o.json",
        "--result",
        "r.json",
        "--report",
        "r.html",
    )
    assert ran.code == 1
    assert ran.complaint.startswith("the budget of 5 tokens cannot be met: ")
    assert "the smallest budget that would do is " in ran.complaint
    assert [path.name for path in folder.iterdir()] == ["chat.json"]


def test_the_smallest_budget_that_is_named_does(run, talk):
    smallest = (
        run("compress", "chat.json", "--budget", "5")
        .complaint.partition("would do is ")[2]
        .split(";")[0]
    )
    assert run("compress", "chat.json", "--budget", smallest).code == 0


def test_a_soft_budget_is_met_as_nearly_as_can_be(run, talk, folder):
    ran = run("compress", "chat.json", "--budget", "5", "--soft", "-o", "out.json")
    assert ran.code == 0
    assert "budget 5 tokens: NOT met" in ran.err
    assert json.loads((folder / "out.json").read_text())[-1] == talk[-1]


def test_json_tells_programs_how_it_went(run, talk, folder):
    ran = run("compress", "chat.json", "--budget", "500", "-o", "out.json", "--json", "-q")
    facts = ran.json
    result = holdfast.compress(talk, 500)
    assert facts["budget_met"] is True
    assert facts["metrics"] == result.metrics.to_dict()
    assert facts["usage"]["limit"] == 500
    assert [step["name"] for step in facts["steps"]] == [step.name for step in result.steps]
    assert any(step["edits"] for step in facts["steps"])
    assert (folder / "out.json").exists()


def test_json_is_told_of_a_budget_that_cannot_be_met_too(run, talk):
    ran = run("compress", "chat.json", "--budget", "5", "--json")
    assert ran.code == 1
    assert ran.json["budget_met"] is False
    assert ran.json["smallest"] > 5
    assert ran.err.startswith("holdfast: the budget of 5 tokens cannot be met")


def test_json_and_the_messages_cannot_share_standard_output(run, talk):
    assert run(
        "compress", "chat.json", "--budget", "500", "--json", "-o", "-"
    ).complaint.startswith("-o: --json and")


def test_options_reach_the_compression(run, talk, folder):
    options = [
        "--strategy",
        "prune",
        "--strategy",
        "trim",
        "--model",
        "gpt-4o",
        "--pin",
        "1,-1",
        "--pin",
        "2",
    ]
    facts = run(
        "compress",
        "chat.json",
        "--window",
        "1k",
        "--reserve",
        "400",
        "--headroom",
        "10%",
        *options,
        "--json",
    ).json
    assert facts["usage"]["limit"] == 540
    assert facts["accuracy"] == {"kind": "approximate", "error": None}
    assert [step["name"] for step in facts["steps"]] == ["prune", "trim"]


def test_the_window_of_a_known_model_is_a_budget(run, talk):
    assert (
        run("compress", "chat.json", "--model", "gpt-4o", "--json").json["usage"]["limit"]
        == 128_000
    )


def test_schemas_of_tools_are_counted(run, talk, folder):
    (folder / "tools.json").write_text(
        json.dumps({"tools": [{"type": "function", "function": {"name": "read " * 50}}]})
    )
    plain = run("compress", "chat.json", "--budget", "9k", "--json").json
    more = run("compress", "chat.json", "--budget", "9k", "--json", "--tools", "tools.json").json
    assert more["usage"]["tokens"] > plain["usage"]["tokens"] + 40


def test_a_report_takes_its_form_from_its_name(run, talk, folder):
    assert (
        "The report is in why.html."
        in run("compress", "chat.json", "-b", "500", "--report", "why.html").err
    )
    run("compress", "chat.json", "--budget", "500", "--report", "why.txt", "-q")
    assert (folder / "why.html").read_text().startswith("<!doctype html>")
    assert (
        "dropped" in (folder / "why.txt").read_text()
        or "changed" in (folder / "why.txt").read_text()
    )


def test_a_report_of_lone_surrogates_can_be_written(run, folder):
    (folder / "chat.json").write_text('[{"role": "user", "content": "\\ud800"}]')
    assert (
        run(
            "compress", "chat.json", "--budget", "500", "--report", "why.html", "--result", "r.json"
        ).code
        == 0
    )
    assert "\\ud800" in (folder / "why.html").read_text()


@pytest.mark.parametrize(
    ("targets", "line"),
    [
        (["-o", "nowhere/out.json"], "-o nowhere/out.json: there is no directory"),
        (["-o", "."], "-o .: this is a directory"),
        (["-o", "a" * 300], f"-o {'a' * 300}: file name too long; name another file"),
        (["-o", "a.json", "--result", "./a.json"], "--result ./a.json: -o names the same file"),
        (["--result", "chat.json"], "--result chat.json: this is the file that is read"),
        (["--report", "link.html"], "--report link.html: this is the file that is read"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_any_work(run, talk, folder, targets, line):
    (folder / "link.html").symlink_to("chat.json")
    before = (folder / "chat.json").read_bytes()
    ran = run("compress", "chat.json", "--budget", "500", *targets)
    assert ran.code == 2
    assert line in ran.complaint
    assert (folder / "chat.json").read_bytes() == before


@pytest.mark.parametrize("store", ["originals.db", "sqlite:///originals.db"])
@pytest.mark.parametrize("target", ["-o", "--result"])
def test_the_store_is_never_written_over(run, talk, folder, store, target):
    arguments = ["compress", "chat.json", "--budget", "500", "--store", store]
    assert run(*arguments, "-o", "out.json").code == 0
    before = (folder / "originals.db").read_bytes()
    ran = run(*arguments, target, "originals.db")
    assert ran.code == 2
    assert f"{target} originals.db: this is the file that is read" in ran.complaint
    assert (folder / "originals.db").read_bytes() == before


def test_the_input_itself_may_be_replaced_and_keeps_its_mode(run, talk, folder):
    (folder / "chat.json").chmod(0o640)
    ran = run("compress", "chat.json", "--budget", "500", "-o", "chat.json")
    assert json.loads((folder / "chat.json").read_text()) == holdfast.compress(talk, 500).messages
    assert stat.S_IMODE((folder / "chat.json").stat().st_mode) == 0o640
    assert "What was removed is not kept: give --result FILE" in ran.err


def test_a_link_stays_a_link(run, talk, folder):
    (folder / "link.json").symlink_to("short.json")
    run("compress", "chat.json", "--budget", "500", "-o", "link.json")
    assert (folder / "link.json").is_symlink()
    assert json.loads((folder / "short.json").read_text())


def test_a_write_that_fails_leaves_every_file_as_it_was(run, talk, folder, monkeypatch):
    (folder / "out.json").write_text("before")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ran = run("compress", "chat.json", "--budget", "500", "-o", "out.json", "--result", "all.json")
    assert ran.code == 2
    assert (
        ran.complaint
        == "out.json: it cannot be written (No space left on device); name another file"
    )
    assert (folder / "out.json").read_text() == "before"
    assert sorted(path.name for path in folder.iterdir()) == ["chat.json", "out.json"]


def test_explain_does_not_touch_the_store(run, talk, folder):
    run("explain", "chat.json", "--budget", "500", "--store", "sqlite:///kept.db")
    assert not (folder / "kept.db").exists()


def test_a_message_of_20_megabytes_is_read_and_written(run, folder):
    big = [{"role": "user", "content": "word " * 4_000_000}, {"role": "user", "content": "and?"}]
    (folder / "chat.json").write_text(json.dumps(big))
    assert run("compress", "chat.json", "--budget", "100", "-q").json[-1:] == big[1:]


@pytest.mark.parametrize("budget", ["1500", "1_500", "1,500", "1.5k", "1.5K", "0.0015m"])
def test_a_number_of_tokens_is_read_as_people_write_it(run, talk, budget):
    assert (
        run("compress", "chat.json", "--budget", budget, "--json").json["usage"]["limit"] == 1_500
    )


def test_one_strategy_is_called_by_its_name_and_several_are_a_hybrid(run, talk):
    one, two = (
        ("--strategy", "sliding_window"),
        ("--strategy", "prune", "--strategy", "sliding_window"),
    )
    assert (
        run("compress", "chat.json", "-b", "500", "--json", *one).json["strategy"]
        == "sliding_window"
    )
    assert run("compress", "chat.json", "-b", "500", "--json", *two).json["strategy"] == "hybrid"
