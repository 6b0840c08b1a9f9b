"""``holdfast session`` holds a conversation for a shell script: every command is a process of
its own.
"""

from __future__ import annotations

import json
import re
from datetime import datetime

import pytest

from holdfast.cli.conversation import compress_command as compress
from holdfast.cli.session import command as session
from holdfast.session import Session
from tests.session.talks import TOPICS, call, talk, turns

HERE = ("--store", "a.db", "--thread", "t")


@pytest.fixture
def kept(run, folder):
    """A long talk in a.db."""
    (folder / "talk.json").write_text(json.dumps(talk(300)))
    assert run("session", "append", "talk.json", *HERE).code == 0


def test_messages_are_appended_from_a_list_a_body_one_object_or_lines(run, folder):
    messages = talk(4)
    (folder / "list.json").write_text(json.dumps(messages[:2]))
    (folder / "body.json").write_text(json.dumps({"model": "m", "messages": messages[2:3]}))
    (folder / "lines.jsonl").write_text("\n".join(map(json.dumps, messages[3:6])))
    assert run("session", "append", "list.json", *HERE).json == [0, 1]
    assert run("session", "append", "body.json", *HERE).json == [2]
    assert run("session", "append", "lines.jsonl", *HERE).json == [3, 4, 5]
    assert run("session", "append", *HERE, stdin=json.dumps(messages[6]).encode()).json == [6]
    assert run("session", "restore", *HERE).json == messages[:7]


def test_a_message_with_a_known_id_is_not_kept_again(run):
    for _ in range(2):
        given = run(
            "session", "append", *HERE, "--id", "one", stdin=b'{"role": "user", "content": "a"}'
        )
        assert given.json == [0]
    assert len(run("session", "restore", *HERE).json) == 1


def test_what_was_said_long_ago_is_kept_with_its_time(run):
    def said(text, *options):
        return run(
            "session",
            "append",
            *HERE,
            *options,
            stdin=json.dumps({"role": "user", "content": text}).encode(),
        )

    for text, time in [
        ("the cat is called Miso", "2023-05-08"),
        ("the dog is called Rex", "2023-07-12T13:56+02:00"),
    ]:
        assert said(text, "--at", time).code == 0
    for n in range(20):
        said(
            f"Nothing but the weather on day {n}, with words enough to fill what there is of room. "
            * 5,
            "--at",
            "2024-02-03T08:00Z",
        )
    fitted = run(
        "session", "fit", *HERE, "--budget", "300", "--query", "What are the pets called?"
    ).out
    assert "8 May 2023" in fitted
    assert "12 July 2023" in fitted
    assert said("a", "--at", "soon").complaint == (
        "--at: 'soon' is not a time; give one such as 2026-05-08T13:56 or 2026-05-08T13:56+02:00"
    )


@pytest.mark.parametrize("query", [(), ("--query", "How many retries?")])
def test_fit_writes_the_messages_for_the_next_call(run, kept, folder, query):
    fitted = run("session", "fit", *HERE, "--budget", "900", *query)
    assert fitted.code == 0
    assert fitted.json[0] == talk()[0]
    assert re.search(r"^\d+ messages, \d+ of 900 tokens; ", fitted.err)
    again = run("session", "fit", *HERE, "--budget", "900", *query, "-o", "view.json", "-q")
    assert (again.out, again.err) == ("", "")
    assert json.loads((folder / "view.json").read_text()) == fitted.json


def test_a_budget_that_cannot_be_met_is_an_error_unless_soft(run, kept):
    assert run("session", "fit", *HERE, "--budget", "10").code == 1
    assert (
        "the budget of 10 tokens cannot be met"
        in run("session", "fit", *HERE, "--budget", "10").complaint
    )
    soft = run("session", "fit", *HERE, "--budget", "10", "--soft")
    assert soft.code == 0
    assert soft.json


def test_search_prints_position_score_role_day_and_text(run, kept):
    first = run("session", "search", "parcel elm street", *HERE, "--limit", "1").out
    assert re.fullmatch(rf"3\t\d\.\d\d\tuser\t\d+ \w+ \d{{4}}\t{re.escape(TOPICS[2])}\n", first)
    (found,) = run("session", "search", "parcel elm street", *HERE, "--limit", "1", "--json").json
    assert found["position"] == 3
    assert found["why"]
    assert found["role"] == "user"
    assert datetime.fromisoformat(found["said"]).tzinfo is not None


def test_recall_gives_messages_and_originals_back(run, folder, kept):
    assert run("session", "recall", "4", *HERE).out == TOPICS[3]
    output = "\n".join(f"row {n}: value {n * n}" for n in range(900))
    (folder / "call.json").write_text(json.dumps(call(1, output)))
    run("session", "append", "call.json", *HERE)
    view = run("session", "fit", *HERE, "--budget", "900").json
    key = view[-1]["content"].rpartition("original: ")[2].split()[0]
    assert run("session", "recall", key, *HERE).out == output
    assert run("session", "recall", key, *HERE, "--lines", "3:3").out == "row 2: value 4\n"


def test_stats_tell_the_story_as_text_as_json_and_as_a_page(run, kept, folder):
    run("session", "fit", *HERE, "--budget", "900", "--query", "<b>retries</b>?")
    told = run("session", "stats", *HERE, "--report", "page.html")
    assert "Thread t\n" in told.out
    assert told.err == "The report is in page.html.\n"
    assert "Recalls (1)" in told.out
    figures = run("session", "stats", *HERE, "--json").json
    assert figures["messages"] == len(talk(300))
    assert set(figures["tiers"]) == {"hot", "warm", "cold"}
    page = (folder / "page.html").read_text()
    assert "&lt;b&gt;retries&lt;/b&gt;?" in page
    assert "<b>retries" not in page
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize("command", ["fit", "search", "recall", "stats", "restore"])
def test_a_store_that_is_not_there_is_not_made_by_looking(run, folder, command):
    more = {"fit": ["--budget", "9"], "search": ["q"], "recall": ["1"]}.get(command, [])
    refused = run("session", command, *more, *HERE)
    assert refused.code == 2
    assert refused.complaint == "--store a.db: there is no such file; append something first"
    assert list(folder.iterdir()) == []


def test_what_is_no_message_is_refused_with_the_name_of_the_file(run, folder):
    (folder / "bad.json").write_text('[{"content": "x"}]')
    assert run("session", "append", "bad.json", *HERE).complaint.startswith(
        "bad.json: messages[0]: "
    )


def test_without_a_subcommand_the_help_is_printed(run):
    done = run("session")
    assert (done.code, done.err) == (0, "")
    assert "holdfast session append turn.json" in done.out


@pytest.mark.parametrize(
    "command", [("stats",), ("restore",), ("search", "anything"), ("fit", "--budget", "100")]
)
def test_a_thread_that_is_not_there_is_told(run, kept, command):
    done = run("session", *command, "--store", "a.db", "--thread", "mistyped")
    assert done.code == 2
    assert done.complaint.startswith("--thread: there is no thread 'mistyped' in a.db; ")


def test_an_unknown_command_of_a_session_names_the_known_ones(run):
    ran = run("session", "fi")
    assert ran.code == 2
    assert ran.complaint.startswith(
        "holdfast session: there is no command named 'fi'; did you mean 'fit'? known are append, "
    )


def test_a_session_that_would_end_with_the_command_is_refused(run, kept):
    line = run("session", "append", "talk.json", "--store", "memory://", "--thread", "t").complaint
    assert line.startswith("--store memory://: memory is lost when the command ends; name a file")


def test_a_long_message_that_was_found_is_shown_by_its_beginning_and_whole_as_json(
    run, kept, folder
):
    (folder / "long.json").write_text(
        json.dumps([{"role": "user", "content": "the harbour pilot " * 200}])
    )
    run("session", "append", "long.json", *HERE)
    line = run("session", "search", "harbour pilot", *HERE, "--limit", "1").out
    assert 250 < len(line) < 350
    assert line.endswith("…\n")
    (found,) = run("session", "search", "harbour pilot", *HERE, "--limit", "1", "--json").json
    assert found["text"].strip() == ("the harbour pilot " * 200).strip()


def test_of_a_long_message_that_was_found_the_sentence_that_answers_is_shown(run, kept, folder):
    text = (
        f"{'The weather was fine. ' * 40}The pilot asked for pier seven. "
        f"{'The wind was low. ' * 40}"
    )
    (folder / "long.json").write_text(json.dumps([{"role": "user", "content": text}]))
    run("session", "append", "long.json", *HERE)
    line = run("session", "search", "which pier did the pilot ask for?", *HERE, "--limit", "1").out
    assert line.endswith("\t…The pilot asked for pier seven.\n")


def test_a_model_may_write_the_forms_of_what_was_said_long_ago(run, folder):
    (folder / "orders.json").write_text(json.dumps(turns(60)))
    reply = "Order ORD-0003 waited at customs of Lisbon and Dana Reyes sent the invoice."
    added = run("session", "append", "orders.json", *HERE, "--llm", f"scripted:{reply}")
    assert (added.code, added.err) == (0, "")
    figures = run("session", "stats", *HERE, "--json").json
    assert figures["forms"]["scripted"] == 1  # of the one turn that it is true of
    assert figures["forms"]["rule"] > 1
    assert run("session", "restore", *HERE).json == turns(60)


def test_a_model_that_is_not_known_is_told_before_anything_is_kept(run, kept):
    refused = run("session", "append", "talk.json", *HERE, "--llm", "nobody:x")
    assert refused.code == 2
    assert "'nobody:x' names no model vendor" in refused.complaint
    assert len(run("session", "restore", *HERE).json) == len(talk(300))


def options_of(command):
    return {
        option
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--")
    }


def test_fit_has_the_options_of_compress_where_they_mean_something():
    of_one_request = {
        "--step",
        "--strategy",
        "--pin",
        "--result",
        "--report",
    }  # a session decides, or keeps it
    of_models = {"--llm", "--embedder"}  # fit asks nobody
    assert options_of(compress) - options_of(session.commands["fit"]) == of_one_request | of_models
    assert options_of(session.commands["fit"]) - options_of(compress) == set()


def test_fit_takes_a_window_or_that_of_the_model_less_the_answer(run, kept):
    ran = run("session", "fit", *HERE, "--window", "1000", "--reserve", "100", "--headroom", "10%")
    assert re.search(r"^\d+ messages, \d+ of 810 tokens; ", ran.err)
    assert " of 124,000 tokens; everything fits" in run(
        "session", "fit", *HERE, "--model", "gpt-4o", "--reserve", "4k"
    ).err  # fmt: skip
    ran = run("session", "fit", *HERE)
    assert ran.complaint.startswith("--budget: no budget is given; give --budget, or name a model")


def test_fit_takes_a_profile_and_counts_the_schemas_that_are_sent_along(run, kept, folder):
    schema = {
        "type": "function",
        "function": {"name": "read", "description": "Reads a file. " * 40},
    }
    (folder / "tools.json").write_text(json.dumps([schema]))
    plain = run("session", "fit", *HERE, "--budget", "900", "--profile", "fast", "--json").json
    told = run("session", "fit", *HERE, "--budget", "900", "--tools", "tools.json", "--json").json
    assert plain["budget_met"]
    assert told["budget_met"]
    assert told["messages"]["in_view"] < plain["messages"]["in_view"]
    assert "there is no profile named 'fats'" in run(
        "session", "fit", *HERE, "--budget", "9", "--profile", "fats"
    ).complaint  # fmt: skip


def test_fit_prints_its_facts_as_json_and_then_the_messages_only_to_a_file(run, kept, folder):
    ran = run(
        "session",
        "fit",
        *HERE,
        "--budget",
        "900",
        "--query",
        "retries",
        "--json",
        "-o",
        "view.json",
        "-q",
    )
    assert ran.err == ""
    facts = ran.json
    assert facts["usage"]["limit"] == 900
    assert facts["usage"]["within"] is facts["budget_met"] is True
    assert facts["messages"]["in_view"] == len(json.loads((folder / "view.json").read_text()))
    assert facts["recalled"][0]["why"]
    clash = run("session", "fit", *HERE, "--budget", "900", "--json", "-o", "-")
    assert clash.complaint.startswith(
        "-o: --json and the messages cannot both go to standard output"
    )


def test_fit_says_what_would_do_and_gives_the_facts_even_where_the_budget_cannot_be_met(
    run, kept, folder
):
    ran = run("session", "fit", *HERE, "--budget", "10", "--json", "-o", "view.json")
    assert ran.code == 1
    assert ran.json["budget_met"] is False
    smallest = ran.err.partition("would do is ")[2].split(";")[0]
    assert ran.err.endswith("; give that many, or --soft to write what remains\n")
    assert not (folder / "view.json").exists()
    assert run("session", "fit", *HERE, "--budget", smallest).code == 0
    assert (
        ": NOT met, the messages that must stay are larger"
        in run("session", "fit", *HERE, "--budget", "10", "--soft").err
    )


@pytest.mark.parametrize("command", [["session", "fit", *HERE], ["compress", "talk.json"]])
def test_a_model_whose_name_says_nothing_is_told_of_once_and_counted_all_the_same(
    run, kept, command
):
    ran = run(*command, "--budget", "900", "--model", "gtp-4o")
    assert ran.code == 0
    assert ran.json
    assert ran.err.count("The model 'gtp-4o' is not known: tokens are counted by cl100k_base") == 1
    assert "not known here" not in run(*command, "--budget", "900", "--model", "gpt-4o").err
    assert "not known here" not in run(*command, "--budget", "900", "--model", "words").err
    assert run(*command, "--budget", "900", "--model", "gtp-4o", "-q").err == ""


def test_a_number_that_no_model_has_is_told(run, kept):
    ran = run("session", "fit", *HERE, "--budget", "1000", "--model", "gpt-99")
    assert "The model 'gpt-99' is not known" in ran.err


def test_a_position_from_the_end_is_recalled_after_two_dashes(run, kept):
    assert run("session", "recall", *HERE, "--", "-1").out == talk(300)[-1]["content"]


def test_what_a_request_has_beside_its_messages_is_not_dropped_in_silence(run, folder):
    body = {
        "model": "m",
        "system": "Be brief.",
        "tools": [{"name": "read"}],
        "messages": talk(1)[1:],
    }
    ran = run("session", "append", *HERE, stdin=json.dumps(body).encode())
    assert ran.code == 0
    assert ran.err.startswith("Only the messages are stored, not the system and tools: send them")
    del body["system"], body["tools"]
    assert run("session", "append", *HERE, stdin=json.dumps(body).encode()).err == ""


def test_a_result_without_its_call_is_kept_and_told_when_it_comes(run, folder):
    orphan = b'{"role": "tool", "tool_call_id": "lost", "content": "late"}'
    line = (
        "The messages are stored, but: 1 message parted a call from its result; all is "
        "kept, and views mend it\n"
    )
    assert run("session", "append", *HERE, stdin=orphan).err == line
    assert run("session", "append", *HERE, stdin=b'{"role": "user", "content": "a"}').err == ""


def test_a_wrong_number_of_ids_is_named_as_the_option(run, folder):
    ran = run(
        "session",
        "append",
        *HERE,
        "--id",
        "a",
        "--id",
        "b",
        stdin=b'{"role": "user", "content": "a"}',
    )
    assert ran.complaint == "--id: 2 ids for 1 message; give one for each message"


def test_a_report_of_no_known_form_is_refused(run, kept, folder):
    assert (
        "its name does not say the form of the report"
        in run("session", "stats", *HERE, "--report", "a.pdf").complaint
    )
    assert not (folder / "a.pdf").exists()


def test_a_thread_needs_a_name(run, kept):
    line = run("session", "stats", "--store", "a.db", "--thread", "").complaint
    assert line == "--thread: '' does not belong here; give a name as text"


def test_a_thread_on_a_read_only_disk_is_read(run, kept, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    for command in (["restore"], ["search", "invoice"], ["stats"], ["recall", "3"], ["facts"]):
        assert run("session", *command, *HERE).code == 0
    assert run("session", "list", "--store", "a.db").code == 0
    ran = run("session", "append", "talk.json", *HERE)
    assert (ran.code, "is not writable" in ran.err) == (2, True)


def test_a_thread_in_an_encrypted_store_opens_with_its_key_alone(run, folder, talk):
    (folder / "key").write_text("a passphrase of several words\n")
    here = ["--store", "sealed.db", "--store-key", "key"]
    assert run("session", "append", "chat.json", *here, "--thread", "t").code == 0
    assert json.loads(run("session", "restore", *here, "--thread", "t").out) == talk
    assert run("session", "fit", *here, "--thread", "t", "--budget", "500").code == 0
    assert run("session", "list", *here).out == "t\n"
    for asked in (["append", "chat.json", "--thread", "t"], ["stats", "--thread", "t"], ["list"]):
        bare = run("session", *asked, "--store", "sealed.db")
        assert (bare.code, bare.complaint[:23]) == (2, "this store is encrypted")
    assert b"line 7 of the file" not in (folder / "sealed.db").read_bytes()
    assert run("session", "delete", *here, "--thread", "t", "--yes").code == 0
    assert run("session", "list", *here).out == ""


def test_bytes_of_a_message_are_printed_in_base64(run, folder):
    image = {"image": {"format": "png", "source": {"bytes": b"hi"}}}
    with Session("t", store="sqlite:///a.db") as session:
        session.append({"role": "user", "content": [image]})
    ((block,),) = [each["content"] for each in json.loads(run("session", "restore", *HERE).out)]
    assert block["image"]["source"] == {"bytes": "aGk="}
