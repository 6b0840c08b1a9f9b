from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import named
from holdfast.formats.rules import edits_between
from holdfast.kernel.apply import mend, undo
from holdfast.kernel.edits import Drop, Insert
from tests.formats.rules.messages import user


def transcript(count):
    return named("plain").read([user(str(i)) for i in range(count)])


def test_what_stands_as_it_stood_needs_no_edit():
    messages = transcript(3).messages
    assert edits_between(messages, list(messages), "test") == []


def test_one_message_that_moves_is_one_drop_and_one_insert():
    before = transcript(5)
    a, b, c, d, e = before.messages
    assert edits_between(before.messages, [a, e, b, c, d], "moved") == [
        Drop((4,), "moved"),
        Insert(1, "user", "4", "moved", original=e.original),
    ]


@given(st.integers(0, 8), st.data())
def test_any_order_of_old_and_new_messages_is_reached_and_left_again(count, data):
    before = transcript(count)
    fresh = transcript(3).messages
    pool = st.sampled_from([*before.messages, *fresh])
    after = data.draw(st.lists(pool, max_size=10, unique_by=id))
    edits = edits_between(before.messages, after, "test")
    applied = mend(before, edits)
    now = [message.original for message in applied.transcript.messages]
    assert [id(value) for value in now] == [id(message.original) for message in after]
    undone = undo(now, edits, applied.taken)
    assert [id(value) for value in undone] == [id(message.original) for message in before.messages]
