from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.memory import remembered
from holdfast.memory.tiers import Segment, at_topic_shifts, by_entities, by_time, by_turns
from tests.memory.talks import talk


def count(text):
    return len(text.split())


TALK = talk()


@pytest.mark.parametrize("cut", [by_turns, by_time, by_entities])
def test_pieces_joined_are_the_talk(cut):
    assert [message for piece in cut(TALK) for message in piece] == TALK
    assert all(cut(TALK))
    assert cut([]) == []


def test_turns_begin_with_the_user():
    assert all(piece[0].role == "user" for piece in by_turns(TALK)[1:])


def test_a_pause_begins_another_piece_and_unknown_times_do_not():
    assert [len(piece) for piece in by_time(TALK)] == [5, 6, 5]
    assert len(by_time([remembered(at, "user", "x") for at in range(5)])) == 1


def test_other_names_begin_another_piece():
    said = ["I met Dana Reyes.", "So Dana Reyes is back.", "We flew to Lima.", "And Lima is warm."]
    pieces = by_entities([remembered(at, "user", text) for at, text in enumerate(said)])
    assert [[message.position for message in piece] for piece in pieces] == [[0, 1], [2, 3]]


def test_a_long_text_is_cut_where_its_topic_shifts():
    cats = "The cat sleeps on the mat. The mat of the cat is red. A cat likes a red mat. "
    ships = "The ship left the harbour. A harbour needs a ship. The ship and the harbour are old. "
    assert at_topic_shifts(cats + ships, 30, count) == [cats, ships]


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet="ab .\n!A", max_size=400), most=st.integers(1, 30))
def test_pieces_joined_are_the_text_and_none_is_too_long(text, most):
    pieces = at_topic_shifts(text, most, len)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= most for piece in pieces)


LOG = "\n".join(
    f"13:00:{n:02} T-{146 + n}/chunk-{n:05}.jsonl written records={n}" for n in range(40)
)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (f"```\n{LOG}\n```", "\n"),
        (" ".join(f"word{n}" for n in range(200)), " "),
        (",".join(f'"order-{n}":"ORD{n}"' for n in range(90)), ',":-'),
        ("这是一个很长的句子，" * 60, "，"),
    ],
)
@pytest.mark.parametrize("most", [70, 90, 131])
def test_a_piece_of_what_is_too_long_ends_with_a_line_or_a_word(text, ends, most):
    pieces = at_topic_shifts(text, most, len)
    assert "".join(pieces) == text
    assert all(piece[-1] in ends or after[0].isspace() for piece, after in pairwise(pieces))


def test_a_word_that_is_too_long_is_cut_within():
    assert [len(piece) for piece in at_topic_shifts("x" * 250, 100, len)] == [100, 100, 50]


def test_a_segment_was_last_accessed_when_it_was_made_and_is_its_own_origin():
    segment = Segment("s1", "text", 5.0, 1)
    assert (segment.importance, segment.level, segment.access_count) == (0.5, 0, 0)
    assert (segment.accessed, segment.origin) == (5.0, "s1")
