from __future__ import annotations

import pytest

from holdfast.validity import validate
from tests.formats.rules.messages import (
    assistant,
    broken_at,
    mended,
    read,
    rule_of,
    same,
    text,
    user,
)

FIRST, ALTERNATE, KNOWN, ONE = (
    "first_message_is_users",
    "roles_alternate",
    "roles_known",
    "at_least_one_message",
)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "bedrock"])
def test_an_empty_conversation_is_refused_and_gets_a_message_that_says_nothing_new(provider):
    assert broken_at(ONE, [], provider) == [0]
    assert mended(ONE, [], provider) == [{"role": "user", "content": "[conversation continues]"}]


def test_an_assistants_message_at_the_start_gets_a_users_before_it():
    before = [assistant("x"), user("y")]
    assert broken_at(FIRST, before, "anthropic") == [0]
    after = mended(FIRST, before, "anthropic")
    assert same(after, before) == [None, 0, 1]
    assert after[0] == user("[conversation continues]")


def test_a_cut_may_leave_only_a_users_message_first():
    rule = rule_of(FIRST, "anthropic")
    asked, answered = read([user("x"), assistant("y")], "anthropic")
    assert rule.may_follow(None, asked)
    assert not rule.may_follow(None, answered)
    assert rule.may_follow(asked, asked)


def test_openai_lets_anybody_begin():
    assert validate([assistant("x"), user("y")], "openai") == []


def test_messages_in_a_row_are_joined_for_bedrock_and_lose_no_word():
    before = [
        user("x"),
        user(text("y"), {"type": "novelty"}),
        assistant("z"),
        {**assistant("w"), "id": 7},
    ]
    assert broken_at(ALTERNATE, before, "bedrock") == [1, 3]
    after = mended(ALTERNATE, before, "bedrock")
    assert after == [user("x", "y", {"type": "novelty"}), assistant("z", "w")]


def test_on_bedrock_a_cut_may_only_join_different_roles():
    rule = rule_of(ALTERNATE, "bedrock")
    asked, answered = read([user("x"), assistant("y")], "bedrock")
    assert rule.may_follow(None, asked)
    assert rule.may_follow(asked, answered)
    assert not rule.may_follow(asked, asked)


@pytest.mark.parametrize(
    ("provider", "role", "becomes"),
    [
        ("anthropic", "developer", "system"),
        ("anthropic", "human", "user"),
        ("anthropic", "ai", "assistant"),
        ("anthropic", "narrator", "user"),
        ("openai", "narrator", "user"),
        ("openai", "human", "user"),
        ("openai", "ai", "assistant"),
    ],
)
def test_a_role_that_the_api_does_not_have_becomes_the_one_that_it_reads_as(
    provider, role, becomes
):
    before = [user("x"), {"role": role, "content": "y", "id": 7}]
    assert broken_at(KNOWN, before, provider) == [1]
    assert mended(KNOWN, before, provider)[1] == {"role": becomes, "content": "y", "id": 7}


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
def test_the_roles_of_chat_completions_are_known(role):
    assert broken_at(KNOWN, [{"role": role, "content": "x"}], "openai") == []
