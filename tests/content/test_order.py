"""Texts in the one order of value, for whoever quotes sentences."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.excerpts import ordered_texts

TALK = [
    "The weather was discussed at some length. ",
    "Everybody liked the coffee that was served. ",
    "It was decided to move the launch to 10 June because of the load test. ",
    "Somebody had brought cake. ",
    "The load test must be repeated before 5 June. ",
    "The cake was good. ",
]


def test_decisions_and_what_is_exact_come_before_small_talk():
    assert set(ordered_texts(TALK)[:3]) >= {2, 4}


def test_what_is_asked_comes_first():
    assert ordered_texts(TALK, "Who brought the cake?")[0] == 3


def test_two_parts_of_a_question_are_both_answered_before_one_is_answered_twice():
    pieces = [
        "The hotel costs 90. ",
        "The hotel was booked. ",
        "The train leaves at nine. ",
        "Nothing else. ",
    ]
    assert set(ordered_texts(pieces, "hotel and train")[:2]) in ({0, 2}, {1, 2})


def test_repeats_come_last_unless_their_numbers_differ():
    pieces = [
        "The parcel was sent to the customer. ",
        "Then it rained. ",
        "The parcel was sent to the customer! ",
    ]
    assert ordered_texts([*pieces, "Nobody saw it. "])[-1] == 2
    counted = [f"Worker {number} has finished the job of the day. " for number in (3, 4, 4)]
    assert ordered_texts(counted)[-1] == 2


def test_weights_push_pieces_back():
    pieces = ["One red apple. ", "Two green pears. "]
    assert ordered_texts(pieces, weights=[0.1, 1.0])[0] == 1
    assert ordered_texts(pieces, weights=[1.0, 0.1])[0] == 0


@settings(deadline=None)
@given(st.lists(st.text(max_size=30), max_size=30), st.text(max_size=30))
def test_every_piece_has_its_place(pieces, question):
    assert sorted(ordered_texts(pieces, question)) == list(range(len(pieces)))
