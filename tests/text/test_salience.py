from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.text.question import Question
from holdfast.text.salience import order

NOTHING = Question.of("")
TALK = [
    "The weather was discussed at some length. ",
    "Everybody liked the coffee that was served. ",
    "It was decided to move the launch to 10 June because of the load test. ",
    "Somebody had brought cake. ",
    "The load test must be repeated before 5 June. ",
    "The cake was good. ",
]


def test_decisions_and_what_is_exact_come_before_small_talk():
    assert set(order(TALK, NOTHING)[:3]) >= {2, 4}


def test_what_is_asked_comes_first():
    assert order(TALK, Question.of("Who brought the cake?"))[0] == 3


def test_two_parts_of_a_question_are_both_answered_before_one_is_answered_twice():
    pieces = ["The hotel costs 90. ", "The hotel was booked. ", "The train leaves at nine. ", "Nothing else. "]
    assert set(order(pieces, Question.of("hotel and train"))[:2]) in ({0, 2}, {1, 2})


def test_repeats_are_left_out_unless_their_numbers_differ():
    pieces = ["The parcel was sent to the customer. ", "Then it rained. ", "The parcel was sent to the customer! "]
    assert sorted(order(pieces, NOTHING)) == [0, 1]
    counted = [f"Worker {number} has finished the job of the day. " for number in (3, 4)]
    assert sorted(order(counted, NOTHING)) == [0, 1]


def test_weights_push_pieces_back():
    pieces = ["One red apple. ", "Two green pears. "]
    assert order(pieces, NOTHING, weights=[0.1, 1.0])[0] == 1
    assert order(pieces, NOTHING, weights=[1.0, 0.1])[0] == 0


@settings(deadline=None)
@given(st.lists(st.text(max_size=30), max_size=30), st.text(max_size=30), st.integers(0, 40))
def test_every_piece_has_at_most_one_place(pieces, question, most):
    ranked = order(pieces, Question.of(question), most)
    assert len(set(ranked)) == len(ranked)
    assert set(ranked) <= set(range(len(pieces)))
    assert bool(ranked) == bool(pieces)
