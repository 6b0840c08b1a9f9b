import pytest

import holdfast
from holdfast.compressors.prune import PLACEHOLDER, Prune
from holdfast.designs import tunacode
from holdfast.stores.in_process import InProcessStore
from tests.formats.rules.messages import assistant, calling, result, tool, use, user
from tests.talks import agent_run, exchange, planned, replaced, same, system, words

SMALL = {"protect_tokens": 200, "minimum_tokens": 50}


def cleared(strategy, messages, budget=1_000, **settings):
    """The positions of what goes."""
    return sorted(index for index, _ in replaced(planned(strategy, messages, budget, **settings)))


def test_the_preset_of_the_design_has_its_numbers():
    preset = tunacode()
    assert (preset.protect_tokens, preset.minimum_tokens, preset.min_user_turns) == (
        40_000,
        20_000,
        2,
    )
    assert preset.placeholder == PLACEHOLDER == "[Old tool result content cleared]"


def test_outputs_beyond_the_protected_zone_become_the_placeholder_and_calls_stay():
    messages = agent_run(6, size=100)
    result = holdfast.compress(messages, 450, strategy=Prune(**SMALL), counter="words")
    assert [m["content"] for m in result.messages if m["role"] == "tool"] == [PLACEHOLDER] * 4 + [
        words(100, "out4"),
        words(100, "out5"),
    ]
    assert same(result.messages[2::2], messages[2::2])


@pytest.mark.parametrize("contextual", [False, True])
def test_with_a_store_a_placeholder_names_the_original(contextual):
    messages, store = agent_run(6, size=100), InProcessStore()
    strategy = Prune(**SMALL, contextual=contextual)
    options = {"strategy": strategy, "counter": "words", "store": store}
    result = holdfast.compress(messages, 450, **options)
    for place in (3, 5, 7, 9):
        *told, reference = result.messages[place]["content"].split("\n")
        assert told == ([] if contextual else [PLACEHOLDER])
        assert ("(old output of " in reference) is contextual
        key = reference.removeprefix("[original: ").split()[0]
        assert holdfast.recall(key, store=store) == messages[place]["content"]
    for again in (options, {**options, "store": None}):
        assert holdfast.compress(result.messages, 1, **again).messages == result.messages


def test_an_output_hardly_longer_than_the_placeholder_has_no_reference():
    messages = agent_run(6, size=8)
    strategy = Prune(protect_tokens=10, minimum_tokens=1)
    options = {"strategy": strategy, "counter": "words", "store": InProcessStore()}
    result = holdfast.compress(messages, 60, **options)
    assert result.messages[3]["content"] == PLACEHOLDER


def test_the_output_in_which_the_zone_ends_stays_whole():
    assert cleared(Prune(protect_tokens=150, minimum_tokens=50), agent_run(6)) == [3, 5, 7, 9]
    assert cleared(Prune(protect_tokens=201, minimum_tokens=50), agent_run(6)) == [3, 5, 7]


@pytest.mark.parametrize(("minimum", "goes"), [(399, True), (400, False), (401, False)])
def test_nothing_goes_unless_more_than_the_minimum_can(minimum, goes):
    assert bool(cleared(Prune(protect_tokens=200, minimum_tokens=minimum), agent_run(6))) is goes


def test_exactly_the_minimum_is_enough_when_asked_for():
    strategy = Prune(protect_tokens=200, minimum_tokens=400, at_minimum=True)
    assert cleared(strategy, agent_run(6)) == [3, 5, 7, 9]


def test_a_conversation_with_too_few_turns_is_left_alone():
    plan = planned(Prune(**SMALL, min_user_turns=2), agent_run(6))
    assert (plan.edits, plan.reason) == ((), "too_few_turns")
    assert cleared(Prune(**SMALL, min_user_turns=2), [*agent_run(6), user("And now?")])


def test_a_skip_says_how_much_could_go():
    plan = planned(Prune(protect_tokens=500, minimum_tokens=150), agent_run(6))
    assert (plan.status, plan.reason) == ("skipped", "below_minimum")
    assert plan.detail == "100 tokens could go, 150 are the least worth clearing"


def test_shares_are_of_the_budget():
    strategy = Prune(protect_tokens=0.2, minimum_tokens=0.05)
    assert cleared(strategy, agent_run(6), 1_000) == [3, 5, 7, 9]
    assert cleared(strategy, agent_run(6), 2_000) == [3, 5]
    assert cleared(strategy, agent_run(6), 4_000) == []


def test_the_placeholder_can_be_the_callers_own():
    plan = planned(Prune(**SMALL, placeholder="(gone)"), agent_run(6))
    assert {*replaced(plan).values()} == {"(gone)"}


def test_a_contextual_placeholder_names_the_tool_and_the_size():
    messages = [
        user("go"),
        *exchange(0, 1_300, "read_file"),
        *exchange(1),
        *exchange(2),
        assistant("ok"),
    ]
    messages[2]["content"] = words(650) + "\n" + words(650)
    plan = planned(Prune(**SMALL, contextual=True), messages)
    assert replaced(plan) == {(2, 0): "[Old output of read_file cleared: 2 lines, 1,300 tokens]"}


def test_an_output_of_an_unknown_tool_is_called_that():
    messages = [tool("lost", words(500)), user("go"), *exchange(1), *exchange(2), assistant("ok")]
    plan = planned(Prune(**SMALL, contextual=True), messages)
    assert replaced(plan)[0, 0] == "[Old output of a tool cleared: 1 line, 500 tokens]"


@pytest.mark.parametrize("contextual", [False, True])
def test_what_is_cleared_stays_as_it_is_the_next_time(contextual):
    strategy = Prune(**SMALL, contextual=contextual)
    once = holdfast.compress(agent_run(6), 450, strategy=strategy, counter="words")
    assert once.trimmed is False
    assert cleared(strategy, once.messages, 450) == []


def test_an_output_shorter_than_the_placeholder_stays():
    messages = [user("go"), *exchange(0, 3), *exchange(1, 300), *exchange(2, 200), assistant("ok")]
    assert cleared(Prune(**SMALL), messages) == [4]


def test_only_the_tools_that_are_named_go():
    messages = [user("go")]
    for number, name in enumerate(["read_file", "read_dir", "grep", "read_url", "grep", "grep"]):
        messages += exchange(number, name=name)
    messages.append(assistant("ok"))
    assert cleared(Prune(**SMALL, tools=("read_*",)), messages) == [2, 4, 8]
    assert cleared(Prune(**SMALL, keep_tools=("read_[fd]*",)), messages) == [6, 8]
    assert cleared(Prune(**SMALL, tools=("read_*",), keep_tools=("*_dir",)), messages) == [2, 8]
    assert cleared(Prune(**SMALL, tools=("READ_*",)), messages) == []


def test_an_id_that_is_given_out_again_names_the_tool_that_was_called_last_before_the_output():
    messages = [user("go")]
    for name in ("read_file", "write_file", "read_file", "write_file"):
        (call,) = calling("call_0")["tool_calls"]
        named = {**call, "function": {**call["function"], "name": name}}
        messages += [{**calling("call_0"), "tool_calls": [named]}, tool("call_0", words(100))]
    messages.append(assistant("ok"))
    nothing = {"protect_tokens": 0, "minimum_tokens": 0}
    assert cleared(Prune(**nothing, keep_tools=("read_*",)), messages, 300) == [4, 8]
    assert cleared(Prune(**nothing, tools=("read_*",)), messages, 300) == [2, 6]


def test_errors_stay_when_asked_for():
    blocks = [{**result(f"c{n}", words(100)), "is_error": n == 1} for n in range(5)]
    messages = [user("go")]
    for number, block in enumerate(blocks):
        messages += [assistant(use(f"c{number}")), user(block)]
    messages.append(assistant("ok"))
    assert cleared(Prune(**SMALL), messages, format="anthropic") == [2, 4, 6]
    assert cleared(Prune(**SMALL, keep_errors=True), messages, format="anthropic") == [2, 6]


def parallel():
    """One message of Anthropic with four results of 100 words, and one older with one."""
    many = [use(f"c{n}") for n in range(4)]
    answers = [result(f"c{n}", words(100)) for n in range(4)]
    older = [assistant(use("old")), user(result("old", words(100)))]
    return [user("go"), *older, assistant(*many), user(*answers), assistant("ok")]


def test_the_zone_may_end_between_two_outputs_of_one_message():
    plan = planned(Prune(**SMALL), parallel(), 1_000, format="anthropic")
    assert sorted(replaced(plan)) == [(2, 0), (4, 0), (4, 1)]


def test_or_only_between_messages():
    plan = planned(Prune(**SMALL, by="message"), parallel(), 1_000, format="anthropic")
    assert sorted(replaced(plan)) == [(2, 0)]


def test_an_exchange_that_the_model_has_not_answered_stays():
    messages = [user("go"), *exchange(0), *exchange(1)]
    assert cleared(Prune(protect_tokens=0, minimum_tokens=0), messages) == [2]


def test_pinned_outputs_stay():
    assert cleared(Prune(**SMALL), agent_run(6), pin=[5]) == [3, 7, 9]


def test_words_of_users_systems_and_assistants_never_go():
    long = words(5_000)
    messages = [system(long), user(long), assistant(long), *agent_run(6)[2:]]
    assert cleared(Prune(protect_tokens=0, minimum_tokens=0), messages) == [4, 6, 8, 10, 12, 14]


def test_of_an_answer_in_parts_the_whole_goes_and_media_with_it():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    first = [calling("a"), {**tool("a"), "content": [{"type": "text", "text": words(400)}, image]}]
    messages = [user("go"), *first, *exchange(1), *exchange(2), assistant("ok")]
    done = holdfast.compress(messages, 500, strategy=Prune(**SMALL), counter="words")
    assert done.messages[2] == {**first[1], "content": PLACEHOLDER}
    assert holdfast.restore(done) == messages


@pytest.mark.parametrize("budgets", [1.0, 2.0])
def test_what_is_too_far_back_can_be_left_to_the_next_step(budgets):
    near = cleared(
        Prune(protect_tokens=0, minimum_tokens=0, reach_budgets=budgets), agent_run(30), 500
    )
    everything = cleared(Prune(protect_tokens=0, minimum_tokens=0), agent_run(30), 500)
    assert near == [i for i in everything if i >= near[0]]
    assert 0 < len(near) <= 5 * budgets
