from __future__ import annotations

from holdfast.validity import validate
from tests.formats.rules.messages import (
    assistant,
    broken_at,
    calling,
    mended,
    read,
    result,
    same,
    tool,
    use,
    user,
)

UNIQUE, SPELLED = "call_ids_unique", "call_ids_spelled"


def ids(messages, provider):
    return [
        part.id if hasattr(part, "id") else part.call_id
        for m in read(messages, provider)
        for part in (*m.calls, *m.results)
    ]


def test_openai_takes_an_id_twice_but_not_in_one_message():
    assert broken_at(UNIQUE, [calling("a"), tool("a"), calling("a"), tool("a")], "openai") == []
    assert broken_at(
        UNIQUE, [calling("a", "b", "a"), tool("a"), tool("b"), tool("a")], "openai"
    ) == [0]


def test_anthropic_takes_an_id_once_in_a_conversation():
    before = [
        user("x"),
        assistant(use("a")),
        user(result("a")),
        assistant(use("a")),
        user(result("a")),
    ]
    assert broken_at(UNIQUE, before, "anthropic") == [3]
    assert broken_at(UNIQUE, before[:3], "anthropic") == []


def test_the_later_call_and_its_result_get_a_new_id_and_the_earlier_ones_stay_as_they_are():
    before = [
        user("x"),
        assistant(use("a")),
        user(result("a")),
        assistant(use("a")),
        user(result("a")),
    ]
    after = mended(UNIQUE, before, "anthropic")
    assert ids(after, "anthropic") == ["a", "a", "a_2", "a_2"]
    assert same(after, before) == [0, 1, 2, None, None]


def test_results_of_one_message_go_to_calls_of_the_same_id_in_their_order():
    before = [calling("a", "a", "a"), tool("a", "1"), tool("a", "2"), tool("a", "3")]
    after = mended(UNIQUE, before, "openai")
    assert ids(after, "openai") == ["a", "a_2", "a_3", "a", "a_2", "a_3"]
    assert [message["content"] for message in after[1:]] == ["1", "2", "3"]
    assert same(after, before) == [None, 1, None, None]


def test_a_new_id_is_none_that_another_call_has():
    before = [calling("a", "a", "a_2"), tool("a"), tool("a"), tool("a_2")]
    assert ids(mended(UNIQUE, before, "openai"), "openai") == ["a", "a_3", "a_2", "a", "a_3", "a_2"]


def test_custom_calls_are_renamed_too():
    custom = {"id": "a", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
    before = [
        {"role": "assistant", "content": None, "tool_calls": [custom, custom]},
        tool("a"),
        tool("a"),
    ]
    assert ids(mended(UNIQUE, before, "openai"), "openai") == ["a", "a_2", "a", "a_2"]


def test_ids_that_anthropic_does_not_spell_are_spelled_anew():
    before = [
        user("x"),
        assistant(use("f.read:0"), use("é"), use("f_read:0")),
        user(result("é"), result("f.read:0"), result("f_read:0")),
    ]
    assert broken_at(SPELLED, before, "anthropic") == [1, 1, 1]
    after = mended(SPELLED, before, "anthropic")
    assert ids(after, "anthropic") == ["f_read_0", "_", "f_read_0_2", "_", "f_read_0", "f_read_0_2"]


def test_openai_spells_ids_as_it_likes():
    assert validate([calling("f.read:0 é"), tool("f.read:0 é")], "openai") == []


def test_ten_thousand_calls_of_one_id_are_renamed_without_trying_every_number_again():
    calls, results = [use("a")] * 10_000, [result("a")] * 10_000
    after = mended(UNIQUE, [user("x"), assistant(*calls), user(*results)], "anthropic")
    assert len(set(ids(after, "anthropic"))) == 10_000
