"""What docs/stores.md tells of back-ups: each is taken while a session goes on, and opens."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import closing

import psycopg
import pytest

from holdfast import upkeep
from holdfast.session import Session
from holdfast.stores import open_store
from holdfast.stores.artifacts import ArtifactStore
from holdfast.stores.wrappers import RoutedStore
from tests.servers.programs import Postgres, Redis

CALL = {"id": "c", "type": "function", "function": {"name": "logs", "arguments": "{}"}}


def turn(number):
    """An exchange with an output of a tool that a view shortens."""
    call = {**CALL, "id": f"c{number}"}
    lines = "\n".join(f"{number} ERROR host-{n} timed out after {n * 7} ms" for n in range(200))
    return [
        {"role": "user", "content": f"Look at the log of srv-{number}."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": lines},
    ]


TURNS = [message for number in range(4) for message in turn(number)]


class Talk:
    """A session that goes on while its store is backed up."""

    def __init__(self, store):
        self._store, self._session = store, Session("t", store=store, budget=900)
        self.go_on(0, 4)

    def go_on(self, first, last):
        for number in range(first, last):
            self._session.append(*turn(number))
            self._session.fit()

    def originals(self):
        names = ArtifactStore(self._store).references()
        return {name: self._session.recall(name) for name in names}

    def close(self):
        self._session.close()


def is_whole(store, artifacts):
    """Whether the store has the thread as it was at the back-up, and all of its originals."""
    assert upkeep.check(store) == []
    with Session("t", store=store, budget=900) as session:
        assert session.restore()[:12] == TURNS
        assert session.search("srv-2")[0].position == 6
        session.append(*turn(9))
        assert session.fit().budget_met
        assert artifacts
        assert {name: session.recall(name) for name in artifacts} == artifacts
    return True


@pytest.fixture
def another():
    """Makes another server on the back-up of one."""
    made = []

    def make(kind):
        made.append(kind())
        return made[-1]

    yield make
    for server in made:
        server.end()


def test_a_dump_of_postgres_and_then_the_bucket_make_a_store(postgres, postgres_url, s3, tmp_path):
    bucket, copy = (open_store(s3.url(f"bucket/backup_{which}")) for which in ("a", "b"))
    with (
        closing(open_store(postgres_url)) as database,
        closing(Talk(RoutedStore(database, bucket))) as talk,
    ):
        dump = tmp_path / "holdfast.dump"
        subprocess.run(["pg_dump", "-Fc", "-f", dump, postgres_url], check=True)
        held = talk.originals()
        talk.go_on(4, 6)
        for key in bucket.keys():  # noqa: SIM118 - a store is no dictionary
            copy.set_bytes(key, bucket.get_bytes(key))
        assert len(copy.keys()) > len(held)
    fresh = f"{postgres_url}_again"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {fresh.rpartition('/')[2]}")
    subprocess.run(["pg_restore", "-d", fresh, dump], check=True)
    with closing(open_store(fresh)) as database:
        store = RoutedStore(database, copy)
        assert store.log("messages:t").length() == 12
        assert is_whole(store, held)


def test_a_base_backup_of_postgres_starts_as_a_store(postgres, postgres_url, another):
    with closing(open_store(postgres_url)) as store, closing(Talk(store)) as talk:
        held = talk.originals()
        spare = another(Postgres)
        shutil.rmtree(spare.data)
        spare.run("pg_basebackup", "-d", postgres.url, "-D", spare.data, "-c", "fast")
        talk.go_on(4, 6)
    spare.start()
    place = f"{spare.url.rpartition('/')[0]}/{postgres_url.rpartition('/')[2]}"
    with closing(open_store(place)) as store:
        assert is_whole(store, held)


def test_a_copy_of_the_append_only_file_of_redis_starts_as_a_store(another):
    first, spare = another(Redis).start(), another(Redis)
    with closing(open_store(first.url)) as store, closing(Talk(store)) as talk:
        held = talk.originals()
        shutil.copytree(first.folder, spare.folder, dirs_exist_ok=True)
        talk.go_on(4, 6)
    spare.start()
    with closing(open_store(spare.url)) as store:
        assert is_whole(store, held)
