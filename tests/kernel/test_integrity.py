from __future__ import annotations

from holdfast.formats import named
from holdfast.kernel.integrity import Rule, ToolExchanges, Violation
from holdfast.kernel.transcript import keeps, may_follow, new_violation, violations, welds
from tests.formats.rules.messages import calling, read, tool, user

WHOLE = (ToolExchanges(),)


class NoShouting(Rule):
    """Somebody's rule: it says only what it has to say."""

    name = "no_shouting"

    def violations(self, messages):
        for i, message in enumerate(messages):
            if (message.content_text or "").isupper():
                yield Violation(self.name, i, "it shouts")


def openai(*messages):
    return read(list(messages), "openai")


def test_a_rule_that_overrides_nothing_allows_everything_else():
    rule, messages = NoShouting(), openai(user("HEY"), user("hi"))
    assert [violation.index for violation in rule.violations(messages)] == [0]
    assert (list(rule.welds(messages)), list(rule.keeps(messages))) == ([], [])
    assert rule.may_follow(None, messages[0])
    assert not rule.repair(messages)


def test_what_is_broken_comes_in_the_order_of_the_messages():
    messages = openai(tool("a"), user("HEY"), tool("b"))
    assert [violation.index for violation in violations([NoShouting(), *WHOLE], messages)] == [
        0,
        1,
        2,
    ]


def test_welds_and_keeps_of_all_rules_are_joined():
    class Keeper(NoShouting):
        def keeps(self, messages):
            return [0]

        def welds(self, messages):
            return [1]

    messages = openai(user("x"), user("y"), calling("a"), tool("a"))
    assert welds([Keeper(), *WHOLE], messages) == {1, 3}
    assert keeps([Keeper(), *WHOLE], messages) == {0}
    assert named("openai").read([]).protected == frozenset()


def test_one_rule_that_objects_is_enough():
    class Alone(NoShouting):
        def may_follow(self, before, message):
            return before is None

    first, second = openai(user("x"), user("y"))
    assert may_follow([NoShouting(), Alone()], None, first)
    assert not may_follow([NoShouting(), Alone()], first, second)


def test_parallel_calls_and_all_their_results_are_one_unit():
    messages = openai(user("x"), calling("a", "b", "c"), tool("c"), tool("a"), tool("b"), user("y"))
    assert set(ToolExchanges().welds(messages)) == {2, 3, 4}
    assert list(ToolExchanges().violations(messages)) == []


def test_an_exchange_ends_with_the_next_message_that_is_no_result():
    messages = openai(calling("a"), user("x"), tool("a"))
    problems = [(violation.index, violation.problem) for violation in violations(WHOLE, messages)]
    assert problems == [
        (0, "tool call 'a' has no result"),
        (2, "tool result 'a' has no call before it"),
    ]
    assert set(ToolExchanges().welds(messages)) == set()


def test_a_call_at_the_end_has_no_result():
    assert [
        v.index for v in ToolExchanges().violations(openai(user("x"), calling("a", "b"), tool("b")))
    ] == [1]


def test_a_result_in_between_that_answers_nothing_goes_with_the_unit_around_it():
    messages = openai(calling("a", "b"), tool("a"), tool("z"), tool("b"))
    assert [v.index for v in ToolExchanges().violations(messages)] == [2]
    assert set(ToolExchanges().welds(messages)) == {1, 2, 3}


def test_what_was_broken_before_is_no_new_violation():
    before = openai(user("x"), tool("a"), user("y"))
    assert new_violation(WHOLE, before, before[1:], [1, 2]) is None


def test_what_breaks_now_is_found_where_it_stands_now():
    before = openai(user("x"), calling("a"), tool("a"), user("y"))
    found = new_violation(WHOLE, before, (before[0], *before[2:]), [0, 2, 3])
    assert found == Violation("tool_exchange_whole", 1, "tool result 'a' has no call before it")


def test_an_inserted_message_has_no_excuse():
    before = openai(user("x"), tool("a"))
    assert new_violation(WHOLE, before, (before[1], before[1]), [1, None]) is not None


def test_a_rule_that_is_broken_by_there_being_no_message_is_found_too():
    rules = named("openai").rules
    found = new_violation(rules, openai(user("x")), (), [])
    assert found is not None
    assert found.rule == "at_least_one_message"
