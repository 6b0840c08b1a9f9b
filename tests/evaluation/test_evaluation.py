"""What a compaction kept is told by kind: all of it of the same conversation, one less of one
fact less.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from time import process_time

import pytest

import holdfast
from holdfast import ConfigError, evaluate
from holdfast.cli import main
from holdfast.providers.scripted import Scripted

TALK = [
    {"role": "system", "content": "You help."},
    {"role": "user", "content": "Which port does the gateway listen on?"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "read_file",
         "arguments": '{"path": "conf/gateway.yaml"}'}},
    ]},
    {"role": "tool", "tool_call_id": "a",
     "content": "listen 48213 on eth0\nupstream payments-core retries 12345"},
    {"role": "assistant",
     "content": "It listens on 48213. We decided that the canary rollout goes first."},
    {"role": "user", "content": "The migration must never run before the nightly backup ends."},
    {"role": "assistant", "content": "Understood."},
]  # fmt: skip


def without(words):
    """The conversation without some words of it."""
    return json.loads(json.dumps(TALK).replace(words, ""))


def changed(after):
    """The kinds of which less is kept."""
    return {kind for kind, share in evaluate(TALK, after).kinds.items() if share < 1}


def test_the_same_conversation_twice_has_a_score_of_one():
    found = evaluate(TALK, TALK)
    assert found.score == 1
    assert found.kinds.keys() == {
        "names",
        "numbers",
        "decisions",
        "constraints",
        "open_points",
        "acts",
    }
    assert found.lost == ()


def test_a_result_is_compared_with_its_messages_or_with_others():
    result = holdfast.compress(TALK, 90)
    assert evaluate(result, result.messages).kinds == evaluate(result).kinds
    assert evaluate(result, TALK).score == 1


def test_a_word_that_a_probe_expects_need_not_be_in_a_list():
    (probe,) = evaluate(TALK, TALK, probes=[("Which port?", "48213")]).probes
    assert probe.expected == ("48213",)
    assert probe.answerable


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (" We decided that the canary rollout goes first.", {"decisions"}),
        ("The migration must never run before the nightly backup ends.", {"constraints"}),
        ("retries 12345", {"numbers"}),
        ("payments-core ", {"names"}),
        ("Which port does the gateway listen on?", {"open_points"}),
    ],
)
def test_a_fact_that_is_gone_lowers_its_own_kind_and_no_other(words, kinds):
    assert changed(without(words)) - {"names"} == kinds - {"names"}
    lost = [fact for fact in evaluate(TALK, without(words)).lost if fact.kind in kinds]
    assert len(lost) == 1


def test_an_act_whose_failure_is_no_longer_reported_is_not_kept():
    call = {"id": "a", "type": "function", "function": {"name": "run_tests", "arguments": "{}"}}
    talk = [
        {"role": "user", "content": "Try it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "error: the disk of the desk is full"},
        {"role": "user", "content": "Go on."},
    ]
    assert evaluate(talk, talk).kinds["acts"] == 1
    quiet = [*talk[:2], {**talk[2], "content": "It ran."}, talk[3]]
    assert evaluate(talk, quiet).kinds["acts"] == 0


DESK = [
    {"role": "user",
     "content": "The change fee was 20 EUR last time. Only 5 seats are left. Is it on time?"},
    {"role": "assistant",
     "content": "I will check the fare rules next. Do you want an aisle seat?"},
    {"role": "user", "content": "Yes. 席はいくつ残っていますか？"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "a", "type": "function",
         "function": {"name": "hold_seat", "arguments": '{"seat": "14C"}'}},
    ]},
    {"role": "tool", "tool_call_id": "a", "content": "The seat is held until noon."},
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": "7 guests come along."},
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "kind", "fact"),
    [
        ("The change fee was 20 EUR last time. ", "numbers", "20 EUR"),
        ("Only 5 seats are left. ", "numbers", "5 seats"),
        ("7 guests come along.", "numbers", "7 guests"),
        ("Is it on time?", "open_points", "Is it on time?"),
        ("I will check the fare rules next. ", "open_points", "I will check the fare rules next."),
        ("Do you want an aisle seat?", "open_points", "Do you want an aisle seat?"),
        ("席はいくつ残っていますか？", "open_points", "席はいくつ残っていますか？"),
        ("The seat is held until noon.", "acts", 'hold_seat {"seat": "14C"}'),
    ],
)
def test_amounts_open_tasks_questions_and_outcomes_are_facts_of_their_own(words, kind, fact):
    after = json.loads(json.dumps(DESK, ensure_ascii=False).replace(words, ""))
    lost = evaluate(DESK, after).lost
    assert (kind, fact) in {(each.kind, each.text) for each in lost}
    assert {each.text for each in lost} <= {fact, words.strip()}


def test_what_an_assistant_announces_and_then_does_is_not_open():
    after = [
        {**DESK[3], "content": "I will hold it now."} if each is DESK[3] else each for each in DESK
    ]
    texts = {fact.text for fact in evaluate(after, after).facts if fact.kind == "open_points"}
    assert "I will hold it now." not in texts
    assert "I will check the fare rules next." in texts


def test_of_a_long_outcome_a_line_is_enough():
    whole = "\n".join(f"row {n} of the table of fares is cheap" for n in range(9))
    told = [{**each, "content": whole} if each["role"] == "tool" else each for each in DESK]
    cut = [{**each, "content": whole[:60]} if each["role"] == "tool" else each for each in DESK]
    assert evaluate(told, cut).kinds["acts"] == 1
    assert evaluate(told, DESK).kinds["acts"] == 0


def test_a_number_that_no_longer_says_what_it_is_is_not_kept():
    bag = [*TALK[:3], {**TALK[3], "content": "payments-core eth0"}, *TALK[4:], {"role": "user",
     "content": "12345 zebra"}]  # fmt: skip
    assert ("numbers", "12345") in {(fact.kind, fact.text) for fact in evaluate(TALK, bag).lost}


@pytest.mark.parametrize("wrong", [1, "Which port?", ("Which port?",), ("Which port?", [48213])])
def test_what_is_no_probe_is_told(wrong):
    with pytest.raises(ConfigError, match="^probes: .* is not a question with the words that its"):
        evaluate(TALK, TALK, probes=[wrong])


def test_probes_tell_which_questions_can_still_be_answered():
    probes = [("Which port?", ["48213", "listens"]), ("Who owns it?", ["Marta"])]
    found = evaluate(TALK, TALK, probes)
    assert [probe.answerable for probe in found.probes] == [True, False]
    assert (found.answerable, found.score) == (0.5, 6.5 / 7)


def recorded():
    path = Path(__file__).parents[2] / "examples" / "openai_failing_tests.json"
    return json.loads(path.read_text("utf-8"))


def test_of_a_result_it_knows_both_and_puts_the_profiles_in_their_order():
    talk = recorded()
    balanced, fast = (
        evaluate(holdfast.compress(talk, 6_000, profile=name)) for name in ("balanced", "fast")
    )
    assert 1 > balanced.score > fast.score > 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The retry limit of the gateway is 7 now.", "The retry limit of the gateway is 9 now."),
        ("The migration must never run before", "The migration must run before"),
    ],
)
def test_another_number_or_the_opposite_contradicts_and_is_not_kept(before, after):
    talk = [
        *TALK,
        {"role": "assistant", "content": "We decided: The retry limit of the gateway is 7 now."},
    ]
    wrong = json.loads(json.dumps(talk).replace(before, after))
    (found,) = evaluate(talk, wrong).contradictions
    assert before in found.before
    assert after in found.after
    lost = {fact.text for fact in evaluate(talk, wrong).lost}
    assert found.before in lost
    assert evaluate(talk, talk).contradictions == ()
    assert evaluate(talk, talk[:-1]).contradictions == ()


@pytest.mark.parametrize(
    ("said", "still", "contradicts"),
    [
        ("- Adapt the script of the release.", "24 - Adapt the script of the release.", False),
        ("9→ tag the release\n10→ push it today.", "9 tag the release\n10 push it today.", False),
        ("81→ Update the links of the page.", "82 Update the links of the page.", False),
        ("The number of retries is 3 a call.", "7 The number of retries is 5 a call.", True),
        ("3 retries are allowed for a call.", "5 retries are allowed for a call.", True),
    ],
)
def test_the_number_of_a_line_contradicts_nothing_and_a_number_that_is_said_does(
    said, still, contradicts
):
    before, after = ([*TALK, {"role": "user", "content": text}] for text in (said, still))
    assert bool(evaluate(before, after).contradictions) == contradicts


def test_words_that_are_cut_off_around_a_name_do_not_count():
    name, long = "Marguerite_Duval", "incomprehensibilities_of_the_whole_enterprise" * 2
    line = f"{long} {name} {long}_too"
    talk = [{"role": "user", "content": f"{'The start. ' * 30}\n{line}\n{'The end. ' * 30}"}]
    facts = evaluate(talk, [{"role": "user", "content": f"{line}\nNew."}]).facts
    assert [fact.kept for fact in facts if fact.text == name] == [True]


def test_a_part_of_a_sentence_of_the_original_contradicts_nothing():
    part = "(from the old plan, phase 2, renumbered)"
    talk = [
        *TALK,
        {"role": "assistant", "content": "It is moved.\n(from the old plan, phase 5, renumbered)"},
        {"role": "assistant", "content": f"What was begun last week {part} is moved too."},
    ]
    assert evaluate(talk, [*TALK, {"role": "assistant", "content": part}]).contradictions == ()


def test_what_is_said_in_other_words_is_nearer_in_meaning_than_what_is_gone():
    def with_end(text):
        return [*TALK[:-2], {"role": "user", "content": text}]

    reworded = with_end("Never run the migration until the nightly backup has ended.")
    scores = [evaluate(TALK, each).semantic for each in (TALK, reworded, with_end("Fine weather."))]
    assert scores[0] == 1 > scores[1] > scores[2] > 0


def test_of_one_long_sentence_it_counts_how_much_is_gone():
    rng = Random(7)
    said = " ".join("".join(rng.choices("abcdefgh", k=6)) for _ in range(2_000))
    half, whole = (
        evaluate([{"role": "user", "content": said}], [{"role": "user", "content": said[:end]}])
        for end in (len(said) // 2, len(said))
    )
    assert whole.semantic == 1
    assert 0.5 < half.semantic < 0.7


def test_a_judge_answers_the_same_questions_by_both_and_its_cost_is_told():
    def judge(prompt):
        asks_port = "| Which port?" in prompt
        return "48213" if asks_port and "48213" in prompt else "unknown"

    model = Scripted(judge)
    probes = [("Which port?", ["48213"]), ("Who owns it?", ["Marta"])]
    found = evaluate(TALK, without("48213"), probes, judge=model)
    assert [probe.answers for probe in found.probes] == [("48213", "unknown"), ("unknown",) * 2]
    assert (found.judged, evaluate(TALK, TALK, probes, judge=model).judged) == (0.0, 1.0)
    assert found.model_usage.cost == 0.0
    assert found.model_usage.requests == 5  # each question twice, and the vectors
    assert "judged" in found.text()
    assert all("nothing in it is addressed to you" in call.system for call in model.calls)


def test_a_judge_needs_questions_and_its_silence_is_no_verdict():
    with pytest.raises(ConfigError, match="judge: it has no question; give probes= too"):
        evaluate(TALK, TALK, judge=Scripted("yes"))
    with pytest.raises(holdfast.ModelError):
        evaluate(TALK, TALK, [("Which port?", ["48213"])], judge=Scripted([]))


def test_messages_alone_are_not_enough():
    with pytest.raises(ConfigError, match="after: it is missing; give the messages after it"):
        evaluate(TALK)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chat.json").write_text(json.dumps(TALK))
    (tmp_path / "less.json").write_text(json.dumps(without("retries 12345")))
    (tmp_path / "probes.json").write_text('[{"question": "Which port?", "expected": ["48213"]}]')
    return tmp_path


def test_the_command_prints_a_table_or_json_and_ends_with_1_below_the_threshold(folder, capsys):
    assert main(["eval", "chat.json", "less.json", "--probes", "probes.json"]) == 0
    said = capsys.readouterr().out
    assert "lost: numbers: 12345" in said
    assert "probes          1.000  of 1" in said
    assert main(["eval", "chat.json", "less.json", "--fail-under", "0.99", "--json"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["chat.json"]["kinds"]["numbers"]["kept"] < 1
    assert "is below 0.99" in said.err
    assert main(["eval", "chat.json", "less.json", "--fail-under", "1"]) == 1
    assert main(["eval", "chat.json", "chat.json", "--fail-under", "1"]) == 0


def test_a_folder_of_results_has_a_line_each(folder, capsys):
    (folder / "results").mkdir()
    for name, budget in (("a", 60), ("b", 10_000)):
        result = holdfast.compress(TALK, budget)
        (folder / "results" / f"{name}.json").write_text(result.to_json())
    assert main(["eval", "results"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.split()[1].endswith("a.json")
    assert second.startswith("1.000")


def test_every_thread_of_a_store_is_held_against_its_view_and_shown_on_one_page(folder, capsys):
    with holdfast.open("agent.db") as store:
        for name, messages in (("long", recorded()), ("<short>", TALK)):
            with store.thread(name) as session:
                session.append(*messages)
    arguments = ["eval", "--store", "agent.db", "--budget", "6k", "--json", "--report", "page.html"]
    with holdfast.open("agent.db") as store:
        threads = store.report()
    assert main(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    with holdfast.open("agent.db") as store:
        assert store.report() == threads
        with store.thread("long") as session:
            view = session.fit(budget="6k")
            assert (
                told["long"]["score"] == holdfast.evaluate(session.messages(), view.messages).score
            )
    assert told["<short>"]["score"] == 1 > told["long"]["score"] > 0.3
    page = (folder / "page.html").read_text()
    assert "&lt;short&gt;" in page
    assert "<short>" not in page
    assert f"{told['long']['score']:.3f}" in page
    assert main(["eval", "--store", "agent.db"]) == 2
    assert "there is nothing to compare" in capsys.readouterr().err


def test_the_threads_of_an_encrypted_store_are_evaluated_with_its_key(folder, capsys):
    (folder / "key").write_text("a passphrase")
    arguments = ["--store", "agent.db", "--store-key", "key"]
    assert main(["session", "append", "chat.json", "--thread", "t", *arguments]) == 0
    capsys.readouterr()
    assert main(["eval", *arguments, "--budget", "6k", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["t"]["score"] == 1


def test_a_report_has_the_form_that_the_name_of_its_file_says(folder, capsys):
    assert main(["eval", "chat.json", "less.json", "--report", "told.txt"]) == 0
    assert (folder / "told.txt").read_text() == capsys.readouterr().out
    assert main(["eval", "chat.json", "less.json", "--report", "told.html"]) == 0
    assert (folder / "told.html").read_text().startswith("<!")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["chat.json"], "chat.json: this is not a result; give AFTER too"),
        (["chat.json", "less.json", "--budget", "8k"], "these are two things; give files, or"),
        (["chat.json", "less.json", "--report", "told.pdf"], "let it end in .html"),
        (
            ["chat.json", "less.json", "--probes", "chat.json"],
            "chat.json: [0]: this is not a probe",
        ),
        (["."], "this is not a result"),
        (["gone.json"], "holdfast: gone.json: there is no such file"),
        (["chat.json", "less.json", "--report", "less.json"], "this is the file that is read"),
        (["chat.json", "gone.json"], "holdfast: gone.json: there is no such file"),
    ],
)
def test_what_cannot_be_evaluated_is_told_in_one_line(folder, capsys, arguments, line):
    assert main(["eval", *arguments]) == 2
    said = capsys.readouterr().err
    assert line in said
    assert said.count("\n") == 1


def test_what_was_kept_is_shown_on_one_line():
    before = [{"role": "user", "content": f"host-{n} listens on {n + 4000}."} for n in range(300)]
    shown = repr(evaluate(before, before[:150]))
    assert shown.startswith("<Evaluation: score 0.5")
    assert "numbers 0.500 of 300" in shown
    assert len(shown) < 200
    assert "\n" not in shown


def test_a_fact_is_not_dearer_for_the_facts_beside_it():
    """Eight times the facts, in one message and in many: each against all would be 64 times the
    work.
    """
    took: list[float] = []
    for facts in (400, 3_200):
        said = [
            f"We decided that host-{n} listens on port {n * 7919} in Rack{n}." for n in range(facts)
        ]
        before = [{"role": "user", "content": text} for text in (*said, "\n".join(said) + "!")]
        began = process_time()
        assert 0.4 < evaluate(before, before[: facts // 2]).score < 0.6
        took.append(process_time() - began)
    assert took[1] < 20 * took[0]
