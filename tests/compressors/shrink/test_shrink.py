"""Which texts shrink, in which order, and which never do."""

import json

import pytest

import holdfast
from holdfast.compressors.shrink import RULES, Shrink
from tests.compressors.shrink.exchanges import (
    arguments,
    changed,
    log,
    outputs,
    records,
    run,
    shrunk,
    tokens,
)
from tests.formats.rules.messages import assistant, user

LOSSY = Shrink(rules=("lossy",))


def test_what_fits_is_left_alone():
    messages = run(("bash", {"command": "ls"}, log()))
    result = shrunk(messages, tokens(messages))
    assert result.messages is not messages
    assert all(now is before for now, before in zip(result.messages, messages, strict=True))


def test_a_lossless_form_comes_before_any_loss():
    messages = run(("query", {"table": "orders"}, records()))
    result = shrunk(messages, tokens(messages) * 2 // 3)
    assert result.budget_met
    assert [edit.reason for edit in result.edits] == ["json: the same value in a shorter form"]
    assert all(f"order {i}" in outputs(result)[0] for i in range(40))


def test_the_oldest_output_shrinks_first():
    messages = run(*[("bash", {"command": f"job {n}"}, log(name=f"job{n}")) for n in range(4)])
    result = shrunk(messages, tokens(messages) - 500, LOSSY)
    assert result.budget_met
    assert changed(result) == {3}
    assert result.steps[0].detail.startswith("1 text shrunk")


def test_older_outputs_shrink_further_than_newer_ones():
    messages = run(*[("bash", {"command": f"job {n}"}, log(name=f"job{n}")) for n in range(4)])
    result = shrunk(messages, tokens(messages) * 7 // 10, LOSSY)
    sizes = [holdfast.shrink(text, 100_000).tokens_before for text in outputs(result)]
    assert result.budget_met
    assert sizes[0] == min(sizes)
    assert sizes[3] == max(sizes)
    assert sizes[0] < sizes[3]


def test_the_newest_exchange_shrinks_last():
    messages = run(
        ("bash", {"command": "old"}, log()), ("bash", {"command": "new"}, log(600, "newest"))
    )
    whole = tokens(messages)
    a_little, a_lot = shrunk(messages, whole - 500, LOSSY), shrunk(messages, whole // 3, LOSSY)
    assert changed(a_little) == {3}
    assert changed(a_lot) == {3, 5}
    assert "ERROR newest 30 lost its connection to db-7" in outputs(a_lot)[1]
    assert a_lot.budget_met


def test_the_question_decides_what_stays():
    messages = run(
        ("bash", {"command": "cat log"}, log(2_000)), question="What did worker 1234 do?"
    )
    now = outputs(shrunk(messages, 800))[0]
    assert "worker 1234 finished" in now
    asked = outputs(shrunk(messages, 800, query="And worker 777?"))[0]
    assert "worker 777 finished" in asked
    assert "worker 1234 finished" not in asked


def test_an_output_that_stands_again_later_gives_way():
    messages = run(("bash", {}, log()), ("bash", {}, log(name="other")), ("bash", {}, log()))
    result = shrunk(messages, tokens(messages) - 100, Shrink(rules=("repeats",)))
    first, _, last = outputs(result)
    assert first == "[Left out: the same text was returned again later by bash.]"
    assert last == log()


def test_long_arguments_of_old_calls_shrink_and_stay_json():
    written = {
        "path": "a.py",
        "size": 1.5,
        "id": 12345678901234567890,
        "content": log(),
        "mode": None,
    }
    messages = run(
        ("write_file", json.dumps(written).replace("1.5", "1.50"), "ok"), ("bash", {}, "done")
    )
    result = shrunk(messages, tokens(messages) // 3, Shrink(rules=("arguments",)))
    now = json.loads(arguments(result, 0))
    assert list(now) == list(written)
    assert {**now, "content": ""} == {**written, "content": ""}
    assert now["content"].startswith("2026-11-20 10:00:00 INFO")
    assert "left out" in now["content"]
    assert '"size":1.50' in arguments(result, 0)
    assert result.budget_met


@pytest.mark.parametrize("broken", ["not json", '["a list"]', '{"cut": "o', '"text"', "{" * 5_000])
def test_arguments_that_are_no_object_are_left_alone(broken):
    messages = run(("write_file", broken + " " * 2_000, "ok"), ("bash", {}, "done"))
    assert changed(shrunk(messages, 20, Shrink(rules=("arguments",)))) == set()


def test_the_call_of_the_newest_exchange_keeps_its_arguments():
    messages = run(("bash", {}, "ok"), ("write_file", {"content": log()}, "done"))
    assert changed(shrunk(messages, 50, Shrink(rules=("arguments",)))) == set()


def test_tools_can_be_chosen_and_kept_by_pattern():
    messages = run(
        ("read_log", {}, log()), ("read_diff", {}, log()), ("bash", {}, log()), ("bash", {}, "done")
    )
    one, two = (tokens(messages) - part * tokens(run(("", {}, log()))) // 2 for part in (1, 2))
    assert changed(shrunk(messages, two, Shrink(rules=("lossy",), tools=("read_*",)))) == {3, 5}
    assert changed(shrunk(messages, one, Shrink(rules=("lossy",), keep_tools=("read_*",)))) == {7}


def test_a_pinned_output_stays():
    messages = run(("bash", {}, log()), ("bash", {}, log(name="other")), ("bash", {}, "done"))
    assert changed(shrunk(messages, tokens(messages) * 2 // 3, pin=[3])) == {5}


def test_what_people_and_the_model_say_never_changes():
    messages = [{"role": "system", "content": log()}, user(log()), assistant(log()), user("And?")]
    budget = tokens(messages) * 5 // 6
    assert changed(shrunk(messages, budget)) == set()


def test_an_output_with_an_image_stays():
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
    }
    content = [{"type": "text", "text": log()}, image]
    messages = [
        user("What is it?"),
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "content": content}],
        },
    ]
    assert changed(shrunk(messages, 100)) == set()


def test_blocks_of_anthropic_shrink_where_they_stand():
    messages = [
        user("What failed?"),
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": log(), "is_error": True},
                {"type": "text", "text": "Go on."},
            ],
        },
    ]
    result = shrunk(messages, 300)
    block, words = result.messages[2]["content"]
    assert block["is_error"]
    assert "db-7" in block["content"]
    assert words is messages[2]["content"][1]
    assert result.budget_met


def test_each_rule_can_be_left_out():
    messages = run(
        ("read_file", {"path": "a"}, log()),
        ("read_file", {"path": "a"}, log()),
        ("query", {}, records()),
        ("write_file", {"path": "b", "content": log(name="other")}, "ok"),
        ("bash", {}, "done"),
    )
    budget = tokens(messages) - 200
    for rule in RULES:
        assert shrunk(messages, budget, Shrink(rules=(rule,))).edits, rule
    assert not shrunk(messages, budget, Shrink(rules=())).edits


@pytest.mark.parametrize(
    ("knobs", "place"),
    [
        ({"rules": ("lossy", "magic")}, "Shrink.rules"),
        ({"tools": "read_*"}, "Shrink.tools"),
        ({"rules": "lossy"}, "Shrink.rules"),
    ],
)
def test_a_wrong_knob_is_named(knobs, place):
    with pytest.raises(holdfast.ConfigError) as caught:
        Shrink(**knobs)
    assert caught.value.place == place


def test_what_is_shrunk_is_restored_exactly_and_a_second_run_changes_nothing():
    messages = run(*[("bash", {"command": f"job {n}"}, log(name=f"job{n}")) for n in range(6)])
    result = holdfast.compress(messages, 1_200, store="memory://shrink-again")
    assert holdfast.restore(holdfast.CompressionResult.from_json(result.to_json())) == messages
    again = holdfast.compress(result.messages, 1_200, store="memory://shrink-again")
    assert again.messages == result.messages
    assert not again.edits


def test_the_first_wrong_rule_is_named():
    known = "'lossless' or 'repeats' or 'arguments' or 'lossy'"
    with pytest.raises(holdfast.ConfigError, match=f"'foo' does not belong here; .*{known}"):
        Shrink(rules=("lossy", "foo", "bar"))
