"""The strategy through the public door, with scripted models."""

import json

import pytest

import holdfast
from holdfast.compressors.rank import Hierarchical
from holdfast.compressors.summaries import mark
from holdfast.kernel.compressor import described
from holdfast.providers.scripted import Scripted
from holdfast.stores.in_process import InProcessStore
from holdfast.text.importance import SELECTIVE
from tests.formats.rules.messages import assistant, calling, tool, user
from tests.talks import chat, exchange, same, system, words


def ranked(messages, budget, llm=None, knobs=(), **settings):
    strategy = Hierarchical(**dict(knobs))
    return holdfast.compress(
        messages, budget, strategy=strategy, counter="words", llm=llm, **settings
    )


def kept(result, messages):
    places = {id(message): i for i, message in enumerate(messages)}
    return [places[id(message)] for message in result.messages if id(message) in places]


def contents(result):
    return [message["content"] for message in result.messages]


def test_the_newest_stay_and_of_the_older_the_most_important_in_order():
    talk = [system("Be brief."), *chat(6)]
    result = ranked(talk, 130, knobs={"keep_recent": 2})
    assert kept(result, talk) == [0, 6, 8, 9, 10, 11, 12]
    assert result.budget_met
    assert holdfast.restore(result) == talk


def test_a_long_older_message_wins_over_a_short_newer_one():
    talk = [assistant(words(90)), user("Ok."), assistant("Ok."), user("Ok."), *chat(3)]
    assert 0 in kept(ranked(talk, 300, knobs={"keep_recent": 6, "weights": "mofa"}), talk)


def test_the_system_pins_and_the_newest_stay_whatever_they_score():
    talk = [system("Be brief."), *chat(5)]
    assert kept(ranked(talk, 40, knobs={"keep_recent": 0}, pin=[1]), talk) == [0, 1, 10]


def test_a_summary_of_what_has_left_stays_while_it_fits_and_is_never_condensed():
    for speaker in (user, assistant):
        talk = [speaker(mark(words(40), speaker("")["role"], "secret")), *chat(6)]
        options = {"knobs": {"keep_recent": 2}, "secret": "secret"}
        assert 0 in kept(ranked(talk, 130, Scripted("Short."), **options), talk)
        assert 0 not in kept(ranked(talk, 50, Scripted("Short."), **options), talk)


def test_exchanges_stay_or_go_whole():
    talk = [
        user("Go."),
        *(message for n in range(6) for message in exchange(n, 60)),
        assistant("Done."),
        user("Ok."),
    ]
    result = ranked(talk, 330, knobs={"keep_recent": 2})
    assert holdfast.validate(result.messages) == []
    assert result.budget_met
    assert sum("tool_call_id" in message for message in result.messages) == sum(
        "tool_calls" in message for message in result.messages
    )


LONG = words(300, "said")
TALK = [user(words(30)), assistant(LONG), user(words(300, "asked")), *chat(3, 10)]
KNOBS = {"keep_recent": 6, "condense_above": 0.4}


def test_an_important_message_that_does_not_fit_is_condensed_by_the_model():
    model = Scripted("They spoke of many things.")
    result = ranked(TALK, 190, model, KNOBS)
    assert "[Compressed] They spoke of many things." in contents(result)
    assert result.messages[1]["role"] == "assistant"
    assert len(model.calls) == 1
    assert "said said" in model.calls[0].prompt
    assert result.budget_met
    assert holdfast.restore(result) == TALK


def test_a_message_that_is_too_long_for_the_model_is_condensed_in_parts():
    model = Scripted("They spoke of many things.", window=500)
    result = ranked(TALK, 190, model, KNOBS)
    assert "[Compressed] They spoke of many things." in contents(result)
    assert len(model.calls) == 3  # two parts, and the notes of both as one
    assert result.budget_met


def test_what_a_user_said_is_never_condensed():
    model = Scripted("Short.")
    result = ranked(TALK, 190, model, KNOBS)
    assert not any("asked" in call.prompt for call in model.calls)
    assert all(message in TALK for message in result.messages if message["role"] == "user")


def test_the_output_of_a_tool_is_condensed_inside_its_exchange():
    talk = [user("Go."), calling("a"), tool("a", words(300, "out")), *chat(3, 10)]
    result = ranked(talk, 170, Scripted("It worked."), KNOBS)
    assert contents(result)[2] == "[Compressed] It worked."
    assert holdfast.validate(result.messages) == []


def test_exact_things_that_the_model_leaves_out_are_listed():
    talk = [user("Go."), assistant(f"The server db-17 is at 10.0.0.7:8080. {LONG}"), *chat(3, 10)]
    result = ranked(talk, 190, Scripted("A server was found."), KNOBS)
    assert contents(result)[1].startswith("[Compressed] A server was found.\n- ")
    assert "db-17" in contents(result)[1]
    assert "10.0.0.7:8080" in contents(result)[1]


def test_without_a_model_important_messages_that_do_not_fit_go():
    result = ranked(TALK, 190, None, KNOBS)
    assert result.budget_met
    assert LONG not in contents(result)
    assert not any("[Compressed]" in content for content in contents(result))


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   ",
        "[summary unavailable]",
        words(400, "long"),
        "I'm sorry, I can't.",
        RuntimeError("busy"),
    ],
)
def test_a_reply_that_may_not_stand_is_skipped_and_told(reply):
    result = ranked(TALK, 190, Scripted([reply] * 9), KNOBS)
    assert result.budget_met
    assert LONG not in contents(result)
    assert not any("[Compressed]" in content for content in contents(result))
    assert "1 text could not be condensed" in result.steps[0].detail
    assert holdfast.restore(result) == TALK


def test_one_failure_leaves_the_others_their_summaries():
    talk = [
        user("Go."),
        assistant(words(300, "first")),
        assistant(words(300, "second")),
        *chat(3, 10),
    ]

    def reply(prompt):
        return RuntimeError("busy") if "first first" in prompt else "The second one."

    result = ranked(talk, 230, Scripted(reply), KNOBS)
    assert contents(result)[1] == "[Compressed] The second one."
    assert len(result.messages) == 8


def test_the_model_is_asked_about_the_most_important_only():
    talk = [
        user("Go."),
        *(assistant(words(300, f"many{name}")) for name in "abcdefghi"),
        *chat(3, 10),
    ]
    model = Scripted("In short.")
    result = ranked(talk, 350, model, {**KNOBS, "condense_most": 2})
    assert len(model.calls) == 2
    assert contents(result)[1:3] == ["[Compressed] In short."] * 2
    assert {
        name for name in "abcdefghi" for call in model.calls if f"many{name}" in call.prompt
    } == {"h", "i"}


def test_what_was_condensed_is_kept_under_the_thread_and_the_position():
    store, model = InProcessStore(), Scripted("They spoke of many things.")
    first = ranked(TALK, 190, model, KNOBS, store=store, thread="t:1")
    assert "They spoke" in store.get("thread_t%3A1:message:1")
    again = ranked(TALK, 190, Scripted([]), KNOBS, store=store, thread="t:1")
    assert again.messages == first.messages


def test_a_changed_message_is_condensed_anew():
    store = InProcessStore()
    ranked(TALK, 190, Scripted("They spoke of many things."), KNOBS, store=store, thread="1")
    changed = [TALK[0], assistant(words(300, "other")), *TALK[2:]]
    result = ranked(changed, 190, Scripted("Of others."), KNOBS, store=store, thread="1")
    assert "[Compressed] Of others." in contents(result)


@pytest.mark.parametrize(
    "value", ["", "junk", "[]", '{"covers": 1}', '{"texts": 1}', "[" * 100_000]
)
def test_what_else_stands_under_the_key_is_no_summary(value):
    store = InProcessStore()
    store.set("thread_1:message:1", value)
    result = ranked(TALK, 190, Scripted("They spoke."), KNOBS, store=store, thread="1")
    assert "[Compressed] They spoke." in contents(result)
    assert json.loads(store.get("thread_1:message:1"))["text"] == "They spoke."


def test_all_that_was_condensed_is_on_the_list_by_which_a_thread_is_forgotten():
    talk = [user("Go."), *(assistant(words(300, f"many{name}")) for name in "abcd"), *chat(3, 10)]
    store = InProcessStore()
    ranked(talk, 300, Scripted("In short."), KNOBS, store=store, thread="1")
    assert sorted(json.loads(store.get("thread_1:message:list"))) == [1, 2, 3, 4]


def test_a_store_that_fails_costs_nothing_but_the_memory():
    class Broken:
        def get(self, key):
            raise OSError("gone")

        set = delete = get

    result = ranked(TALK, 190, Scripted("They spoke."), KNOBS, store=Broken(), thread="1")
    assert "[Compressed] They spoke." in contents(result)
    assert result.steps[0].detail == "summaries are not kept: the store failed: OSError: gone"


def test_the_preset_of_the_other_design_keeps_what_the_question_is_about():
    about = "The disk of db-17 is full of old backups, " + words(20)
    other = "Lunch is served at noon in the park, " + words(20)
    talk = [
        assistant(about),
        *(assistant(other) for _ in range(4)),
        user("What about the disk of db-17?"),
    ]
    result = ranked(talk, 85, knobs={"keep_recent": 1, "weights": SELECTIVE})
    assert kept(result, talk)[0] == 0


def test_doing_it_again_changes_nothing():
    for llm in (None, Scripted("They spoke of many things.")):
        once = ranked(TALK, 190, llm, KNOBS).messages
        assert same(ranked(once, 190, llm, KNOBS).messages, once)


def test_wrong_weights_are_named():
    with pytest.raises(holdfast.ConfigError, match="'mine' does not belong .* 'mofa' or 'sel"):
        Hierarchical(weights="mine")


def test_it_describes_itself():
    assert described(Hierarchical()) == {
        "strategy": "hierarchical",
        "keep_recent": 5,
        "weights": "mofa",
        "condense_above": 0.5,
        "summary_tokens": 256,
        "condense_most": 20,
    }
    assert (
        json.loads(json.dumps(described(Hierarchical(weights=SELECTIVE))))["weights"]["marker"]
        == 1.5
    )
