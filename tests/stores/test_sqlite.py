from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.kernel.errors import StoreError
from holdfast.stores import sqlite_file
from holdfast.stores.protocols import Line
from holdfast.stores.sqlite import SqliteStore
from tests.contracts.store_contract import CompleteStoreContract
from tests.stores.doubles import migrate_with

posix = pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes and limits")


class TestSqliteStore(CompleteStoreContract):
    @pytest.fixture
    def store(self, tmp_path, clock):
        with SqliteStore(tmp_path / "store.db", clock=clock) as store:
            yield store

    def test_what_has_ended_leaves_the_file(self, store, clock):
        for number in range(50):
            store.set_for(f"k{number}", "v", 1)
            clock.now += 2
        with store._file.use() as connection:
            assert connection.execute("SELECT count(*) FROM entries").fetchone() == (1,)

    def test_bytes_that_are_no_text_are_refused_as_text(self, store):
        store.set_bytes("k", b"\xff\xfe")
        with pytest.raises(StoreError, match=r"'k' is bytes and not text: read it with get_bytes"):
            store.get("k")

    def test_a_batch_that_fails_leaves_nothing_behind(self, store):
        with pytest.raises(AttributeError):
            store.set_many({"a": "1", "b": 2})
        assert store.keys() == []
        store.set("after", "v")
        assert store.keys() == ["after"]


class Interrupted(sqlite3.Connection):
    """A connection whose user interrupts the program while it waits for another writer."""

    def execute(self, sql, *values):
        found = super().execute(sql, *values)
        if sql == "BEGIN immediate":
            raise KeyboardInterrupt
        return found


class TestTheFile:
    def test_an_interrupt_that_ends_the_waiting_for_another_writer_leaves_no_lock(self, tmp_path):
        connection = sqlite3.connect(tmp_path / "a.db", isolation_level=None, factory=Interrupted)
        with closing(connection):
            with (
                pytest.raises(KeyboardInterrupt),
                sqlite_file.transaction(connection, "immediate"),
            ):
                pass
            assert not connection.in_transaction

    def test_what_was_kept_is_there_after_a_restart(self, tmp_path):
        with SqliteStore(tmp_path / "a.db") as store:
            store.set("k", "v")
            store.set_for("ends", "v", 3_600)
        with SqliteStore(tmp_path / "a.db") as again:
            assert again.keys() == ["ends", "k"]

    def test_expiry_goes_on_while_the_store_is_closed(self, tmp_path):
        with SqliteStore(tmp_path / "a.db", clock=lambda: 1_000.0) as store:
            store.set_for("k", "v", 10)
        with SqliteStore(tmp_path / "a.db", clock=lambda: 1_011.0) as again:
            assert again.get("k") is None

    def test_it_is_made_when_the_store_is_first_used(self, tmp_path):
        store = SqliteStore(tmp_path / "a.db")
        assert list(tmp_path.iterdir()) == []
        assert store.get("k") is None
        assert (tmp_path / "a.db").exists()
        store.close()

    def test_a_store_that_was_closed_opens_again(self, tmp_path):
        store = SqliteStore(tmp_path / "a.db")
        store.set("k", "v")
        store.close()
        store.close()
        assert [path.name for path in tmp_path.iterdir()] == ["a.db"]
        assert store.get("k") == "v"
        store.close()

    def test_a_store_that_is_forgotten_lets_go_of_it(self, tmp_path):
        store = SqliteStore(tmp_path / "a.db")
        store.set("k", "v")
        assert (tmp_path / "a.db-wal").exists()
        del store
        assert [path.name for path in tmp_path.iterdir()] == ["a.db"]

    @posix
    def test_it_is_its_owners_alone_whatever_the_umask(self, tmp_path):
        before = os.umask(0)
        try:
            with SqliteStore(tmp_path / "a.db") as store:
                store.set("k", "v")
                modes = {path.name: oct(path.stat().st_mode & 0o777) for path in tmp_path.iterdir()}
        finally:
            os.umask(before)
        assert modes == {"a.db": "0o600", "a.db-shm": "0o600", "a.db-wal": "0o600"}

    @posix
    def test_the_mode_that_a_user_gave_it_stays(self, tmp_path):
        with SqliteStore(tmp_path / "a.db") as store:
            store.set("k", "v")
        (tmp_path / "a.db").chmod(0o640)
        with SqliteStore(tmp_path / "a.db") as store:
            store.set("k", "w")
        assert (tmp_path / "a.db").stat().st_mode & 0o777 == 0o640

    @pytest.mark.parametrize(("synchronous", "level"), [("full", 2), ("normal", 1)])
    def test_the_log_is_written_ahead_and_flushed_as_asked(self, tmp_path, synchronous, level):
        store = SqliteStore(tmp_path / "a.db", synchronous=synchronous)
        with store._file.use() as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert connection.execute("PRAGMA synchronous").fetchone() == (level,)
        store.close()


class TestSchema:
    LATER = (
        *sqlite_file.STEPS,
        ("ALTER TABLE entries ADD COLUMN note TEXT", "UPDATE entries SET note = 'kept'"),
    )

    def test_a_file_of_an_older_schema_takes_the_steps_that_it_lacks(self, tmp_path):
        with SqliteStore(tmp_path / "a.db") as store:
            store.set("k", "v")
        with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection:
            migrate_with(self.LATER, connection)
            migrate_with(self.LATER, connection)
            assert connection.execute("PRAGMA user_version").fetchone() == (len(self.LATER),)
            assert connection.execute("SELECT key, note FROM entries").fetchall() == [
                (b"k", "kept")
            ]

    def test_a_file_from_before_there_were_logs_opens_and_holds_them_from_now_on(self, tmp_path):
        with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection:
            migrate_with(sqlite_file.STEPS[:1], connection)
            connection.execute("INSERT INTO entries (key, value) VALUES (?, ?)", (b"k", b"v"))
        with SqliteStore(tmp_path / "a.db") as store:
            assert store.get("k") == "v"
            assert store.log("talk").append([Line("{}", words="words")]) == [0]
            assert list(store.log("talk").search(["words"], 1)) == [0]

    def test_a_step_that_fails_leaves_the_file_as_it_was(self, tmp_path):
        with SqliteStore(tmp_path / "a.db") as store:
            store.set("k", "v")
        broken = (*sqlite_file.STEPS, ("DELETE FROM entries", "no SQL"))
        with (
            closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection,
            pytest.raises(sqlite3.OperationalError),
        ):
            migrate_with(broken, connection)
        with SqliteStore(tmp_path / "a.db") as again:
            assert again.get("k") == "v"

    def test_a_file_of_a_newer_schema_is_refused_and_not_touched(self, tmp_path):
        with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection:
            migrate_with(self.LATER, connection)
        before = (tmp_path / "a.db").read_bytes()
        assert refusal(SqliteStore(tmp_path / "a.db")) == (
            f"the file was written by a newer Holdfast (schema {len(self.LATER)}, this one knows "
            f"{len(sqlite_file.STEPS)}); upgrade with pip install -U holdfast"
        )
        assert (tmp_path / "a.db").read_bytes() == before

    @pytest.mark.parametrize(
        "statement",
        ["CREATE TABLE users (name TEXT)", "PRAGMA user_version = 7", "PRAGMA application_id = 99"],
    )
    def test_the_database_of_another_program_is_refused_and_not_touched(self, tmp_path, statement):
        with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection:
            connection.execute(statement)
        before = (tmp_path / "a.db").read_bytes()
        assert refusal(SqliteStore(tmp_path / "a.db")) == (
            "the file is the database of another program; give the store a file of its own"
        )
        assert (tmp_path / "a.db").read_bytes() == before


def refusal(store: SqliteStore) -> str:
    """The one line in which a store says why it cannot be used, after the part that names it."""
    with pytest.raises(StoreError) as refused:
        store.set("k", "v")
    line = str(refused.value)
    assert line.startswith("sqlite store ")
    assert "\n" not in line
    return line.split(": ", 1)[1]


class TestTrouble:
    def test_a_directory_that_is_missing(self, tmp_path):
        line = "No such file or directory; check the path and its directory"
        assert refusal(SqliteStore(tmp_path / "missing" / "a.db")) == line
        assert list(tmp_path.iterdir()) == []

    def test_a_directory_in_its_place(self, tmp_path):
        assert refusal(SqliteStore(tmp_path)).startswith(
            "the file cannot be opened; check that its directory exists"
        )

    def test_a_file_that_is_no_database(self, tmp_path):
        (tmp_path / "a.db").write_text("notes of somebody\n" * 100)
        assert (
            refusal(SqliteStore(tmp_path / "a.db"))
            == "the file is not a SQLite database; name another one"
        )
        assert (tmp_path / "a.db").read_text() == "notes of somebody\n" * 100

    def test_a_file_that_is_damaged(self, tmp_path):
        with SqliteStore(tmp_path / "a.db") as store:
            store.set_many({f"k{number}": "v" * 500 for number in range(200)})
        with (tmp_path / "a.db").open("r+b") as file:
            file.seek(4096)
            file.write(b"\xa5" * 200_000)
        line = "the file is damaged; restore it from a copy or name another one"
        assert refusal(SqliteStore(tmp_path / "a.db")) == line

    def test_another_process_that_does_not_let_go(self, tmp_path):
        store = SqliteStore(tmp_path / "a.db", timeout=0.01)
        store.set("k", "v")
        with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            line = "another process has been writing for 0.01 s; try again, or set a longer timeout"
            assert refusal(store) == line
            assert store.get("k") == "v"
        store.set("k", "w")
        assert store.get("k") == "w"
        store.close()

    def test_a_disk_that_is_full_keeps_all_that_was_kept(self, tmp_path):
        store = SqliteStore(tmp_path / "a.db")
        store.set("k", "v")
        with store._file.use() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(
            StoreError, match=r"^sqlite store .*: the disk is full; this write was not kept"
        ):
            store.set_many({"small": "v", "large": "v" * 100_000})
        assert store.keys() == ["k"]
        store.close()
        store.set_many({"small": "v", "large": "v" * 100_000})
        assert store.keys() == ["k", "large", "small"]
        store.close()

    @posix
    def test_a_system_that_refuses_to_write_keeps_all_that_was_kept(self, tmp_path):
        assert in_a_process_of_its_own(
            """
            import resource, sys
            from holdfast.stores.sqlite import SqliteStore

            store = SqliteStore(sys.argv[1])
            store.set("k", "v")
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
            try:
                store.set("large", "v" * 500_000)
            except Exception as fault:
                print(type(fault).__name__, str(fault).partition(": ")[2])
            print(store.get("k"), store.get("large"))
            unlimited = resource.RLIM_INFINITY
            resource.setrlimit(resource.RLIMIT_FSIZE, (unlimited, unlimited))
            store.set("large", "v" * 500_000)
            print(len(store.get("large")))
            """,
            tmp_path / "a.db",
        ) == [
            "StoreError the disk refuses to read or write; this call did nothing, "
            "earlier writes are kept",
            "v None",
            "500000",
        ]

    @posix
    def test_a_file_that_is_read_only_can_still_be_read(self, tmp_path):
        with SqliteStore(tmp_path / "a.db") as store:
            store.set("k", "v")
        assert in_a_process_of_its_own(
            """
            import os, sys, tempfile
            from pathlib import Path
            from holdfast.stores.sqlite import SqliteStore

            with tempfile.TemporaryDirectory() as place:
                file = Path(place, "a.db")
                file.write_bytes(Path(sys.argv[1]).read_bytes())
                file.chmod(0o444)
                Path(place).chmod(0o777)
                if os.geteuid() == 0:
                    os.seteuid(65534)  # to the superuser no file is read-only
                store = SqliteStore(file)
                print(store.get("k"))
                try:
                    store.set("k", "w")
                except Exception as fault:
                    print(type(fault).__name__, str(fault).partition(": ")[2])
                print(store.get("k"))
                store.close()
                os.seteuid(os.getuid())
            """,
            tmp_path / "a.db",
        ) == ["v", "StoreError the file is read-only; nothing was written", "v"]

    def test_a_value_too_large_for_an_entry(self, tmp_path):
        with SqliteStore(tmp_path / "a.db") as store:
            with store._file.use() as connection:
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000)
            with pytest.raises(
                StoreError, match=r"the value is larger than the 1 GB that one entry may have$"
            ):
                store.set("k", "v" * 2_000)
            assert store.get("k") is None


def in_a_process_of_its_own(program: str, file: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
