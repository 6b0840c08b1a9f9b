"""What the disk changed is told from what was kept, and takes nothing with it."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from contextlib import closing
from random import Random

import pytest

import holdfast
from holdfast.kernel.errors import HoldfastError, StoreError
from holdfast.session import Session
from holdfast.stores import sqlite_file
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.key_logs import MESSAGES
from holdfast.stores.protocols import Line
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.sqlite_file import sealed, unsealed
from tests.stores.doubles import migrate_with

SAID = [
    {
        "role": "assistant" if n % 2 else "user",
        "content": f"Message {n}: order {n * 7919} is late. " + "It waits. " * 9,
    }
    for n in range(40)
]
EDITED = {"role": "user", "content": "Order 31676 has come."}


@pytest.fixture
def file(tmp_path):
    """A file of one conversation, as it is when nobody has it open."""
    with opened(tmp_path / "a.db") as session:
        session.append(*SAID)
        session.edit(4, EDITED)
        session.fit()
    return tmp_path / "a.db"


def opened(file):
    return Session("t", store=f"sqlite:///{file}", budget=900)


def execute(file, statement, *values):
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        return connection.execute(statement, values).fetchall()


def used(session):
    """Everything that reads; what comes back of what was appended."""
    restored = session.restore()
    for query in (None, "order 7919"):
        assert session.fit(query).messages
    session.search("order 7919")
    session.messages()
    session.history()
    session.stats()
    session.report("html")
    return restored


@pytest.mark.parametrize("changed", [b"no JSON", b"\xff\xfe", b"", None, b"5", b"[]"])
@pytest.mark.parametrize("place", [0, 7, 39])
def test_a_line_that_was_changed_is_passed_over_and_named(file, changed, place):
    body = (
        changed
        if changed in (b"no JSON", b"\xff\xfe", b"", None)
        else sealed(changed, b"another place")
    )
    execute(
        file, "UPDATE lines SET body = ? WHERE number % 4294967296 = ? AND log = 1", body, place
    )
    with opened(file) as session:
        assert used(session) == [*SAID[:place], *SAID[place + 1 :]]
        assert session.faults == (
            f"1 message damaged in the store, passed over: {place}; restore a copy",
        )
        assert session.append({"role": "user", "content": "Go on."}) == [40]
    with opened(file) as session:
        assert len(session.restore()) == 40
        with session.fork("copy") as copy:
            assert copy.restore() == session.restore()
            assert copy.messages()[4 if place > 4 else 3] == EDITED


@pytest.mark.parametrize("place", [1, 7, 39])
def test_a_line_without_a_checksum_is_damage_where_the_log_began_with_one(file, place):
    forged = json.dumps({"role": "user", "content": "Order 7919 was cancelled."}).encode()
    statement = "UPDATE lines SET body = ? WHERE number % 4294967296 = ? AND log = 1"
    execute(file, statement, forged, place)
    with opened(file) as session:
        assert used(session) == [*SAID[:place], *SAID[place + 1 :]]
        assert session.faults


def test_an_edit_that_was_changed_leaves_the_message_as_it_was_said(file):
    execute(file, "UPDATE lines SET body = x'00' WHERE log = 2 AND number % 4294967296 = 0")
    execute(file, "DELETE FROM entries")
    with opened(file) as session:
        assert session.messages() == SAID == used(session)
        assert session.faults[0] == "1 event damaged in the store, passed over: 0; restore a copy"


@pytest.mark.parametrize("refused", [{"role": ""}, {"role": "user", "content": {"type": "new"}}, 5])
def test_a_message_that_this_version_refuses_is_passed_over_and_named(file, refused):
    with SqliteStore(file) as store:
        store.log(MESSAGES + "t").append([Line(json.dumps(refused))])
    for name in ("read", "read again from the saved state"):
        with opened(file) as session:
            assert used(session) == [*SAID, refused]
            assert session.messages() == [*SAID[:4], EDITED, *SAID[5:]]
            assert session.faults == (
                "1 message damaged in the store, passed over: 40; restore a copy",
            )
            with session.fork(name) as copy:
                assert copy.restore() == session.restore()


def test_a_line_is_not_taken_for_another_one(file):
    (body,), (other,) = execute(
        file, "SELECT body FROM lines WHERE log = 1 ORDER BY number LIMIT 2"
    )
    execute(file, "UPDATE lines SET body = ? WHERE body = ?", other, body)
    with opened(file) as session:
        assert session.restore() == SAID[1:]


def test_a_state_that_was_changed_is_made_again(file):
    for key, value in execute(file, "SELECT key, value FROM entries"):
        execute(file, "UPDATE entries SET value = ? WHERE key = ?", value.replace(b"4", b"5"), key)
    with (
        SqliteStore(file) as store,
        pytest.raises(StoreError, match="its bytes were changed on the disk"),
    ):
        store.get("session:t")
    with opened(file) as session:
        assert used(session) == SAID
        assert session.messages()[4] == EDITED


def test_of_random_damage_nothing_comes_back_changed_and_nothing_is_lost_without_a_word(file):
    whole, random = file.read_bytes(), Random(19)
    for number in range(40):
        damaged = bytearray(whole)
        length = random.choice((1, 64, 512, 4_096))
        start = random.randrange(len(whole) - length)
        damaged[start : start + length] = random.randbytes(length)
        place = file.with_name(f"{number}.db")
        place.write_bytes(damaged)
        try:
            with opened(place) as session:
                restored = session.restore()
                named = len(SAID) - len(restored)
                assert [each for each in restored if each not in SAID] == []
                assert not named or f"{named} message" in " ".join(session.faults)
                used(session)
        except HoldfastError:
            pass  # one line that says what is wrong


def test_a_thread_whose_name_was_changed_in_one_place_is_not_taken_for_a_new_one(file):
    whole = file.read_bytes()
    places = [found.start() for found in re.finditer(b"messages:t", whole)]
    assert len(places) >= 3, "in the table and in both of its indexes"
    for place in places:
        file.write_bytes(whole[:place] + b"massages:t" + whole[place + 10 :])
        try:
            with opened(file) as session:
                assert session.restore() == SAID
        except StoreError:
            pass  # one line that says what is wrong


def test_a_damaged_schema_that_is_no_text_is_an_error_of_one_line(file):
    whole = file.read_bytes()
    declared = b"(number INTEGER PRIMARY KEY, log"
    assert declared in whole
    file.write_bytes(whole.replace(declared, declared.replace(b"KEY", b"\xdcEY")))
    with pytest.raises(StoreError, match="the file is damaged: it holds names that are not text"):
        opened(file)


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE waiting SET words = substr(words, 1, 20)",
        "UPDATE waiting SET words = x'92c1'",
        "UPDATE logs SET parts = '[[0,'",
        "UPDATE postings SET block = substr(block, 1, 7)",
        "UPDATE waiting SET words = 5",
        "UPDATE waiting SET words = 'text'",
        "UPDATE logs SET parts = '[1, null]'",
        "UPDATE logs SET parts = '5'",
        "UPDATE postings SET block = 'text'",
    ],
)
def test_a_damaged_index_of_words_is_an_error_of_one_line(tmp_path, harm):
    file = tmp_path / "a.db"
    with opened(file) as session:
        session.append(*SAID * 40)
        session.append(*SAID[:3])
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute(harm)
    with opened(file) as session:
        assert session.restore() == [*SAID * 40, *SAID[:3]]
        with pytest.raises(StoreError, match=r"its index of words cannot be read; restore it"):
            session.search("order late")


def test_a_file_of_the_version_before_opens_as_it_was(file):
    before = file.with_name("before.db")
    with closing(sqlite3.connect(before, isolation_level=None)) as connection:
        migrate_with(sqlite_file.STEPS[:3], connection)
        connection.execute("ATTACH ? AS now", (str(file),))
        for statement in (
            "INSERT INTO entries SELECT key, substr(value, 9), ends FROM now.entries",
            "INSERT INTO logs SELECT id, name, length FROM now.logs",
            "INSERT INTO lines SELECT number, log, id, time, substr(body, 9) FROM now.lines",
            "INSERT INTO line_words (rowid, words) SELECT number, CAST(body AS TEXT) FROM lines",
        ):
            connection.execute(statement)
    before.replace(file)
    with opened(file) as session:
        assert used(session) == SAID
        assert session.messages()[4] == EDITED
        assert session.search("55433")[0].position == 7
        session.append({"role": "user", "content": "Go on."})
    with opened(file) as session:
        assert len(session.restore()) == 41
        assert not session.faults


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be moved there")
@pytest.mark.parametrize("fate", ["deleted", "moved", "replaced"])
def test_an_append_to_a_file_that_is_gone_fails(file, fate):
    with opened(file) as session:
        session.append({"role": "user", "content": "before"})
        copy = file.read_bytes()
        file.replace(file.with_name("b.db"))
        if fate == "replaced":
            file.write_bytes(copy)
        elif fate == "deleted":
            file.with_name("b.db").unlink()
        with pytest.raises(
            StoreError,
            match="moved or deleted since it was opened; nothing was written; put it back",
        ):
            session.append({"role": "user", "content": "lost"})
        if fate == "moved":
            file.with_name("b.db").replace(file)
            assert session.append({"role": "user", "content": "after"}) == [41]


def test_a_seal_holds_for_its_place_alone():
    assert unsealed(sealed(b"value", 1), 1) == b"value"
    assert unsealed(sealed(b"value", 1), 2) is None
    assert unsealed(b"of old", 1) == b"of old"


@pytest.mark.parametrize("method", ["length", "append", "read", "search"])
def test_what_a_callers_log_raises_is_a_store_error_of_one_line(method):
    failing: list[bool] = []

    class Store(InProcessStore):
        def log(self, name):
            inner = super().log(name)

            class Log:
                def __getattr__(self, wanted):
                    found = getattr(inner, wanted)

                    def asked(*given, **named):
                        if failing and wanted == method:
                            raise ConnectionError("gone\nfor good")
                        return found(*given, **named)

                    return asked

            return Log()

    store = Store()
    user = {"role": "user", "content": "Keep invoice 7731."}
    with holdfast.Session("t", store=store, budget=200) as session:
        session.append(user, {"role": "assistant", "content": "Kept. " * 300}, user)
        failing.append(True)
        raised = []
        for act in (
            lambda: session.append(user),
            lambda: session.fit(query="which invoice?"),
            lambda: session.search("which invoice?"),
            session.restore,
            lambda: holdfast.Session("t", store=store),
        ):
            try:
                act()
            except StoreError as fault:
                raised.append(str(fault))
        failing.clear()
        assert raised
        assert set(raised) == {"the store failed: ConnectionError: gone for good"}
        assert session.restore()[:1] == [user]
