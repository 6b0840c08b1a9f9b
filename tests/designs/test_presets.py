"""The presets of the designs, by name, over five rounds that hand their output back."""

from __future__ import annotations

import json

import pytest

import holdfast
from holdfast.compressors.pipeline import Pipeline
from holdfast.profiles import load_profile, preset_names, profile_names, read_step
from holdfast.providers.scripted import Scripted
from holdfast.stores.in_process import InProcessStore
from holdfast.tokens import counter_for

SYSTEM = {"role": "system", "content": "Be brief."}
TUNACODE = "[Old tool result content cleared]"


def _model():
    return Scripted(lambda prompt: f"Notes on {prompt.count('Message ')} messages.")


def _rounds(name, budget, each=8):
    """What comes of five rounds of exchanges, with the messages that each was given."""
    model, messages, said = _model(), [SYSTEM], 0
    for _ in range(5):
        for _ in range(each):
            said += 1
            messages = [
                *messages,
                {"role": "user", "content": f"Question {said}. " * 8},
                {"role": "assistant", "content": f"Answer {said}. " * 8},
            ]
        messages = [*messages, {"role": "user", "content": "And now?"}]
        result = holdfast.compress(messages, budget, strategy=name, llm=model)
        yield messages, result
        messages = [*result.messages, {"role": "assistant", "content": "Well."}]


def _over(rounds, limit):
    return [(given, result) for given, result in rounds if result.metrics.tokens_before > limit]


def test_mofas_window_leaves_the_system_and_the_newest_ten():
    rounds = _over(_rounds("mofa_sliding_window", 500), 500)
    assert len(rounds) == 4
    for given, result in rounds:
        assert result.messages == [SYSTEM, *given[-10:]]


def test_mofas_summary_is_one_message_of_the_assistant_before_the_newest_ten():
    rounds = _over(_rounds("mofa_summarizing", 500), 500)
    assert len(rounds) == 4
    for given, result in rounds:
        assert result.messages[2:] == given[-10:]
        summary = result.messages[1]
        assert summary["role"] == "assistant"
        assert summary["content"].startswith("[Conversation summary]\nNotes on ")
        older = len(given) - 1 - 10
        assert f"Notes on {older} messages." in summary["content"]


def test_mofas_merging_keeps_the_longest_of_what_means_the_same_and_the_newest_five():
    again = {
        "role": "user",
        "content": "Please tell me what the weather is in Bern today, thank you",
    }
    other = {"role": "user", "content": "Buy forty green apples and some bread on the way home"}
    messages = [SYSTEM]
    for _ in range(5):
        messages = [*messages, again, {**again, "content": f"{again['content']}!"}, other]
        messages += [{"role": ("assistant", "user")[n % 2], "content": f"{n}"} for n in range(5)]
        result = holdfast.compress(messages, 10, strategy="mofa_semantic")
        contents = [m["content"] for m in result.messages[:-5]]
        assert contents.count(f"{again['content']}!") == 1
        assert again["content"] not in contents
        assert contents.count(other["content"]) == 1
        assert result.messages[-5:] == messages[-5:]
        messages = result.messages


def test_mofas_ranking_meets_the_budget_in_order_and_keeps_the_newest_five():
    for given, result in _over(_rounds("mofa_hierarchical", 500), 500):
        assert result.budget_met
        assert result.messages[0] == SYSTEM
        assert result.messages[-5:] == given[-5:]
        rest = iter(given)
        assert all(any(m == each for each in rest) for m in result.messages if m in given)


def test_mofas_hybrid_stops_at_the_first_that_fits():
    for given, result in _over(_rounds("mofa_hybrid", 500), 500):
        assert result.messages == [SYSTEM, *given[-10:]]
        assert [step.applied for step in result.steps] == [True, False]
    for _, result in _over(_rounds("mofa_hybrid", 225), 225):
        assert [step.name for step in result.steps][:2] == ["sliding_window", "summarizing"]


def _of_size(tokens, first="user"):
    """A conversation of so many tokens by SlimContext's count: a quarter of the letters, and 2."""
    each = "x" * 4 * 98
    roles = ("user", "assistant") if first == "user" else ("assistant", "user")
    whole = [{"role": roles[n % 2], "content": each} for n in range(tokens // 100)]
    rest = tokens - 100 * len(whole)
    if rest:
        whole[-1] = {**whole[-1], "content": each + "x" * 4 * rest}
    return whole


@pytest.mark.parametrize("name", ["slimcontext_trim", "slimcontext_summary"])
def test_slimcontext_begins_above_5734_of_8192(name):
    messages = _of_size(5_734)
    assert messages[-1]["role"] == "user"
    assert holdfast.count(messages, counter="ceil4_plus2").total == 5_734
    unchanged = holdfast.compress(messages, 8_192, strategy=name, llm=_model())
    assert unchanged.messages is messages or unchanged.messages == messages
    messages[-1] = {**messages[-1], "content": messages[-1]["content"] + "x"}
    result = holdfast.compress(messages, 8_192, strategy=name, llm=_model())
    assert len(result.messages) < len(messages)
    assert result.metrics.tokens_after <= 5_734
    ends = {"role": "assistant", "content": "x" * 400}
    assert not holdfast.compress([*messages, ends], 8_192, strategy=name, llm=_model()).edits


def test_slimcontexts_trim_drops_the_oldest_until_it_fits():
    for given, result in _over(_rounds("slimcontext_trim", 500), 350):
        kept = len(result.messages) - 1
        assert result.messages == [SYSTEM, *given[len(given) - kept :]]
        assert result.metrics.tokens_after <= 350
        (before,) = [given[len(given) - kept - 1]]
        more = holdfast.count([SYSTEM, before, *result.messages[1:]], counter="ceil4_plus2").total
        assert more > 350


def test_slimcontexts_summary_is_one_message_of_the_system_from_round_to_round():
    for given, result in _over(_rounds("slimcontext_summary", 500), 350):
        assert [m["role"] for m in result.messages[:2]] == ["system", "system"]
        assert len(result.messages) == 2 + 4
        assert result.messages[2:] == given[-4:]
        assert "Notes on" in result.messages[1]["content"]


def _call(n, text):
    function = {"name": "read_file", "arguments": f'{{"path": "{n}.py"}}'}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{n}", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": f"c{n}", "content": text},
    ]


def _outputs(messages):
    return [m["content"] for m in messages if m["role"] == "tool"]


def test_tunacode_counts_a_quarter_of_the_letters_and_clears_beyond_40_000_tokens():
    messages = [{"role": "user", "content": "Read on."}]
    for n in range(5):
        for k in range(4):
            messages = [*messages, *_call(10 * n + k, "word " * 8_000)]  # 10,000 tokens each
        messages = [*messages, {"role": "user", "content": "Go on."}]
        before = _outputs(messages)
        whole = [text for text in before if text != TUNACODE]
        result = holdfast.compress(messages, 45_000, strategy="tunacode")
        messages = result.messages
        cleared = len(whole) - 4 if len(whole) - 4 > 2 else 0
        assert _outputs(messages).count(TUNACODE) - before.count(TUNACODE) == cleared
        assert all(text == "word " * 8_000 for text in _outputs(messages)[-4:])
    assert _outputs(messages).count(TUNACODE) == 16


def test_context_editing_of_anthropic_clears_all_but_three_outputs_past_100_000_tokens():
    messages = [{"role": "user", "content": "Read on."}]
    for n in range(5):
        for k in range(5):
            messages = [*messages, *_call(10 * n + k, "number 1234 " * 1_500)]
        messages = [*messages, {"role": "user", "content": "Go on."}]
        result = holdfast.compress(messages, 200_000, profile="anthropic_context_editing")
        over = result.metrics.tokens_before > 100_000
        assert bool(result.edits) is over
        if over:
            told = _outputs(result.messages)
            assert told.count(TUNACODE) == len(told) - 3
            assert TUNACODE not in told[-3:]
        messages = [*messages, {"role": "assistant", "content": "Done."}]
    assert over


@pytest.mark.parametrize("name", [*profile_names(), *preset_names()])
def test_the_strategy_of_a_result_makes_the_pipeline_again(name):
    messages = [{"role": "user", "content": "hello"}]
    profile = load_profile(name)
    told = json.loads(json.dumps(holdfast.compress(messages, 500, profile=name).strategy))
    made = read_step(told, "told")
    steps = made.steps if isinstance(made, Pipeline) else (made,)
    assert steps == profile.steps


@pytest.mark.parametrize("step", [None, 0.25])
def test_the_strategy_of_a_result_makes_a_list_in_steps_again(step):
    messages = [{"role": "user", "content": f"hello {n}"} for n in range(60)]
    given = {"strategy": ["prune", "sliding_window", "trim"], "step": step}
    result = holdfast.compress(messages, 120, **given)
    made = read_step(json.loads(json.dumps(result.strategy)))
    assert holdfast.compress(messages, 120, strategy=made).messages == result.messages


def test_a_design_counts_as_it_does_unless_a_counter_or_a_model_is_named():
    messages = [{"role": "user", "content": "x" * 4_000}]
    name = "slimcontext_trim"
    for options, counter in (
        ({}, "ceil4_plus2"),
        ({"counter": "words"}, "words"),
        ({"model": "gpt-4o"}, counter_for("gpt-4o").name),
    ):
        result = holdfast.compress(messages, 8_192, profile=name, **options)
        assert result.metrics.tokens_before == holdfast.count(messages, counter=counter).total


@pytest.mark.parametrize("opening", ["", "---\n"])
def test_long_lists_of_yaml_lose_their_middle_as_those_of_json_do(opening):
    items = "\n".join(f"  - name: item{n}\n    size: {n}" for n in range(90))
    text = f"{opening}kind: List\nempty: null\nitems:\n{items}\nnote: |\n  - not a list\nend: here"
    messages = [{"role": "user", "content": "list"}, *_call(1, text)]
    result = holdfast.compress(messages, 10, strategy="llm4s")
    (told,) = _outputs(result.messages)
    assert '  - "...[+70 items]..."' in told.split("\n")
    assert [n for n in range(90) if f"item{n}\n" in told] == [*range(10), *range(80, 90)]
    assert "empty" not in told
    assert told.startswith(opening)
    assert told.endswith("note: |\n  - not a list\nend: here")


@pytest.mark.parametrize("thread", ["deploy", None])
@pytest.mark.parametrize("hands_back", [True, False])
def test_ranges_that_a_longer_summary_supersedes_are_deleted(thread, hands_back):
    store, model, messages = InProcessStore(), Scripted(lambda _: "Notes on it all."), [SYSTEM]
    for n in range(50):
        asked = {"role": "user", "content": f"Question {n}. " * 60}
        messages = [*messages, asked, {"role": "assistant", "content": f"Answer {n}. " * 60}]
        options = {"strategy": "summarizing", "llm": model, "store": store, "thread": thread}
        result = holdfast.compress([*messages, {"role": "user", "content": "And?"}], 500, **options)
        messages = result.messages if hands_back else messages
    store_keys = list(store._entries)
    ranges = [key for key in store_keys if "ranges" in key or "opening" in key]
    assert [len(json.loads(store.get(key))) for key in ranges] == [3]
    assert len(store_keys) <= 3 * 3 + 2
    assert len(model.calls) >= 20


@pytest.mark.parametrize("says", ["Notes on it all.", "Notes, as of call {}."])
@pytest.mark.parametrize("strategy", ["slimcontext_summary", "mofa_summarizing"])
def test_summaries_that_begin_as_their_design_has_them_are_deleted_too(strategy, says):
    store, messages = InProcessStore(), [SYSTEM]
    model = Scripted(lambda _: says.format(len(model.calls)))
    for n in range(50):
        asked = {"role": "user", "content": f"Question {n}. " * 60}
        messages = [*messages, asked, {"role": "assistant", "content": f"Answer {n}. " * 60}]
        given = [*messages, {"role": "user", "content": "And?"}]
        messages = holdfast.compress(given, 500, strategy=strategy, llm=model, store=store).messages
    ranges = [key for key in store._entries if "opening" in key]
    assert [len(json.loads(store.get(key))) <= 3 for key in ranges] == [True]
    assert len(store._entries) <= 3 * 3 + 2
    assert len(model.calls) >= 20
