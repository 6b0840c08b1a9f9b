from concurrent.futures import ThreadPoolExecutor

import pytest

import holdfast
from holdfast.tokens import count_memo, meter_for
from tests.talks import METER

pytestmark = pytest.mark.usefixtures("room_for_memos")


class Counting:
    """A counter that remembers what it was asked."""

    name = "counting"
    accuracy = METER.counter.accuracy

    def __init__(self):
        self.asked = []

    def count(self, text):
        self.asked.append(text)
        return len(text)


def test_a_text_is_counted_once_however_often_it_is_measured():
    counter = Counting()
    memo = count_memo(counter)
    assert [memo("one"), memo("two"), memo("one"), memo("one")] == [3, 3, 3, 3]
    assert counter.asked == ["one", "two"]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("model", [None, "claude-3-opus"])
def test_the_accuracy_of_a_count_is_that_of_its_own_counter(model, order):
    def accuracy(counter):
        told = holdfast.count([{"role": "user", "content": "Hello."}], model=model, counter=counter)
        return told.accuracy.kind

    vocabulary = meter_for(model).counter.name
    wanted = [(None, "approximate"), (vocabulary, "exact")][::order]
    assert [(counter, accuracy(counter)) for counter, _ in wanted] == wanted


def test_threads_share_a_memo():
    memo = count_memo(Counting())
    texts = [f"{number:030}" for number in range(300)] * 5
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(memo, texts)) == {30}


class Lines(Counting):
    """A counter whose lines add up."""

    def lines(self, text):
        return text.splitlines(keepends=True)


def test_a_long_text_of_known_lines_is_their_sum_and_only_the_new_ones_are_counted():
    counter = Lines()
    memo = count_memo(counter)
    known = [
        f"line {number} of the notes, which goes on from call to call\n" for number in range(100)
    ]
    expected = sum(map(memo, known)) + len("a new one\n")
    counter.asked.clear()
    assert memo("".join([*known[:50], "a new one\n", *known[50:]])) == expected
    assert counter.asked == ["a new one\n"]


def test_lines_that_are_about_to_be_forgotten_are_known_still():
    counter = Lines()
    memo = count_memo(counter)
    known = [
        f"line {number} of the notes, which goes on from call to call\n" for number in range(100)
    ]
    expected = sum(map(memo, known))
    counter.asked.clear()
    memo.age()
    assert memo("".join(known)) == expected
    assert not counter.asked


def test_a_long_text_of_lines_that_nobody_has_counted_is_counted_in_one():
    counter = Lines()
    text = "".join(
        f"line {number} of an output that comes for the first time\n" for number in range(100)
    )
    assert count_memo(counter)(text) == len(text)
    assert counter.asked == [text]


def test_a_part_of_a_long_text_is_counted_in_one_and_what_goes_on_by_its_lines():
    counter = Lines()
    memo = count_memo(counter)
    lines = [f"line {number} of an output that is read in parts\n" for number in range(200)]
    whole, part = "".join(lines[:100]), "".join(lines[:90])
    assert (memo(whole), memo(part)) == (len(whole), len(part))
    assert counter.asked == [whole, part]
    counter.asked.clear()
    assert memo("".join(lines[:95])) == len("".join(lines[:95]))
    assert counter.asked == lines[:95]


def test_a_counter_that_fails_is_named_in_one_line():
    def failing(text):
        raise ZeroDivisionError("no\ntokens")

    for call in (
        lambda m: holdfast.count(m, counter=failing),
        lambda m: holdfast.compress(m, 5, counter=failing),
    ):
        with pytest.raises(
            holdfast.ConfigError, match=r"failing failed: ZeroDivisionError: no tokens"
        ) as told:
            call([{"role": "user", "content": "Hello."}])
        assert "\n" not in str(told.value)
