"""What every token counter keeps to: a counter's test is a fixture and this class."""

from __future__ import annotations

import pickle

import pytest

from holdfast.kernel.ports import Accuracy, TokenCounter

TEXTS = [
    "",
    " ",
    "hello",
    "two\nlines\r\n\r\n",
    "a\x00b",
    "\ud800 alone",
    "\ud83d\ude00 as two halves",
    "\U0001f469\u200d\U0001f4bb e\u0301 \u0130 \u4f60\u597d \u0e01\u0e33",
    "<|endoftext|><|im_start|>",
    '{"path": "a/b.py", "line": 12}',
    "word " * 5_000,
]


class CounterContract:
    @pytest.fixture
    def counter(self) -> TokenCounter:
        raise NotImplementedError

    def test_is_a_counter(self, counter):
        assert isinstance(counter, TokenCounter)
        assert counter.name
        assert isinstance(counter.accuracy, Accuracy)

    @pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
    def test_takes_any_text_and_counts_it_alike_each_time(self, counter, text):
        first = counter.count(text)
        assert first >= 0
        assert isinstance(first, int)
        assert counter.count(text) == first

    def test_can_be_a_key_and_be_forgotten(self, counter):
        from weakref import WeakKeyDictionary

        known = WeakKeyDictionary({counter: 1})
        assert known[counter] == 1

    def test_goes_to_another_process_and_counts_alike(self, counter):
        sent = pickle.loads(pickle.dumps(counter))
        assert sent == counter
        assert sent.count("one, two and three") == counter.count("one, two and three")
