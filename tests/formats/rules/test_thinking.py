from __future__ import annotations

import pytest

from holdfast.formats import named
from holdfast.kernel.apply import apply
from holdfast.kernel.edits import Drop, Replace
from holdfast.kernel.errors import IntegrityError
from tests.formats.rules.messages import (
    assistant,
    broken_at,
    mended,
    read,
    result,
    rule_of,
    same,
    thought,
    use,
    user,
)

SIGNED, LEADS, STAYS = (
    "thinking_signed",
    "thinking_leads_its_message",
    "thinking_stays_with_its_loop",
)


def exchange(call_id, *, led):
    return [assistant(*([thought()] if led else []), use(call_id)), user(result(call_id))]


def test_thinking_without_signature_goes_and_the_rest_stays():
    before = [user("x"), assistant(thought(None), "y"), assistant(thought(None)), user("z")]
    assert broken_at(SIGNED, before, "anthropic") == [1, 2]
    after = mended(SIGNED, before, "anthropic")
    assert after == [user("x"), assistant({"type": "text", "text": "y"}), user("z")]


def test_signed_and_redacted_thinking_are_taken():
    redacted = {"type": "redacted_thinking", "data": "AAAA"}
    assert broken_at(SIGNED, [user("x"), assistant(redacted, thought(), "y")], "anthropic") == []


def test_thinking_moves_to_the_front_as_it_is():
    own = thought()
    before = [user("x"), assistant("y", own, use("a")), user(result("a"))]
    assert broken_at(LEADS, before, "anthropic") == [1]
    after = mended(LEADS, before, "anthropic")
    assert after[1] == assistant(own, "y", use("a"))
    assert after[1]["content"][0] is own


def test_a_loop_whose_thinking_comes_late_is_refused_and_goes_on_without_any():
    before = [user("x"), *exchange("a", led=False), *exchange("b", led=True)]
    assert broken_at(STAYS, before, "anthropic") == [1]
    after = mended(STAYS, before, "anthropic")
    assert same(after, before) == [0, 1, 2, None, 4]
    assert after[3] == assistant(use("b"))


def test_earlier_turns_may_have_lost_their_thinking():
    earlier = [
        user("x"),
        *exchange("a", led=False),
        *exchange("b", led=True),
        assistant(thought(), "done"),
    ]
    assert broken_at(STAYS, [*earlier, user("next"), *exchange("c", led=True)], "anthropic") == []


def test_the_last_message_that_thinking_leads_stays_while_the_loop_goes_on():
    loop = [
        user("x"),
        *exchange("a", led=True),
        *exchange("b", led=False),
        *exchange("c", led=False),
    ]
    transcript = named("anthropic").read(loop)
    assert list(rule_of(STAYS, "anthropic").keeps(transcript.messages)) == [1]
    with pytest.raises(IntegrityError, match="may not be dropped"):
        apply(transcript, [Drop((1, 2))])
    assert [m.original for m in apply(transcript, [Drop((3, 4))]).transcript.messages] == loop[
        :3
    ] + loop[5:]


def test_an_exchange_without_thinking_goes_with_the_one_that_led_to_it():
    loop = [
        user("x"),
        *exchange("a", led=True),
        *exchange("b", led=False),
        *exchange("c", led=True),
    ]
    transcript = named("anthropic").read(loop)
    assert transcript.units == (range(1), range(1, 5), range(5, 7))
    assert [m.original for m in apply(transcript, [Drop((1, 2, 3, 4))]).transcript.messages] == [
        loop[0],
        *loop[5:],
    ]


def test_a_loop_without_thinking_keeps_and_welds_nothing():
    messages = read([user("x"), *exchange("a", led=False), *exchange("b", led=False)], "anthropic")
    rule = rule_of(STAYS, "anthropic")
    assert (list(rule.keeps(messages)), list(rule.welds(messages))) == ([], [])


def test_thinking_is_never_changed():
    transcript = named("anthropic").read([user("x"), assistant(thought(), "y"), user("z")])
    with pytest.raises(IntegrityError, match="a part of type Reasoning is never changed"):
        apply(transcript, [Replace(1, 0, "Look later.")])
