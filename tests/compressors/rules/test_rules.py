"""The strategy: rules in a row, and rules of the caller's own."""

import json

import pytest

import holdfast
from holdfast.compressors.rules import RULES, Rules, TextRule
from holdfast.kernel.compressor import described
from tests.formats.rules.messages import assistant, calling, tool, use, user
from tests.formats.rules.messages import result as result_of
from tests.talks import same, system, words

SPOKEN = "Um, well, we deploy the service on Friday. Then we watch it. Then we watch it."
TALK = [
    system("Um, well, be careful. Be careful now. Be careful now."),
    user("Um, well, like I said, the answer. The answer. The answer."),
    assistant(SPOKEN),
    user("Thanks."),
]


def ruled(messages, *rules, budget=10, **knobs):
    strategy = Rules(rules, **knobs) if rules else Rules(**knobs)
    return holdfast.compress(messages, budget, strategy=strategy, counter="words")


def contents(result):
    return [message["content"] for message in result.messages]


def test_the_assistants_text_changes_and_nobody_elses():
    result = ruled(TALK)
    assert contents(result)[2] == "We deploy the service on Friday. Then we watch it. [×2]"
    assert same(result.messages[:2] + result.messages[3:], TALK[:2] + TALK[3:])
    assert holdfast.restore(result) == TALK


def saved(result):
    return {step.name: step.before - step.after for step in result.steps if step.applied}


def test_a_step_says_what_each_rule_saved():
    assert saved(ruled(TALK)) == {"filler_words": 2, "dedupe_sentences": 3}


def test_rules_stop_when_the_target_is_met():
    whole = holdfast.count(TALK, counter="words").total
    assert saved(ruled(TALK, budget=whole - 1)) == {"filler_words": 2}


def test_a_rule_that_saves_no_tokens_does_not_happen():
    grows = TextRule("grows", lambda text: text if text.startswith("So ") else f"So {text}")
    result = ruled(TALK, grows)
    assert same(result.messages, TALK)
    assert result.steps[0].reason == "nothing_saved"


def test_a_rule_that_never_settles_does_not_happen():
    assert same(ruled(TALK, TextRule("eats", lambda text: text[6:])).messages, TALK)


def test_the_output_of_tools_changes_only_when_asked_for():
    messages = [user("Go."), calling("a"), tool("a", SPOKEN), user("And?")]
    assert same(ruled(messages).messages, messages)
    assert "[×2]" in contents(ruled(messages, roles=("assistant", "tool")))[2]


def test_the_output_of_a_tool_under_the_users_role_is_a_tools():
    messages = [user("Go."), assistant(use("a")), user(result_of("a", SPOKEN)), assistant("Done.")]
    done = ruled(messages, roles=("assistant", "tool"))
    assert "[×2]" in str(done.messages[2])
    assert same(done.messages[:2], messages[:2])


def test_doing_it_again_changes_nothing():
    once = ruled(TALK, *RULES)
    assert same(ruled(once.messages, *RULES).messages, once.messages)


def test_a_pinned_message_stands():
    result = holdfast.compress(TALK, 10, strategy=Rules(), counter="words", pin=[2])
    assert same(result.messages, TALK)


def test_of_examples_in_a_row_the_first_and_the_last_stay():
    lead = "For example, " + words(10)
    talk = [user("Show me."), *(assistant(f"{lead} {i}") for i in range(5)), user("Thanks.")]
    result = ruled(talk, "consolidate_examples")
    assert contents(result) == [
        "Show me.",
        f"{lead} 0",
        "...[+ 3 additional examples]...",
        f"{lead} 4",
        "Thanks.",
    ]
    assert same(ruled(result.messages, "consolidate_examples").messages, result.messages)


def test_examples_of_users_and_examples_in_code_stay():
    lead = "For example, " + words(10)
    talk = [
        *(user(f"{lead} {i}") for i in range(4)),
        *(assistant(f"{lead}\n```\n{i}\n```") for i in range(4)),
    ]
    assert same(ruled(talk, "consolidate_examples").messages, talk)


def test_an_unknown_rule_is_named():
    with pytest.raises(holdfast.ConfigError, match="'shorten' does not belong here.*filler_words"):
        Rules(("shorten",))


def test_the_description_is_json():
    rules = Rules(("filler_words", TextRule("mine", str.strip)))
    assert json.loads(json.dumps(described(rules)))["rules"] == ["filler_words", {"name": "mine"}]


def test_a_rule_that_raises_is_refused_and_does_not_keep_the_next_one_from_its_work():
    def broken(text):
        raise ValueError("out of luck")

    result = ruled(TALK, TextRule("mine", broken), "filler_words")
    assert (result.steps[0].name, result.steps[0].status) == ("mine", "failed")
    assert saved(result) == {"filler_words": 2}
