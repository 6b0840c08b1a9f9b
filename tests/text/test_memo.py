"""What memos hold together is bounded in bytes, whatever the script."""

from __future__ import annotations

import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from holdfast.text import memo as memos
from holdfast.text.memo import Memo


@pytest.mark.parametrize("character", ["a", "é", "世", "🎉"])
def test_all_memos_together_hold_a_bounded_number_of_bytes(monkeypatch, character):
    monkeypatch.setattr(memos, "MOST_BYTES", 2_000_000)
    tracemalloc.start()
    made = [Memo(str.encode) for _ in range(3)]
    for number in range(3_000):
        text = f"{number} {character * 1_000}"
        assert made[number % 3][text] == text.encode()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 2_500_000  # of 6 to 24 million that went through


def test_what_is_in_use_stays(monkeypatch):
    monkeypatch.setattr(memos, "MOST_BYTES", 100_000)
    asked: list[str] = []
    memo = Memo(lambda text: asked.append(text) or len(text))
    for number in range(1_000):
        assert memo["in use"] == 6
        memo[f"{number:1000}"]
    assert asked.count("in use") == 1


@pytest.mark.parametrize(("texts", "most"), [(70, 0.0), (120, 0.8)])
def test_what_is_read_again_from_its_beginning_to_its_end_stays_as_far_as_it_fits(
    monkeypatch, texts, most
):
    monkeypatch.setattr(memos, "MOST_BYTES", 100_000)  # of which each entry takes 1,230
    made: list[str] = []
    memo = Memo(lambda text: made.append(text) or len(text))
    rounds = 10
    for _ in range(rounds):
        for number in range(texts):
            assert memo[f"{number:1000}"] == 1000
    assert len(made) <= texts + most * texts * (rounds - 1)


def test_threads_share_what_is_made(monkeypatch):
    monkeypatch.setattr(memos, "MOST_BYTES", 100_000)
    memo = Memo(len)

    def ask(seed: int) -> bool:
        numbers = Random(seed).choices(range(150), k=10_000)
        return all(memo[f"{number:600}"] == 600 for number in numbers)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(ask, range(8)))
    finally:
        sys.setswitchinterval(interval)
    assert memo.held <= 100_000


def test_what_is_larger_than_all_the_room_is_made_all_the_same(monkeypatch):
    monkeypatch.setattr(memos, "MOST_BYTES", 1_000)
    memo = Memo(len)
    assert [memo["x" * 5_000], memo["y"]] == [5_000, 1]


def test_lists_of_texts_count_with_what_they_hold(monkeypatch):
    monkeypatch.setattr(memos, "MOST_BYTES", 2_000_000)
    tracemalloc.start()
    memo = Memo(lambda text: [f"{text} {number}" * 8 for number in range(500)])
    for number in range(300):
        assert len(memo[f"{number}"]) == 500
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 2_500_000  # of 18 million that went through
