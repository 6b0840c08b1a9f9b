"""What every store keeps to, one class for each protocol: a store's test is a fixture and the
classes it meets.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.stores.protocols import Line

TEXTS = [
    "",
    " ",
    "plain",
    "two\nlines\r\n",
    "a\x00b",
    "\ud800 alone",
    "\ud83d\ude00 as two halves",
    "😀 e\u0301 \u00e9",
    "%_*?[a]:'\"\\",
    "long " * 50_000,
]


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class StoreContract:
    """get, set and delete over text: a complete store."""

    @pytest.fixture
    def store(self):
        raise NotImplementedError

    def test_what_was_never_put_is_none(self, store):
        assert store.get("nothing") is None

    def test_the_last_value_put_is_the_one_that_comes_back(self, store):
        store.set("k", "v")
        store.set("k", "w")
        assert store.get("k") == "w"

    def test_deleting_forgets_and_may_be_repeated(self, store):
        store.set("k", "v")
        store.delete("k")
        assert store.get("k") is None
        store.delete("k")
        store.set("k", "again")
        assert store.get("k") == "again"

    @pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
    def test_any_text_is_a_value(self, store, text):
        store.set("k", text)
        assert store.get("k") == text

    def test_any_text_is_a_key_and_no_two_are_the_same(self, store):
        for number, key in enumerate(TEXTS):
            store.set(key, str(number))
        assert [store.get(key) for key in TEXTS] == [str(number) for number in range(len(TEXTS))]

    def test_keys_differ_in_case_spaces_and_composition(self, store):
        keys = ["key", "Key", "key ", "ke\u0301y", "k\u00e9y", "key\x00"]
        for key in keys:
            store.set(key, repr(key))
        assert [store.get(key) for key in keys] == [repr(key) for key in keys]

    def test_many_threads_lose_nothing(self, store):
        def work(worker: int) -> None:
            for number in range(20):
                store.set(f"{worker}/{number}", f"value {worker} {number}")
                store.set("shared", f"{worker}")

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        kept = [store.get(f"{worker}/{number}") for worker in range(8) for number in range(20)]
        assert kept == [f"value {worker} {number}" for worker in range(8) for number in range(20)]
        assert store.get("shared") in {str(worker) for worker in range(8)}


class BytesContract:
    """get_bytes and set_bytes."""

    @pytest.mark.parametrize("value", [b"", b"\x00", bytes(range(256)), b"\n" * 100_000])
    def test_any_bytes_come_back(self, store, value):
        store.set_bytes("k", value)
        assert store.get_bytes("k") == value

    def test_bytes_are_absent_replaced_and_deleted_as_text_is(self, store):
        assert store.get_bytes("k") is None
        store.set_bytes("k", b"\xff")
        store.set_bytes("k", b"\xfe")
        assert store.get_bytes("k") == b"\xfe"
        store.delete("k")
        assert store.get_bytes("k") is None


class ListingContract:
    """keys."""

    def test_keys_are_listed_in_order_by_what_they_begin_with(self, store):
        for key in ["b/2", "a/10", "a/2", "a", "ab", "a/\U0001f600", "a/\ud800", "A/1", ""]:
            store.set(key, "v")
        assert list(store.keys("a/")) == ["a/10", "a/2", "a/\ud800", "a/\U0001f600"]
        assert list(store.keys()) == [
            "",
            "A/1",
            "a",
            "a/10",
            "a/2",
            "a/\ud800",
            "a/\U0001f600",
            "ab",
            "b/2",
        ]
        assert list(store.keys("c")) == []

    @pytest.mark.parametrize("sign", ["%", "_", "*", "?", "[a]", "\\", "'"])
    def test_a_prefix_is_no_pattern(self, store, sign):
        store.set("axb", "v")
        store.set(f"{sign}b", "v")
        assert list(store.keys(sign)) == [f"{sign}b"]

    def test_what_is_deleted_is_not_listed(self, store):
        store.set("k", "v")
        store.delete("k")
        assert list(store.keys()) == []


class BatchContract:
    """set_many."""

    def test_many_values_are_stored_each_under_its_key(self, store):
        store.set_many({"a": "1", "b": "", "c": "3"})
        assert [store.get(key) for key in "cxba"] == ["3", None, "", "1"]

    def test_many_values_replace_single_ones(self, store):
        store.set("a", "old")
        store.set_many({"a": "new", "b": "2"})
        assert (store.get("a"), store.get("b")) == ("new", "2")

    def test_nothing_is_a_batch_too(self, store):
        store.set_many({})
        assert list(store.keys()) == []

    def test_a_thousand_at_once(self, store):
        values = {f"k{number:04}": str(number) for number in range(1_000)}
        store.set_many(values)
        assert {key: store.get(key) for key in values} == values


class GlanceContract:
    """glance."""

    def test_values_and_lengths_of_logs_come_in_the_order_in_which_they_are_asked_for(self, store):
        store.set_many({"a": "1", "b": ""})
        store.log("two").append([Line("x"), Line("y")])
        values, lengths = store.glance(["b", "none", "a", "b"], ["two", "none", "two"])
        assert (list(values), list(lengths)) == (["", None, "1", ""], [2, 0, 2])
        assert tuple(map(list, store.glance([], []))) == ([], [])


class PutIfAbsentContract:
    """put_if_absent and put_bytes_if_absent."""

    def test_the_first_value_stays(self, store):
        assert store.put_if_absent("k", "first") is True
        assert store.put_if_absent("k", "second") is False
        assert store.get("k") == "first"

    def test_a_deleted_key_is_free_again(self, store):
        store.set("k", "v")
        store.delete("k")
        assert store.put_if_absent("k", "w") is True
        assert store.get("k") == "w"

    def test_bytes_are_put_so_too(self, store):
        assert store.put_bytes_if_absent("k", b"\xff") is True
        assert store.put_bytes_if_absent("k", b"\xfe") is False
        assert store.put_if_absent("k", "text") is False
        assert store.get_bytes("k") == b"\xff"

    def test_of_many_threads_one_wins_each_key(self, store):
        def race(worker: int) -> list[bool]:
            return [store.put_if_absent(f"k{number}", str(worker)) for number in range(20)]

        with ThreadPoolExecutor(8) as pool:
            won = list(pool.map(race, range(8)))
        assert [sum(wins) for wins in zip(*won, strict=True)] == [1] * 20
        assert all(won[int(store.get(f"k{number}"))][number] for number in range(20))


class ExpiryContract:
    """set_for, with a clock of the test's own."""

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    def test_a_value_is_there_until_its_time_is_over(self, store, clock):
        store.set_for("k", "v", 10)
        clock.now += 9.5
        assert store.get("k") == "v"
        clock.now += 0.5
        assert store.get("k") is None

    def test_what_has_ended_is_gone_for_every_method(self, store, clock):
        store.set("stays", "v")
        store.set_for("ends", "v", 10)
        clock.now += 11
        assert list(store.keys()) == ["stays"]
        assert [store.get(key) for key in ("ends", "stays")] == [None, "v"]
        assert store.get_bytes("ends") is None
        assert store.put_if_absent("ends", "new") is True
        assert store.get("ends") == "new"

    def test_what_has_not_ended_is_not_free(self, store, clock):
        store.set_for("k", "v", 10)
        clock.now += 9
        assert store.put_if_absent("k", "w") is False

    @pytest.mark.parametrize(
        "again",
        [
            lambda store: store.set("k", "kept"),
            lambda store: store.set_many({"k": "kept"}),
            lambda store: store.set_for("k", "kept", 1_000),
        ],
        ids=["set", "set_many", "set_for"],
    )
    def test_a_value_put_later_has_an_end_of_its_own(
        self, store, clock, again: Callable[[object], None]
    ):
        store.set_for("k", "v", 10)
        again(store)
        clock.now += 500
        assert store.get("k") == "kept"


class CompleteStoreContract(
    StoreContract,
    BytesContract,
    ListingContract,
    BatchContract,
    PutIfAbsentContract,
    ExpiryContract,
):
    """All of them, as the stores of our own meet."""
