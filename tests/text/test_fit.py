from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.text.fit import beginning, choose, clip, clip_end, filled, fits, gap, head_tail
from holdfast.tokens import counter_for

count = counter_for("o200k_base").count
LINES = "".join(f"line {number} of the text, which goes on a little\n" for number in range(400))
COUNTERS = [count, len, lambda text: len(text.split()), lambda text: 3 * len(text)]


@pytest.mark.parametrize("counted", COUNTERS)
@settings(deadline=None)
@given(text=st.text(max_size=400), tokens=st.integers(1, 120))
def test_whatever_counts_a_cut_fits_and_is_an_end_of_the_text(counted, text, tokens):
    assert text.startswith(clip(text, tokens, counted))
    assert text.endswith(clip_end(text, tokens, counted))
    for cut in (
        clip(text, tokens, counted),
        clip_end(text, tokens, counted),
        head_tail(text, tokens, counted),
    ):
        assert counted(cut) <= tokens


@pytest.mark.parametrize("tokens", [1, 5, 50, 500, 3_000])
def test_a_cut_uses_the_room(tokens):
    assert tokens * 0.9 <= count(clip(LINES, tokens, count)) <= tokens
    assert tokens * 0.9 <= count(clip_end(LINES, tokens, count)) <= tokens


def test_what_fits_is_left_alone():
    assert clip("short", 10, count, mark="…") == "short"
    assert head_tail("short", 10, count) == "short"
    assert fits("short", 1, count)
    assert not fits(LINES, 100, count)


def test_a_mark_says_that_something_is_cut():
    cut = clip(LINES, 20, count, mark="…")
    assert cut.endswith("…")
    assert LINES.startswith(cut[:-1])


def test_head_and_tail_say_how_much_is_left_out():
    cut = head_tail(LINES, 100, count)
    head, note, tail = (
        cut.partition("[…")[0],
        cut[cut.index("[…") : cut.index("…]") + 2],
        cut.partition("…]")[2],
    )
    assert LINES.startswith(head)
    assert LINES.endswith(tail.lstrip("\n"))
    left_out = LINES[len(head) : len(LINES) - len(tail.lstrip("\n"))]
    assert note == gap(left_out)
    assert head.endswith("\n")


@pytest.mark.parametrize("tokens", [2, 5, 8, 16])
def test_a_beginning_without_room_for_its_end_says_that_something_is_cut(tokens):
    cut = head_tail(LINES, tokens, count)
    assert cut.endswith("…")
    assert LINES.startswith(cut[:-1])


def test_one_long_line_is_cut_within():
    assert "characters left out" in head_tail("word " * 5_000, 60, count)


@pytest.mark.parametrize(
    "whole",
    [
        "e\u0301",
        "\U0001f469\u200d\U0001f4bb",
        "\U0001f44d\U0001f3fd",
        "\ud83d\ude00",
        "\r\n",
        "हि",
        "ที่",
    ],
)
def test_what_a_reader_sees_as_one_is_not_parted(whole):
    cut = clip(whole * 50, 51, len)
    assert len(cut) % len(whole) == 0


def test_a_long_text_is_never_counted_as_a_whole():
    longest = 0

    def watched(text: str) -> int:
        nonlocal longest
        longest = max(longest, len(text))
        return len(text) // 4

    head_tail("some words " * 500_000, 200, watched)
    assert longest < 50_000


def test_the_best_pieces_are_kept_before_lesser_ones():
    pieces = ["a" * 40, "b" * 40, "c" * 400, "d" * 10]
    sizes = [len(piece) for piece in pieces]
    choice = choose(
        [2, 0, 1, 3], sizes, lambda chosen: "".join(pieces[place] for place in chosen), 450, len
    )
    assert choice == [0, 2, 3]


def test_a_larger_room_keeps_what_a_smaller_one_keeps():
    sizes = [40, 90, 10, 200]

    def cost(some):
        return sum(sizes[one] for one in some)

    kept = [set(beginning(range(4), sizes, cost, room, room)[0]) for room in range(40, 400)]
    assert all(less <= more for less, more in pairwise(kept))
    assert kept[0] == {0}
    assert kept[-1] == {0, 1, 2, 3}


def test_a_piece_that_is_too_long_gives_way_to_what_still_fits():
    pieces = ["a" * 900, "b" * 40, "c" * 40]
    sizes = [len(piece) for piece in pieces]
    choice = choose(
        [0, 1, 2], sizes, lambda chosen: "".join(pieces[place] for place in chosen), 100, len
    )
    assert choice == [1, 2]


def test_no_choice_is_better_than_one_that_does_not_fit():
    assert choose([0], [100], lambda _: "a" * 100, 10, len) == []


@settings(deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=60), st.integers(1, 500))
def test_a_choice_fits_and_is_in_order(sizes, tokens):
    texts = [str(place % 10) * size for place, size in enumerate(sizes)]

    def written(chosen):
        return "|".join(texts[place] for place in chosen)

    choice = choose(range(len(sizes)), sizes, written, tokens, len)
    if choice:
        assert len(written(choice)) <= tokens
        assert choice == sorted(choice)
    else:
        assert min(sizes) > tokens or sizes[0] > tokens


def test_pieces_that_fit_are_added_in_few_counts_and_as_one_by_one():
    sizes = [1 + number * 7 % 5 for number in range(2_000)]
    counted: list[int] = []

    def cost(some):
        counted.append(len(some))
        return sum(sizes[piece] for piece in some)

    chosen = filled([], 0, range(2_000), sizes, cost, 1_501, 1_501)
    one_by_one, left = [], 1_501
    for piece, size in enumerate(sizes):
        if size <= left:
            one_by_one.append(piece)
            left -= size
    assert chosen == one_by_one
    assert len(counted) < 40


@pytest.mark.parametrize("cut", [clip, clip_end, head_tail])
def test_a_text_that_just_fits_is_not_cut(cut):
    text = "The garden is closed on Mondays."
    assert cut(text, count(text), count) == text
