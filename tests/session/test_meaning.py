from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from holdfast.kernel.errors import MissingExtraError
from holdfast.memory.vectors import WordVectors
from holdfast.session import Session
from holdfast.session import recall as meaning
from tests.session.talks import chatter, talk


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(meaning, "_BLOCK", 32)
    monkeypatch.setattr(meaning, "_BLOCKS", 3)


RAIN = {"role": "user", "content": "The gateway fails on rainy weekends."}


def near(session, text):
    return list(session._past._retrieval(()).vectors.nearest(text, 5))


def test_a_message_is_found_by_what_it_means_where_no_word_is_shared():
    said = [
        *chatter(60),
        {"role": "user", "content": "Our puppy chewed the couch."},
        *chatter(20, 60),
    ]
    with Session("t") as session:
        session.append(*said)
        assert session.search("Which dog damaged furniture?", 1)[0].position == 60
    with Session("t", vectors=False) as without:
        without.append(*said)
        assert 60 not in [
            each.position for each in without.search("Which dog damaged furniture?", 1)
        ]


def test_full_blocks_are_kept_and_read_again(small_blocks, tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url) as session:
        session.append(*talk(70))
        found = near(session, "parcel for Dana")
        assert session._thread.store.get_bytes("vectors:0:t")
    with Session("t", store=url) as again:
        assert near(again, "parcel for Dana") == found
        assert found[0] == 3


def test_only_the_newest_blocks_are_searched_and_held(small_blocks):
    with Session("t") as session:
        session.append(*talk(200))
        assert min(near(session, "parcel for Dana")) >= 96
        assert len(session._past._retrieval(()).vectors._blocks) == 3


def test_one_search_takes_in_a_bounded_number_of_messages(monkeypatch):
    monkeypatch.setattr(meaning, "_AT_ONCE", 10)
    with Session("t") as session:
        session.append(*talk(40))
        assert max(near(session, "garden")) < 10
        assert max(near(session, "garden")) >= 10


def test_damaged_blocks_are_made_again(small_blocks, tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url) as session:
        session.append(*talk(70))
        found = near(session, "parcel for Dana")
        session._thread.store.set_bytes("vectors:0:t", b"not a block")
    with Session("t", store=url) as again:
        assert near(again, "parcel for Dana") == found


def test_blocks_whose_bytes_changed_on_the_disk_are_made_again(small_blocks, tmp_path):
    file = tmp_path / "a.db"
    with Session("t", store=f"sqlite:///{file}") as session:
        session.append(*talk(70))
        found = near(session, "parcel for Dana")
    with closing(sqlite3.connect(file)) as connection, connection:
        ((value,),) = connection.execute(
            "SELECT value FROM entries WHERE key = ?", (b"vectors:0:t",)
        )
        changed = value[:-1] + bytes([value[-1] ^ 1])
        connection.execute("UPDATE entries SET value = ? WHERE key = ?", (changed, b"vectors:0:t"))
    with Session("t", store=f"sqlite:///{file}") as again:
        assert near(again, "parcel for Dana") == found


@pytest.mark.parametrize("change", ["edit", "delete", "undo"])
def test_a_search_after_a_change_is_that_of_a_session_opened_after_it(
    small_blocks, tmp_path, change
):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with Session("t", store=url) as session:
        session.append(*talk(80))
        assert near(session, "parcel for Dana")[0] == 3
        number = session.delete(3) if change == "delete" else session.edit(3, RAIN, reason="x")
        assert 3 not in near(session, "parcel for Dana")
        if change == "undo":
            session.undo(number)
            assert near(session, "parcel for Dana")[0] == 3
        found = session._past._retrieval(()).vectors.nearest("rain at the gateway", 5)
    with Session("t", store=url) as again:  # no block that was kept before the change is read
        assert again._past._retrieval(()).vectors.nearest("rain at the gateway", 5) == found


def test_blocks_that_an_earlier_version_kept_are_read_unless_a_message_was_changed(
    small_blocks, tmp_path, monkeypatch
):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with monkeypatch.context() as earlier, Session("t", store=url) as session:
        written = WordVectors.to_bytes
        earlier.setattr(
            WordVectors,
            "to_bytes",
            lambda block: written(block).replace(b', "changes": 0', b" " * 14),
        )
        session.append(*talk(80))
        found = near(session, "parcel for Dana")
    with Session("t", store=url) as again:
        assert near(again, "parcel for Dana") == found
        again.edit(3, RAIN, reason="x")
    with Session("t", store=url) as changed:
        assert 3 not in near(changed, "parcel for Dana")


def test_a_package_without_its_files_leaves_a_search_by_words(monkeypatch):
    def missing():
        raise MissingExtraError("local embeddings", "local")

    monkeypatch.setattr(meaning, "_vectors", missing)
    with Session("t") as session:
        session.append(*talk(70))
        assert session.search("the parcel for Dana", 1)[0].position == 3
    with pytest.raises(MissingExtraError):
        Session("u", vectors=True)
