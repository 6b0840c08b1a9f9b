import copy
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import IntegrityError
from holdfast.formats import named
from holdfast.kernel.apply import apply, mend, undo
from holdfast.kernel.edits import Drop, Insert, Offload, Replace
from holdfast.kernel.messages import Text, ToolCall, ToolResult
from holdfast.kernel.transcript import violations
from tests.formats.conversations import anthropic_conversations, openai_conversations
from tests.formats.rules.messages import assistant, calling, result, text, thought, tool, use, user
from tests.talks import agent_run, chat, exchange, same, system


def read(messages, form="openai", pinned=()):
    return replace(named(form).read(messages), pinned=frozenset(pinned))


def originals(transcript):
    return [message.original for message in transcript.messages]


def undone(applied):
    return undo(originals(applied.transcript), applied.edits, applied.taken)


@st.composite
def edited(draw):
    """A conversation of either wire, and edits of every kind that might be legal."""
    form, talks = draw(
        st.sampled_from([("openai", openai_conversations), ("anthropic", anthropic_conversations)])
    )
    transcript = read(draw(talks), form)
    free = [unit for unit in transcript.units if transcript.protected.isdisjoint(unit)]
    gone = draw(st.lists(st.sampled_from(free), unique=True) if free else st.just([]))
    edits = [Drop(tuple(i for unit in gone for i in unit))] if gone else []
    staying = set(range(len(transcript))) - {i for unit in gone for i in unit}
    for i in sorted(staying):
        for at, part in enumerate(transcript.messages[i].parts):
            own = isinstance(part, Text) and transcript.messages[i].role in ("assistant", "tool")
            if (own or isinstance(part, ToolCall | ToolResult)) and draw(st.booleans()):
                kind = draw(
                    st.sampled_from([Replace(i, at, "{}"), Offload(i, at, "see a1b2", "a1b2")])
                )
                edits.append(kind)
    places = st.integers(0, len(transcript))
    edits += [Insert(at, "assistant", "meanwhile") for at in draw(st.lists(places, max_size=3))]
    return transcript, draw(st.permutations(edits))


@settings(max_examples=400, deadline=None)
@given(edited())
def test_restored_is_the_inverse_of_apply_whatever_the_edits(example):
    transcript, edits = example
    before = copy.deepcopy(originals(transcript))
    try:
        applied = apply(transcript, edits)
    except IntegrityError:
        applied = mend(
            transcript, edits
        )  # the same without the rules: the way back does not depend on them
    assert same(undone(applied), originals(transcript))
    assert originals(transcript) == before
    for now, old in enumerate(applied.origins):
        if old is not None and old not in applied.taken:
            assert applied.transcript.messages[now] is transcript.messages[old]


@settings(max_examples=200, deadline=None)
@given(edited())
def test_what_apply_lets_through_breaks_nothing_that_was_whole(example):
    transcript, edits = example
    try:
        after = apply(transcript, edits).transcript
    except IntegrityError:
        return
    known = {violation.rule for violation in violations(transcript.rules, transcript.messages)}
    assert {violation.rule for violation in violations(after.rules, after.messages)} <= known


def test_no_edits_give_the_very_same_transcript():
    transcript = read(agent_run())
    applied = apply(transcript, ())
    assert applied.transcript is transcript
    assert applied.origins == tuple(range(len(transcript)))


def test_inserts_stand_where_they_were_meant_before_what_they_name():
    transcript = read(chat(3), "plain")
    edits = [
        Drop((1, 2)),
        Insert(1, "user", "a summary"),
        Insert(3, "assistant", "noted"),
        Insert(6, "user", "end"),
    ]
    applied = apply(transcript, edits)
    assert [m.content_text[:9] for m in applied.transcript.messages] == [
        "w0 w0 w0 ", "a summary", "noted", "w3 w3 w3 ", "w4 w4 w4 ", "w5 w5 w5 ", "end"
    ]  # fmt: skip
    assert applied.origins == (0, None, None, 3, 4, 5, None)
    assert same(undone(applied), originals(transcript))


def test_only_what_was_taken_out_is_kept_for_the_way_back():
    transcript = read(agent_run())
    applied = apply(transcript, [Drop((2, 3)), Replace(5, 0, "short")])
    assert applied.taken == {i: transcript.messages[i].original for i in (2, 3, 5)}


def test_pins_move_with_their_messages():
    after = apply(read(agent_run(), pinned={1, 6}), [Drop((2, 3))]).transcript
    assert after.pinned == {1, 4}


def test_an_edit_of_texts_alone_keeps_what_is_known_of_the_shape():
    transcript = read(agent_run())
    units = transcript.units
    assert apply(transcript, [Replace(3, 0, "short")]).transcript.units is units


def refusal(transcript, *edits):
    before = originals(transcript)
    with pytest.raises(IntegrityError) as caught:
        apply(transcript, edits)
    assert same(originals(transcript), before)
    assert "\n" not in str(caught.value)
    return caught.value.rule, caught.value.index


@pytest.mark.parametrize(
    ("index", "who"), [(0, "the system's words"), (1, "a pin"), (3, "the newest message")], ids=str
)
def test_what_is_protected_is_not_dropped(index, who):
    transcript = read([system("x"), user("y"), user("z"), assistant("w")], pinned={1})
    assert refusal(transcript, Drop((index,))) == ("protected_stays", index)


def test_the_newest_message_stays_with_its_open_exchange():
    transcript = read([user("x"), *exchange(1)])
    assert refusal(transcript, Drop((1, 2))) == ("protected_stays", 1)


@pytest.mark.parametrize(
    "edit", [Replace(0, 0, "hi"), Offload(0, 0, "hi", "key"), Replace(1, 0, "hi")]
)
def test_words_of_the_system_and_of_a_user_are_never_reworded(edit):
    transcript = read([system("obey"), user("please"), assistant("yes")])
    assert refusal(transcript, edit) == ("words_are_kept", edit.index)


def test_words_of_a_user_may_be_clamped_when_that_was_asked_for():
    transcript = read([user("please please please"), assistant("yes")])
    after = apply(transcript, [Replace(0, 0, "please", asked=True)]).transcript
    assert after.messages[0].original == user("please")


def test_thinking_is_never_changed():
    transcript = read([user("x"), assistant(thought(), text("hm")), user("y")], "anthropic")
    assert refusal(transcript, Replace(1, 0, "less")) == ("words_are_kept", 1)


def test_a_call_does_not_lose_its_result():
    transcript = read([user("x"), *exchange(1), user("y")])
    assert refusal(transcript, Drop((2,)))[0] == "tool_exchange_whole"
    assert refusal(transcript, Drop((1,)))[0] == "tool_exchange_whole"


def test_one_of_parallel_results_does_not_go_alone():
    both = assistant(use("a"), use("b"))
    transcript = read(
        [user("x"), both, user(result("a"), result("b")), user("y"), assistant("z")], "anthropic"
    )
    assert refusal(transcript, Drop((1,)))[1] >= 0
    assert len(apply(transcript, [Drop((1, 2))]).transcript) == 3


@pytest.mark.parametrize(
    "edit",
    [
        Drop((9,)),
        Drop((-1,)),
        Replace(9, 0, "x"),
        Replace(-1, 0, "x"),
        Replace(1, 9, "x"),
        Insert(9, "user", "x"),
    ],
)
def test_an_edit_speaks_of_what_is_there(edit):
    transcript = read([user("x"), assistant("y"), user("z")])
    assert refusal(transcript, edit)[0] == "positions_exist"


def test_a_message_is_not_dropped_and_changed_at_once():
    transcript = read([user("x"), *exchange(1), user("y")])
    assert refusal(transcript, Drop((1, 2)), Replace(2, 0, "short")) == ("one_edit_a_message", 2)


def test_nothing_becomes_blank_where_the_vendor_refuses_it():
    transcript = read([user("x"), assistant(text("y")), user("z")], "anthropic")
    assert refusal(transcript, Replace(1, 0, " "))[1] == 1


def test_nothing_comes_to_end_in_white_space_where_the_vendor_refuses_it():
    transcript = read([user("x"), assistant(text("y z"))], "anthropic")
    assert refusal(transcript, Replace(1, 0, "y ")) == ("final_text_trimmed", 1)


def test_what_was_broken_may_move_to_the_next_message_and_not_become_more():
    messages = [assistant("hello"), assistant("again"), assistant("and again")]
    transcript = read(messages, "anthropic")
    assert same(originals(apply(transcript, [Drop((0,))]).transcript), messages[1:])


def test_what_was_broken_before_is_the_callers_own():
    orphan = tool("lost")
    transcript = read([orphan, user("x"), assistant("y"), user("z")])
    after = apply(transcript, [Drop((1, 2))]).transcript
    assert same(originals(after), [orphan, transcript.messages[3].original])


def test_an_edit_changes_its_own_part_alone_and_unknown_fields_stay():
    call = {**calling("a", "b"), "x_trace": {"id": 12345678901234567890}}
    first, second = tool("a", "long"), {**tool("b", "long"), "cached": None}
    transcript = read([user("x"), call, first, second, user("y")])
    after = originals(apply(transcript, [Replace(3, 0, "short")]).transcript)
    assert same(after[:3] + after[4:], [transcript.messages[i].original for i in (0, 1, 2, 4)])
    assert after[3] == {**second, "content": "short"}
    assert [*after[3]] == [*second]


def test_a_message_for_a_role_that_the_wire_lacks_is_judged_as_what_it_became():
    transcript = named("bedrock").read([user("u"), assistant("x"), user("v")])
    with pytest.raises(IntegrityError, match="two messages of the user"):
        apply(transcript, [Insert(1, "system", "Notes.")])
    after = apply(
        named("anthropic").read([user("u"), assistant("x")]), [Insert(2, "system", "Notes.")]
    ).transcript
    assert after.messages[2].role == after.messages[2].original["role"] == "user"


def test_an_empty_last_message_of_the_assistant_gets_nothing_behind_it():
    transcript = read([user("hi"), {"role": "assistant", "content": ""}], "anthropic")
    assert not violations(transcript.rules, transcript.messages)
    with pytest.raises(IntegrityError, match="is empty"):
        apply(transcript, [Insert(2, "user", "meanwhile")])
