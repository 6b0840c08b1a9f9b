import json
import subprocess
import sys
from contextlib import suppress

import pytest

import holdfast
from holdfast import CompressionMetrics, CompressionResult, InputError
from holdfast.compressors.prune import Prune
from holdfast.kernel.compressor import Plan
from holdfast.kernel.edits import Drop, Insert, Offload, Replace
from holdfast.result import TokenUsage
from tests.formats.rules.messages import assistant, result, thought, use, user
from tests.talks import Somebody, agent_run, chat, system, words


def every_kind_of_edit(transcript, allowance):
    digest = Insert(2, "assistant", "They looked around.", "digest", covers=(2, 5))
    gone = Drop((2, 3, 4, 5), "old")
    return Plan(
        (gone, digest, Replace(7, 0, "short", "long"), Offload(9, 0, "see a1b2", "a1b2", "long"))
    )


def edited(messages=None, **settings):
    steps = [Prune(protect_tokens=500, minimum_tokens=0), Somebody(every_kind_of_edit), "trim"]
    return holdfast.compress(
        messages or agent_run(6), 180, strategy=steps, counter="words", **settings
    )


def talks():
    odd = [
        user("\ud800"),
        assistant("\x00"),
        user("déjà 🙂"),
        {**user(words(90)), "x": {"big": 2**70, "none": None}},
    ]
    blocks = [
        user("go"),
        assistant(thought(), use("a")),
        user(result("a", words(500))),
        assistant("ok"),
    ]
    return {
        "agent": agent_run(6, 200),
        "chat": chat(20),
        "odd": [*odd, *chat(9)],
        "anthropic": [*blocks, user("more")],
        "body": {"system": "s", "messages": blocks, "x": [1]},
        "fits": chat(1),
        "empty": [],
    }


@pytest.mark.parametrize("profile", ["fast", "balanced"])
@pytest.mark.parametrize("name", talks())
def test_a_result_is_the_same_after_json(name, profile):
    before = talks()[name]
    done = holdfast.compress(before, 150, profile=profile, counter="words")
    back = CompressionResult.from_json(done.to_json())
    assert back == done
    assert holdfast.restore(back) == before
    assert json.loads(done.to_json(indent=2)) == json.loads(done.to_json())


def test_every_kind_of_edit_is_the_same_after_json():
    done = edited()
    assert {type(edit) for edit in done.edits} == {Drop, Insert, Replace, Offload}
    back = CompressionResult.from_json(done.to_json().encode())
    assert back.edits == done.edits
    assert back.steps == done.steps
    assert holdfast.restore(back) == agent_run(6)


def test_a_result_is_restored_in_another_process(tmp_path):
    done = edited()
    (tmp_path / "result.json").write_text(done.to_json())
    script = (
        "import holdfast, json, sys\n"
        "result = holdfast.CompressionResult.from_json(open(sys.argv[1]).read())\n"
        "print(json.dumps(holdfast.restore(result)))"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "result.json")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == agent_run(6)


def test_what_json_holds_is_told_in_its_words():
    data = json.loads(edited().to_json())
    assert data["holdfast"] == 1
    assert (data["budget_met"], data["trimmed"], data["degraded"]) == (True, True, False)
    assert data["usage"] == {
        "tokens": data["usage"]["tokens"],
        "limit": 180,
        "within": True,
        "utilization": data["usage"]["utilization"],
    }
    assert [step["name"] for step in data["steps"]] == ["prune", "somebody", "trim"]
    assert data["steps"][1]["edits"][1]["edit"] == "insert"
    assert data["metrics"]["messages_before"] == 15
    assert data["strategy"]["strategies"][0]["protect_tokens"] == 500


def test_each_step_holds_the_messages_after_it_also_when_read_back():
    done = edited()
    back = CompressionResult.from_json(done.to_json())
    assert [list(step.messages) for step in back.steps] == [
        list(step.messages) for step in done.steps
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "null",
        "[]",
        "{}",
        "5",
        b"\xff",
        '{"holdfast": 1}',
        '{"holdfast": 2}',
        "[" * 100_000,
        None,
        5,
    ],
    ids=range(12),
)
def test_what_is_no_result_is_refused_in_one_line(text):
    with pytest.raises(
        InputError, match=r"give a file that --result or CompressionResult.to_json wrote"
    ) as caught:
        CompressionResult.from_json(text)
    assert "\n" not in str(caught.value)


def ways(value, way=()):
    """The way to what a result says of itself; of a list only to the first item and the last."""
    keys = list(value) if isinstance(value, dict) else sorted({0, len(value) - 1} if value else ())
    for key in keys:
        yield (*way, key)
        if isinstance(value[key], dict | list) and key not in ("messages", "taken"):
            yield from ways(value[key], (*way, key))


def test_a_result_that_was_tampered_with_is_refused_or_has_its_reports():
    told = edited().to_json()
    refused = 0
    for *way, last in ways(json.loads(told)):
        for value in (None, 99, "x", [5], {"a": 1}):
            data = holder = json.loads(told)
            for key in way:
                holder = holder[key]
            holder[last] = value
            try:
                back = CompressionResult.from_json(json.dumps(data))
            except InputError:
                refused += 1
                continue
            with suppress(InputError):
                back.restore()
                back.report(form="html")
                back.to_json()
    assert refused > 100


def test_messages_that_json_cannot_hold_are_refused():
    messages = [{"role": "user", "content": "x", "when": object()}, *chat(9)]
    with pytest.raises(InputError, match="a message cannot be written as JSON"):
        holdfast.compress(messages, 50, counter="words").to_json()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_json_has_not_are_refused_and_not_written(number):
    done = holdfast.compress([{"role": "user", "content": "a", "score": number}], 100)
    with pytest.raises(
        InputError, match=r"cannot be written as JSON: .*; give messages made of .* finite numbers"
    ):
        done.to_json()


@pytest.mark.parametrize("thing", [None, 5, [], {"messages": []}, "result.json"])
def test_only_a_result_is_restored(thing):
    with pytest.raises(
        InputError, match=f"^{type(thing).__name__} is not a result; give what compress returned"
    ):
        holdfast.restore(thing)
    with pytest.raises(
        InputError, match=r"^this is not the JSON of a result \(it has no 'holdfast'\); give a file"
    ):
        CompressionResult.from_json("{}")


# metrics


@pytest.mark.parametrize(
    ("quad", "ratio", "reduction", "fewer", "smaller", "saved"),
    [
        ((1000, 400, 10, 6), 0.4, 60.0, 40.0, True, 600),
        ((1000, 0, 20, 1), 0.0, 100.0, 95.0, True, 1000),
        ((100, 200, 5, 10), 2.0, -100.0, -100.0, False, 0),
        ((0, 0, 0, 0), 1.0, 0.0, 0.0, False, 0),
        ((100, 100, 5, 5), 1.0, 0.0, 0.0, False, 0),
    ],
)
def test_the_figures_of_the_metrics(quad, ratio, reduction, fewer, smaller, saved):
    metrics = CompressionMetrics(*quad)
    assert metrics.compression_ratio == ratio
    assert metrics.token_reduction_percent == metrics.reduction_percent == pytest.approx(reduction)
    assert metrics.message_reduction_percent == pytest.approx(fewer)
    assert (metrics.was_compressed, metrics.tokens_saved) == (smaller, saved)
    assert CompressionMetrics.from_dict(json.loads(json.dumps(metrics.to_dict()))) == metrics


def test_the_factor_is_the_ratio_upside_down_and_is_left_out_of_json_where_it_is_infinite():
    assert CompressionMetrics(900, 300, 1, 1).compression_factor == pytest.approx(3.0)
    nothing = CompressionMetrics(900, 0, 1, 0)
    assert nothing.compression_factor == float("inf")
    assert "compression_factor" not in nothing.to_dict()
    assert CompressionMetrics(900, 300, 1, 1).to_dict()["compression_factor"] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("tokens", "limit", "within", "utilization"),
    [
        (50, 100, True, 50),
        (100, 100, True, 100),
        (101, 100, False, 101),
        (0, 0, True, 0),
        (1, 3, True, 33),
    ],
)
def test_usage_says_how_much_of_the_budget_is_taken(tokens, limit, within, utilization):
    usage = TokenUsage(tokens, limit)
    assert (usage.within, usage.utilization) == (within, utilization)


def test_removed_messages_are_those_that_left_the_view():
    done = holdfast.compress([system("s"), *chat(10)], 201, strategy="trim", counter="words")
    assert (done.trimmed, done.removed_messages) == (True, 21 - len(done.messages))
    kept = holdfast.compress(
        agent_run(6), 450, strategy=Prune(protect_tokens=0.4, minimum_tokens=0), counter="words"
    )
    assert (kept.trimmed, kept.removed_messages, bool(kept.edits)) == (False, 0, True)
