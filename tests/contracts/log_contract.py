"""What every log of a store keeps to: a store's test is a fixture and this class."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.stores.protocols import KeepsLogs, Line

NAMES = [
    "",
    " ",
    "thread-1",
    "a:b%c",
    "../../etc",
    "\ud800",
    "二",
    "'; DROP TABLE lines; --",
    "x" * 2_000,
]


class LogContract:
    """Lines that only become more."""

    @pytest.fixture
    def store(self):
        raise NotImplementedError

    @pytest.fixture
    def log(self, store):
        return store.log("talk")

    def test_the_store_says_that_it_keeps_logs(self, store):
        assert isinstance(store, KeepsLogs)

    def test_an_empty_log_has_nothing(self, store, log):
        assert log.length() == 0
        assert log.read([0, 7]) == {}
        assert log.read(range(5)) == {}
        assert log.search(["word"], 5) == {}
        assert log.between(0, 1e12, 5) == []
        assert store.logs() == []

    def test_lines_get_the_next_positions_and_come_back_as_they_were(self, log):
        first = [Line("a", "id-a", 1.5), Line("\ud800 é\x00", "", -3.0)]
        assert list(log.append(first)) == [0, 1]
        assert list(log.append([Line("c")])) == [2]
        assert log.length() == 3
        assert log.read(range(9)) == {0: first[0], 1: first[1], 2: Line("c")}
        assert log.read([2, 0]) == {0: first[0], 2: Line("c")}
        assert list(log.read([2, 0])) == [0, 2]

    def test_a_known_id_is_not_kept_again(self, log):
        log.append([Line("first", "one")])
        assert list(
            log.append([Line("new", "two"), Line("again", "one"), Line("more", "two")])
        ) == [1, 0, 1]
        assert [line.body for line in log.read(range(9)).values()] == ["first", "new"]
        assert log.find(["two", "none", "one"]) == {"two": 1, "one": 0}

    def test_an_id_belongs_to_its_log(self, store, log):
        log.append([Line("here", "one")])
        assert list(store.log("other").append([Line("there", "one")])) == [0]

    def test_an_append_at_an_expected_end_is_refused_where_the_log_has_grown(self, log):
        assert list(log.append([Line("a")], at=0)) == [0]
        assert list(log.append([Line("b")], at=0)) == []
        assert list(log.append([Line("b")], at=1)) == [1]
        assert log.length() == 2

    @pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
    def test_any_text_names_a_log(self, store, name):
        store.log(name).append([Line(name, words="needle")])
        store.log(name + "!").append([Line("another", words="needle")])
        assert store.log(name).read([0])[0].body == name
        assert list(store.log(name).search(["needle"], 5)) == [0]
        assert store.logs(name) == sorted([name, name + "!"])

    def test_lines_are_found_by_their_words_best_first(self, log):
        said = [
            "the cat sat",
            "a dog barked at the cat and at another dog",
            "nothing of it",
            "dogs, dogs and dogs",
        ]
        log.append([Line(text, words=text) for text in said])
        assert set(log.search(["dog", "cat"], 9)) == {0, 1, 3}
        assert list(log.search(["dog", "cat"], 1)) == [1]
        assert all(score > 0 for score in log.search(["dog"], 9).values())

    def test_neither_what_is_found_nor_its_score_depends_on_other_logs(self, store, log):
        log.append([Line(f"{n}", words=f"common word{n}") for n in range(10)])
        before = log.search(["word3", "common"], 9)
        store.log("other").append([Line(f"{n}", words="word3 needle") for n in range(200)])
        assert len(store.log("other").search(["needle"], 300)) == 200
        assert list(log.search(["word3", "common"], 9).items()) == list(before.items())

    def test_an_erased_log_leaves_the_others_their_words_and_its_name_begins_anew(self, store, log):
        for name in ("gone", "talk"):
            store.log(name).append([Line(f"{n}", words="needle") for n in range(80)])
        before = log.search(["needle"], 99)
        store.erase_log("gone")
        assert store.log("gone").search(["needle"], 9) == {}
        assert log.search(["needle"], 99) == before
        store.log("gone").append([Line("a", words="pin")])
        assert store.log("gone").search(["needle"], 9) == {}
        assert list(store.log("gone").search(["pin"], 9)) == [0]

    def test_what_has_no_words_is_not_found(self, log):
        log.append([Line("needle")])
        assert log.search(["needle"], 5) == {}

    @pytest.mark.parametrize(
        "term", ['"', "*", "NEAR", "a OR b", "(", "words:x", "\x00", "\ud800", "", "é" * 5_000]
    )
    def test_no_word_is_an_operator(self, log, term):
        log.append([Line("x", words="needle")])
        assert list(log.search([term, "needle"], 5)) == [0]
        assert log.search([term], 5) in ({}, {0: pytest.approx(0, abs=99)})

    def test_lines_are_found_by_when_they_were_whatever_their_order(self, log):
        log.append([Line(str(time), time=time) for time in (50.0, 10.0, 30.0, 30.0, 20.0)])
        assert list(log.between(10, 30, 9)) == [1, 4, 2, 3]
        assert list(log.between(10, 30, 2)) == [1, 4]
        assert list(log.between(31, 49, 9)) == []

    def test_threads_that_append_at_once_lose_nothing(self, store):
        with ThreadPoolExecutor(8) as pool:
            places = list(
                pool.map(lambda n: store.log("talk").append([Line(f"{n}")])[0], range(100))
            )
        assert sorted(places) == list(range(100))
        found = store.log("talk").read(range(100))
        assert [found[place].body for place in places] == [f"{n}" for n in range(100)]
