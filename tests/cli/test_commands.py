"""``count``, ``explain``, ``validate`` and ``restore``."""

from __future__ import annotations

import json

import holdfast


def test_count_shows_every_message_with_its_share_and_the_total(run, talk):
    ran = run("count", "chat.json", "--model", "gpt-4o")
    counted = holdfast.count(talk, model="gpt-4o")
    rows = ran.out.splitlines()
    assert ran.code == 0
    assert rows[1].split()[:3] == ["0", "system", f"{counted.messages[0].tokens:,}"]
    assert rows[4].split()[3].endswith("%")
    assert f"{counted.total:,} tokens" in ran.out
    assert "o200k_base: approximate" in ran.out
    assert not any(row.endswith(" ") for row in rows)


def test_count_says_how_far_it_can_be_trusted(run, talk):
    assert "approximate" in run("count", "chat.json").out
    assert run("count", "chat.json", "--counter", "floor4", "--json").json["counter"] == "floor4"


def test_count_gives_programs_the_same_numbers(run, talk):
    facts = run("count", "chat.json", "--json").json
    counted = holdfast.count(talk)
    assert (
        facts["total"]
        == counted.total
        == facts["overhead"] + sum(row["tokens"] for row in facts["messages"])
    )
    assert [row["role"] for row in facts["messages"]] == [message["role"] for message in talk]
    assert facts["messages"][1]["index"] == 1


def test_hostile_text_does_not_reach_the_table(run, folder):
    (folder / "chat.json").write_text(
        json.dumps([{"role": "user", "content": "\x1b[2J[bold]\u202e"}])
    )
    out = run("count", "chat.json").out
    assert "\x1b" not in out
    assert "\\x1b[2J[bold]\\u202e" in out


def test_explain_tells_the_fate_of_each_message_and_writes_nothing(run, talk, folder):
    ran = run("explain", "chat.json", "--budget", "500")
    assert ran.code == 0
    assert ran.out == holdfast.report(holdfast.compress(talk, 500))
    assert [path.name for path in folder.iterdir()] == ["chat.json"]


def test_explain_gives_programs_the_fate_of_each_message(run, talk):
    facts = run("explain", "chat.json", "--budget", "500", "--json").json
    fates = facts["messages"]
    assert [fate["before"] for fate in fates] == list(range(len(talk)))
    assert {fate["state"] for fate in fates} > {"kept"}
    assert all((fate["state"] == "kept") == (fate["step"] is None) for fate in fates)
    left = sum(fate["tokens_after"] for fate in fates)
    assert facts["usage"]["tokens"] - left == facts["metrics"]["tokens_before"] - sum(
        fate["tokens_before"] for fate in fates
    )


def test_explain_shows_a_budget_that_cannot_be_met_and_fails_as_compress_would(run, talk):
    ran = run("explain", "chat.json", "--budget", "5")
    assert ran.code == 1
    assert "NOT met" in ran.out
    assert ran.err.startswith("holdfast: the budget of 5 tokens cannot be met")
    assert run("explain", "chat.json", "--budget", "5", "--soft").code == 0


def test_explain_can_write_the_page_instead(run, talk, folder):
    ran = run("explain", "chat.json", "--budget", "500", "--report", "why.html")
    assert (ran.code, ran.out, ran.err) == (0, "", "The report is in why.html.\n")
    assert (folder / "why.html").read_text() == holdfast.report(
        holdfast.compress(talk, 500), "html"
    )


def test_restore_gives_the_original_back_exactly(run, talk, folder):
    run("compress", "chat.json", "--budget", "500", "-o", "chat.json", "--result", "all.json", "-q")
    ran = run("restore", "all.json")
    assert (ran.code, ran.json) == (0, talk)
    ran = run("restore", "all.json", "-o", "back.json")
    assert json.loads((folder / "back.json").read_text()) == talk
    assert ran.out == ""


def test_restore_gives_a_request_body_back_with_its_numbers_and_order(run, talk, folder):
    body = {"zeta": 12345678901234567890123, "messages": talk, "alpha": 0.1}
    (folder / "body.json").write_text(json.dumps(body))
    run("compress", "body.json", "--budget", "500", "--result", "all.json", "-q")
    assert run("restore", "all.json").out == json.dumps(body, indent=2) + "\n"


def test_restore_says_what_it_needs(run, talk, folder):
    assert run("restore", "chat.json").complaint == (
        "chat.json: this is not a result; give the file that `holdfast compress --result "
        "FILE` wrote"
    )
    (folder / "cut.json").write_text('{"holdfast": 1, "messa')
    assert run("restore", "cut.json").complaint.startswith("cut.json: line 1, column")
    (folder / "half.json").write_text('{"holdfast": 1}')
    assert run("restore", "half.json").complaint.startswith("half.json: ")
    (folder / "new.json").write_text('{"holdfast": 99}')
    assert run("restore", "new.json").code == 2


ORPHAN = [
    {"role": "user", "content": "hi"},
    {"role": "tool", "tool_call_id": "gone", "content": "orphan"},
    {"role": "user", "content": "so?"},
]


def test_validate_names_each_violation_with_its_message_and_rule(run, folder):
    (folder / "bad.json").write_text(json.dumps(ORPHAN))
    ran = run("validate", "bad.json", "--provider", "openai")
    assert ran.code == 1
    assert "bad.json: messages[1]: " in ran.out
    assert "(tool_exchange_whole)" in ran.out
    assert ran.out.endswith("The conversation is not valid for openai_chat: 1 violation.\n")
    facts = run("validate", "bad.json", "--provider", "openai", "--json").json
    assert (facts["valid"], facts["provider"]) == (False, "openai_chat")
    assert [(found["rule"], found["index"]) for found in facts["violations"]] == [
        ("tool_exchange_whole", 1)
    ]


def test_validate_says_when_all_is_well(run, talk):
    ran = run("validate", "chat.json")
    assert (ran.code, ran.out) == (0, "The conversation is valid for openai_chat.\n")
    assert run("validate", "chat.json", "--json").json == {
        "provider": "openai_chat",
        "valid": True,
        "violations": [],
    }


def test_repair_writes_a_valid_conversation_and_can_be_undone(run, folder):
    (folder / "bad.json").write_text(json.dumps(ORPHAN))
    ran = run("validate", "bad.json", "--repair", "-o", "bad.json", "--result", "before.json")
    assert ran.code == 0
    assert ran.out == ""
    assert ran.err.endswith("The conversation is valid for openai_chat.\n")
    assert holdfast.validate(json.loads((folder / "bad.json").read_text())) == []
    assert run("restore", "before.json").json == ORPHAN


def test_repair_writes_into_the_pipe_where_no_file_is_named(run, folder):
    ran = run("validate", "-", "--repair", stdin=json.dumps(ORPHAN).encode())
    assert holdfast.validate(ran.json) == []
    facts = run("validate", "-", "--repair", "--json", stdin=json.dumps(ORPHAN).encode()).json
    assert facts["valid"] is True
    assert [step["name"] for step in facts["repaired"]] == ["tool_exchange_whole"]


def test_validate_writes_nothing_unasked(run, talk):
    assert (
        run("validate", "chat.json", "-o", "x.json").complaint
        == "-o: nothing is written without --repair"
    )


def test_what_is_wrong_beside_the_messages_is_told_without_the_place_of_one(run, folder):
    body = {
        "system": [{"type": "text", "text": ""}],
        "messages": [{"role": "user", "content": "hi"}],
    }
    (folder / "body.json").write_text(json.dumps(body))
    ran = run("validate", "body.json", "--provider", "anthropic")
    told = "body.json: system[0].text: the text is empty (as_published)\n"
    assert (ran.code, ran.out) == (
        1,
        f"{told}The conversation is not valid for anthropic: 1 violation.\n",
    )
    assert run("validate", "body.json", "--provider", "anthropic", "--repair").code == 1
