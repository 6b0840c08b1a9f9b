from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from holdfast.kernel.errors import StoreError
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.protocols import KeepsLogs, Line
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.wrappers import PrefixStore
from tests.contracts.log_contract import LogContract
from tests.stores.doubles import TextStore


class TestInProcessLog(LogContract):
    @pytest.fixture
    def store(self):
        return InProcessStore()

    def test_it_is_one_log_whoever_asks_for_it(self, store):
        store.log("talk").append([Line("a")])
        assert store.log("talk").length() == 1


class TestSqliteLog(LogContract):
    @pytest.fixture
    def store(self, tmp_path):
        with SqliteStore(tmp_path / "a.db") as store:
            yield store

    def test_it_is_there_when_the_file_is_opened_again(self, store, log, tmp_path):
        log.append([Line("a", "one", 2.0, "needle")])
        store.close()
        with SqliteStore(tmp_path / "a.db") as again:
            assert again.log("talk").read([0]) == {0: Line("a", "one", 2.0)}
            assert list(again.log("talk").search(["needle"], 1)) == [0]

    def test_keys_and_logs_of_one_name_do_not_meet(self, store, log):
        store.set("talk", "v")
        log.append([Line("a")])
        store.delete("talk")
        assert log.length() == 1

    def test_an_append_that_fails_keeps_nothing_of_it(self, store, log, tmp_path):
        log.append([Line("a")])
        with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as other:
            other.execute(
                "CREATE TRIGGER refuse BEFORE INSERT ON lines WHEN substr(NEW.body, -1) = x'62' BEGIN SELECT RAISE(ABORT, 'no'); END"
            )
        with pytest.raises(StoreError, match="no"):
            log.append([Line("more", words="needle"), Line("b")])
        assert log.length() == 1
        assert log.search(["needle"], 1) == {}

    def test_a_word_that_everybody_says_is_left_out_of_a_long_search(self, store, log, monkeypatch):
        monkeypatch.setattr("holdfast.stores.sqlite._MOST_HOLDERS", 20)
        log.append([Line("x", words="common rare" if n == 7 else "common") for n in range(50)])
        assert list(log.search(["common", "rare"], 99)) == [7]
        assert len(log.search(["common"], 99)) == 50

    def test_of_a_question_of_many_words_the_rarest_are_weighed(self, log):
        words = [f"word{number}" for number in range(60)]
        log.append([Line("x", words=" ".join(words[: 60 - n])) for n in range(60)])
        assert set(log.search(words, 99)) == set(range(24))

    def test_of_a_question_of_some_words_all_are_weighed(self, log):
        words = [f"word{number}" for number in range(20)]
        log.append([Line("x", words=word) for word in words])
        assert set(log.search(words, 99)) == set(range(20))


class TestLogOfANamespace(LogContract):
    @pytest.fixture
    def store(self):
        inner = InProcessStore()
        PrefixStore(inner, "other").log("talk").append([Line("not yours", words="needle cat dog")])
        return PrefixStore(inner, "tenant: 1%")


def test_a_wrapper_keeps_logs_where_the_store_beneath_does():
    assert isinstance(PrefixStore(InProcessStore(), "a"), KeepsLogs)
    assert not isinstance(PrefixStore(TextStore(), "a"), KeepsLogs)
