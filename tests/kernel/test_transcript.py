from dataclasses import replace

import pytest

from holdfast.compressors.summaries import Marks, mark
from holdfast.formats import named
from holdfast.kernel.messages import Opaque, Reasoning, Text, ToolCall, ToolResult
from tests.formats.rules.messages import assistant, calling, result, text, thought, tool, use, user
from tests.talks import agent_run, chat, exchange, system


def read(messages, form="openai", **fields):
    return replace(named(form).read(messages), **fields)


def admitted(transcript):
    return Marks("s").admit(transcript)


def spans(ranges):
    return [(span.start, span.stop) for span in ranges]


def test_a_call_and_its_results_are_one_unit_and_everything_else_stands_alone():
    messages = [system("s"), user("u"), calling("a", "b"), tool("a"), tool("b"), assistant("x")]
    assert spans(read(messages).units) == [(0, 1), (1, 2), (2, 5), (5, 6)]


def test_parallel_calls_of_anthropic_are_one_unit_with_the_message_that_answers():
    messages = [
        user("u"),
        assistant(use("a"), use("b")),
        user(result("a"), result("b")),
        assistant("x"),
    ]
    assert spans(read(messages, "anthropic").units) == [(0, 1), (1, 3), (3, 4)]


def test_a_call_that_nobody_answered_stands_alone():
    assert spans(read([user("u"), calling("a"), user("v")]).units) == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize(
    ("messages", "newest"),
    [
        ([], (0, 0)),
        ([system("s")], (0, 0)),
        ([user("u"), assistant("x")], (1, 2)),
        ([user("u"), *exchange(1)], (1, 3)),
        ([user("u"), calling("a")], (1, 2)),
        ([user("u"), *exchange(1), system("late")], (1, 3)),
        ([user("u"), calling("a", "b"), tool("a")], (1, 3)),
    ],
)
def test_the_newest_is_the_last_that_is_not_the_systems_with_its_open_exchange(messages, newest):
    span = read(messages).newest
    assert (span.start, span.stop) == newest


def test_system_messages_pins_and_the_newest_are_protected():
    messages = [system("s"), user("u"), assistant("x"), system("t"), user("v"), assistant("y")]
    assert read(messages, pinned=frozenset({2})).protected == {0, 2, 3, 5}


def test_a_turn_goes_from_a_user_to_the_next_and_an_agents_run_is_one():
    assert spans(read([*agent_run(3), *chat(2)]).turns) == [(0, 1), (1, 9), (9, 11), (11, 13)]
    assert spans(read([assistant("hello"), *chat(1)]).turns) == [(0, 1), (1, 3)]
    assert spans(read([assistant("hello")]).turns) == [(0, 1)]
    assert read([]).turns == ()


def test_a_user_message_that_only_brings_results_is_no_turn():
    messages = [user("u"), assistant(use("a")), user(result("a")), user("v")]
    assert read(messages, "anthropic").user_positions == (0, 3)
    spoken = [user("u"), assistant(use("a")), user(result("a"), "and now this")]
    assert read(spoken, "anthropic").user_positions == (0, 2)


def test_the_task_and_the_newest_user_are_preferred_when_named():
    messages = agent_run(2) + chat(2)
    assert read(messages).preferred == frozenset()
    assert read(messages, prefers=("task",)).preferred == {1}
    assert read(messages, prefers=("task", "newest_user")).preferred == {1, 9}
    assert read([assistant("x")], prefers=("task", "newest_user")).preferred == frozenset()


def test_the_head_of_a_transcript_keeps_the_pins_that_stand_in_it():
    head = read(chat(3), pinned=frozenset({1, 4})).head(3)
    assert (len(head), head.pinned) == (3, {1})


def test_reworded_keeps_the_shape_that_is_known():
    transcript = read(agent_run())
    units, protected = transcript.units, transcript.protected
    after = transcript.reworded(transcript.messages)
    assert after.units is units
    assert after.protected is protected


def test_parts_come_in_the_order_of_the_wire():
    blocks = assistant(thought(), text("look"), use("a"), {"type": "hologram"})
    parts = named("anthropic").read([blocks]).messages[0].parts
    assert [type(part) for part in parts] == [Reasoning, Text, ToolCall, Opaque]
    assert parts[0].signed


def test_calls_are_the_assistants_and_results_are_the_others():
    call, answer = named("openai").read([calling("a"), tool("a", "text")]).messages
    assert [c.id for c in call.calls] == ["a"]
    assert call.results == ()
    assert answer.results == (ToolResult("a", "text"),)
    assert answer.calls == ()


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (user("hi"), "hi"),
        (calling("a"), None),
        (tool("a", "out"), "out"),
        (
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            },
            "a\nb",
        ),
    ],
)
def test_the_text_of_a_message_is_its_words_and_its_results(message, said):
    assert named("openai").read([message]).messages[0].content_text == said


def test_a_message_is_read_when_first_asked_for_and_only_once():
    message = named("openai").read([user("hi")]).messages[0]
    assert message.parts is message.parts
    assert message.plain == "hi"


def test_saying_another_text_leaves_the_original_alone():
    before = tool("a", "long")
    message = named("openai").read([before]).messages[0]
    after = message.saying({0: "short"})
    assert (after.original, after.plain) == (tool("a", "short"), "short")
    assert message.original is before
    assert before == tool("a", "long")


def test_a_summary_in_a_users_place_is_neither_the_task_nor_the_question():
    messages = [
        user(mark("Older.", "user", "s")),
        user("Find it."),
        *exchange(1),
        user(mark("Newer.", "user", "s")),
    ]
    transcript = admitted(read(messages, prefers=("task", "newest_user")))
    assert transcript.preferred == {1}
    assert transcript.question == "Find it."
    assert admitted(read(messages[:1], prefers=("task",))).preferred == frozenset()
    assert admitted(read(messages[:1])).question == ""


def test_a_summary_whose_text_is_a_part_is_one_too():
    messages = [
        user(text("Find it.")),
        user(text(mark("Older.", "user", "s"))),
        assistant(text("I looked.")),
    ]
    transcript = admitted(named("anthropic").read(messages))
    assert transcript.question == "Find it."
    assert replace(transcript, prefers=("newest_user",)).preferred == {0}


def test_a_summary_that_another_text_replaces_may_be_the_newest_of_the_user():
    marked = user(mark("Older.", "user", "s"))
    transcript = admitted(read([user("Find it."), *exchange(1), marked], prefers=("newest_user",)))
    assert transcript.preferred == {0}
    last = transcript.messages[-1]
    assert transcript.reworded(
        (*transcript.messages[:-1], last.saying({0: "[HIST …"}))
    ).preferred == {3}
