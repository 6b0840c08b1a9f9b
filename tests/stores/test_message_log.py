from __future__ import annotations

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest

from holdfast.kernel.errors import StoreError
from holdfast.stores.encrypt import EncryptedStore
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.key_logs import LogsOverKeys
from holdfast.stores.protocols import KeepsLogs, Line
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.wrappers import PrefixStore
from tests.contracts.log_contract import LogContract
from tests.stores.doubles import AwaitedTextStore, TextStore

# written by the first version, with the key bytes(range(32)): "k" has the value "v"
FIRST_LOCK = (
    '{"holdfast": 1, "salt": "36a20672d9eeb65e6fc9e155139bd029", "check": '
    '"0871c7f820593c3012199fa04c84834210abe93fe00e1724"}'
)
FIRST_NAME = "x_SV7ZXOiH9EoCEuMdK2clLoH0"
FIRST_VALUE = "dHfAbPzXc4poJEyUbV/uZpkk+ftysqiRVK+lwppRIsN/SQ=="


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
                "CREATE TRIGGER refuse BEFORE INSERT ON lines WHEN substr(NEW.body, -1) "
                "= x'62' BEGIN SELECT RAISE(ABORT, 'no'); END"
            )
        with pytest.raises(StoreError, match="no"):
            log.append([Line("more", words="needle"), Line("b")])
        assert log.length() == 1
        assert log.search(["needle"], 1) == {}

    def test_a_word_that_everybody_says_is_left_out_of_a_long_search(self, store, log, monkeypatch):
        monkeypatch.setattr("holdfast.text.similarity.MOST_HOLDERS", 20)
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


class TestLogOverKeys(LogContract):
    @pytest.fixture
    def store(self):
        return LogsOverKeys(TextStore())

    def test_another_opening_reads_what_was_written_and_what_comes(self):
        entries = TextStore()
        first, second = LogsOverKeys(entries).log("talk"), LogsOverKeys(entries).log("talk")
        first.append([Line("a", "one"), Line("b")])
        assert second.length() == 2
        assert list(second.append([Line("again", "one"), Line("c")])) == [0, 2]
        assert [line.body for line in first.read(range(9)).values()] == ["a", "b", "c"]

    def test_what_is_erased_is_gone_from_the_entries(self):
        kept = TextStore()
        store = LogsOverKeys(kept)
        store.log("talk").append([Line("needle", words="needle")])
        store.erase_log("talk")
        assert store.log("talk").length() == 0
        assert store.logs() == []
        assert "needle" not in repr(kept.entries)


class TestLogOverAnAwaitedDictionary(LogContract):
    @pytest.fixture
    def store(self):
        return LogsOverKeys(AwaitedTextStore())


class TestLogOverAnEncryptedDictionary(LogContract):
    @pytest.fixture(params=[TextStore, AwaitedTextStore])
    def store(self, request):
        unlocked = EncryptedStore.aunlock(request.param(), bytes(range(32)))
        return LogsOverKeys(asyncio.run(unlocked))


class TestEncryptedLogOverAnAwaitedDictionary(LogContract):
    @pytest.fixture
    def store(self):
        unlocked = EncryptedStore.aunlock(LogsOverKeys(AwaitedTextStore()), bytes(range(32)))
        return asyncio.run(unlocked)


class FirstWins(TextStore):
    """A dictionary that can decide which of several writers was first."""

    def put_if_absent(self, key, value):
        return self.entries.setdefault(key, value) is value


def test_processes_that_append_at_once_lose_nothing_where_the_store_decides_who_is_first():
    entries = FirstWins()
    logs = [LogsOverKeys(entries).log("talk") for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        places = list(pool.map(lambda n: logs[n % 8].append([Line(f"line {n}")])[0], range(80)))
    assert sorted(places) == list(range(80))
    assert all(logs[0].read([place])[place].body == f"line {n}" for n, place in enumerate(places))


def test_a_damaged_entry_is_named():
    entries = TextStore()
    LogsOverKeys(entries).log("talk").append([Line("a")])
    entries.set("log:0:talk", "no lines")
    with pytest.raises(StoreError, match=r"log:0:talk.*damaged"):
        LogsOverKeys(entries).log("talk").length()


def test_a_wrapper_keeps_logs_where_the_store_beneath_does():
    assert isinstance(PrefixStore(InProcessStore(), "a"), KeepsLogs)
    assert not isinstance(PrefixStore(TextStore(), "a"), KeepsLogs)


class TestEncryptedLog(LogContract):
    @pytest.fixture
    def store(self):
        return EncryptedStore.unlock(InProcessStore(), bytes(range(32)))

    def test_the_store_beneath_holds_nothing_of_what_was_said(self):
        inner = InProcessStore()
        log = EncryptedStore.unlock(inner, bytes(range(32))).log("thread-1")
        log.append(
            [Line("the password is swordfish", "id-7", words="password swordfish pool_size")]
        )
        (name,) = inner.logs()
        (line,) = inner.log(name).read([0]).values()
        beneath = repr((name, line, list(inner.log(name)._words._blocks)))
        for said in ("thread-1", "password", "swordfish", "pool", "id-7"):
            assert said not in beneath
        assert list(log.search(["pool size"], 5)) == [0]
        assert list(log.search(["passwords"], 5)) == [0]

    def test_a_line_that_was_moved_or_changed_is_not_there(self):
        inner = InProcessStore()
        store = EncryptedStore.unlock(inner, bytes(range(32)))
        store.log("a").append([Line("one"), Line("two", time=2.0)])
        (name,) = inner.logs()
        inner.log(name).append([inner.log(name).read([1])[1]])
        inner.log(name).append([replace(inner.log(name).read([1])[1], time=3.0)])
        assert {at: line.body for at, line in store.log("a").read(range(9)).items()} == {
            0: "one",
            1: "two",
            2: "two",
        }


class TestKeysOfTheUser:
    OLD, NEW = "correct horse", bytes(range(1, 33))

    def test_after_a_change_what_was_written_before_and_after_is_read_with_the_new_one(self):
        inner = InProcessStore()
        before = EncryptedStore.unlock(inner, self.OLD)
        before.set("k", "v")
        before.log("talk").append([Line("old", "id", words="needle")])
        EncryptedStore.rekey(inner, self.OLD, self.NEW)
        before.log("talk").append([Line("while it was open", words="needle")])
        after = EncryptedStore.unlock(inner, self.NEW)
        after.set("l", "w")
        assert list(after.log("talk").append([Line("new", words="needle"), Line("", "id")])) == [
            2,
            0,
        ]
        again = EncryptedStore.unlock(inner, self.NEW)
        assert [again.get("k"), again.get("l"), again.keys()] == ["v", "w", ["k", "l"]]
        bodies = [line.body for line in again.log("talk").read(range(9)).values()]
        assert bodies == ["old", "while it was open", "new"]
        assert len(again.log("talk").search(["needle"], 9)) == 3
        with pytest.raises(StoreError, match="another key"):
            EncryptedStore.unlock(inner, self.OLD)

    def test_what_is_written_after_a_change_is_not_read_with_the_keys_of_before(self):
        inner = InProcessStore()
        before = EncryptedStore.unlock(inner, self.OLD)
        EncryptedStore.rekey(inner, self.OLD, self.NEW).set("k", "v")
        with pytest.raises(StoreError, match="changed after it was encrypted"):
            before.get("k")

    def test_a_store_of_the_first_version_opens_and_takes_a_new_key(self):
        inner = TextStore()
        inner.entries = {
            "holdfast_encryption": FIRST_LOCK,
            FIRST_NAME: FIRST_VALUE,
        }
        assert EncryptedStore.unlock(inner, bytes(range(32))).get("k") == "v"
        assert EncryptedStore.rekey(inner, bytes(range(32)), "new").get("k") == "v"
        assert EncryptedStore.unlock(inner, "new").get("k") == "v"
