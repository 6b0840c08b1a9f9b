"""The words of lines wait until many are indexed at once; nobody who searches can tell."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from time import monotonic

import pytest

from holdfast.stores import sqlite_file
from holdfast.stores.protocols import Line
from holdfast.stores.sqlite import MOST_WAITING, SqliteStore

SAID = [
    "the cat sat",
    "a dog barked at the cat",
    "nothing of it",
    "dogs, dogs and dogs",
    "one more cat",
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.db"


@pytest.fixture
def store(path):
    with SqliteStore(path, timeout=0.01) as store:
        yield store


def waiting(store: SqliteStore) -> int:
    with store._file.use() as connection:
        return int(connection.execute("SELECT count(*) FROM waiting_words").fetchone()[0])


def lines(*texts: str) -> list[Line]:
    return [Line(text, words=text) for text in texts]


def test_an_append_leaves_its_words_to_the_next_search(store):
    log = store.log("talk")
    log.append(lines(*SAID))
    assert waiting(store) == len(SAID)
    assert set(log.search(["cat"], 9)) == {0, 1, 4}
    assert waiting(store) == 0


def test_never_more_wait_than_a_search_can_index_at_once(store):
    for number in range(3 * MOST_WAITING):
        store.log(f"talk {number % 7}").append(lines(f"word{number}"))
        assert waiting(store) < MOST_WAITING
    store.log("long").append(lines(*(f"word{number}" for number in range(5 * MOST_WAITING))))
    assert waiting(store) == 0


def test_scores_are_the_same_however_the_words_were_indexed(tmp_path):
    found = []
    for name in ("each", "all"):
        with SqliteStore(tmp_path / name) as store:
            for text in SAID:
                store.log("talk").append(lines(text))
                if name == "each":
                    store.log("talk").search(["cat"], 1)
            found.append(list(store.log("talk").search(["dog", "cat"], 9).items()))
    assert found[0] == found[1]


def test_of_equal_scores_the_earlier_line_is_first_whatever_the_order_of_the_words(store):
    log = store.log("talk")
    log.append(
        lines(
            "alpha beta x",
            "beta alpha y",
            "gamma alpha z",
            "gamma beta z",
            *["other words here"] * 9,
        )
    )
    assert list(log.search(["alpha", "beta", "gamma"], 9)) == list(
        log.search(["gamma", "beta", "alpha"], 9)
    )


def test_what_one_process_left_waiting_another_finds(store, path):
    store.log("talk").append(lines(*SAID))
    with SqliteStore(path) as other:
        assert set(other.log("talk").search(["dog"], 9)) == {1, 3}


def test_who_appends_finds_it_at_once_while_others_append_and_search(path):
    def use(name: str) -> list[int]:
        with SqliteStore(path) as store:
            log = store.log("talk")
            places: list[tuple[int, int]] = []
            for number in range(40):
                places.append((log.append(lines(f"{name}{number} said"))[0], number))
                assert list(log.search([f"{name}{number}"], 9)) == [places[-1][0]]
            return [
                number
                for place, number in places
                if list(log.search([f"{name}{number}"], 9)) != [place]
            ]

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(use, ["p", "q", "r"])) == [[], [], []]


def test_where_the_file_cannot_be_written_to_the_words_are_found_where_they_wait(store, path):
    log = store.log("talk")
    log.append(lines(*SAID[:3]))
    log.search(["cat"], 1)
    log.append(lines(*SAID[3:], "parrots"))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert set(log.search(["cat"], 9)) == {0, 1, 4}
        assert list(log.search(["parrots"], 9)) == [5]
        assert len(log.search(["cat"], 2)) == 2
    assert waiting(store) == 3
    assert set(log.search(["cat"], 9)) == {0, 1, 4}


def test_a_search_does_not_wait_for_another_process_that_is_writing(path):
    with (
        SqliteStore(path, timeout=5) as store,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        log = store.log("talk")
        log.append(lines(*SAID))
        other.execute("BEGIN IMMEDIATE")
        before = monotonic()
        assert sorted(log.search(["cat"], 10)) == [0, 1, 4]
        assert monotonic() - before < 4
        other.execute("ROLLBACK")
        assert sorted(log.search(["dog", "dogs"], 10)) == [1, 3]
        assert waiting(store) == 0
        with store._file.use() as connection:
            assert connection.execute("PRAGMA busy_timeout").fetchone() == (5000,)


def test_a_file_whose_words_were_indexed_by_each_append_is_searched_with_what_comes_now(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        sqlite_file.migrate(connection, sqlite_file.STEPS[:2])
        connection.execute("INSERT INTO logs (id, name, length) VALUES (1, ?, 1)", (b"talk",))
        connection.execute(
            "INSERT INTO lines (number, log, body) VALUES (?, 1, ?)", (1 << 32, b"old")
        )
        connection.execute(
            "INSERT INTO line_words (rowid, words) VALUES (?, ?)", (1 << 32, b"an old parrot")
        )
    with SqliteStore(path) as store:
        assert list(store.log("talk").search(["parrot"], 9)) == [0]
        assert store.log("talk").append(lines("a new parrot")) == [1]
        assert set(store.log("talk").search(["parrot"], 9)) == {0, 1}


def test_what_need_not_be_flushed_is_seen_by_others_and_what_comes_next_is_flushed(store, path):
    log, levels = store.log("talk"), []
    log.append(lines("first"))
    with store._file.use() as connection:
        connection.set_trace_callback(
            lambda statement: levels.append(statement) if "synchronous" in statement else None
        )
    log.append(lines("second"), flush=False)
    assert levels == ["PRAGMA synchronous = normal", "PRAGMA synchronous = full"]
    with pytest.raises(AttributeError):
        log.append([None], flush=False)
    with store._file.use() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    with SqliteStore(path) as other:
        assert other.log("talk").length() == 2
