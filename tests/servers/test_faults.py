"""What was acknowledged is there once, whoever is killed and however the network fails."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from holdfast.kernel.errors import StoreError
from holdfast.session import Session
from holdfast.stores import open_store, postgres_database, redis
from holdfast.stores.postgres import PostgresStore
from holdfast.stores.protocols import Line
from holdfast.stores.redis import RedisStore
from tests.servers.programs import Postgres, Redis
from tests.servers.unreliable import Network

WRITER = Path(__file__).parent / "scripts" / "writer.py"
CLIENTS = int(os.environ.get("HOLDFAST_KILLS", "6"))
SERVERS = max(2, CLIENTS // 10)
KINDS = ["postgres", "redis"]


@pytest.fixture(params=KINDS)
def url(request):
    return request.getfixturevalue(f"{request.param}_url")


def bodies(url, thread):
    with Session(thread, store=url, budget=2_000) as session:
        return [message["content"] for message in session.restore()]


def test_clients_that_are_killed_lose_nothing_that_was_acknowledged(url):
    chance = random.Random(CLIENTS)
    acknowledged = []
    for number in range(CLIENTS):
        command = [sys.executable, str(WRITER), url, "talk", f"w{number}", "100000"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            for _ in range(chance.randint(1, 12)):
                acknowledged.append(writer.stdout.readline().strip())
            writer.kill()
            acknowledged += [line.strip() for line in writer.stdout if line.endswith("\n")]
    kept = bodies(url, "talk")
    assert len(kept) == len(set(kept))
    assert set(acknowledged) <= set(kept)
    assert len(kept) - len(set(acknowledged)) <= CLIENTS, "at most the one under way of each"


@pytest.mark.parametrize("kind", [Postgres, Redis])
def test_servers_that_are_killed_lose_nothing_that_was_acknowledged(kind, monkeypatch):
    """Who writes waits for the server however long it takes to recover on a busy machine."""
    monkeypatch.setattr(redis, "_TRIES", 10**6)
    opened = {Postgres: partial(PostgresStore, patience=math.inf), Redis: RedisStore.from_url}
    server = kind().start()
    stores, logs = [], {}
    acknowledged, ended = [], threading.Event()

    def write(name):
        log, number = logs[name], 0
        while not ended.is_set():
            log.append([Line(f"{name}-{number}")])
            acknowledged.append(f"{name}-{number}")
            number += 1

    try:
        for name in "abcd":
            stores.append(opened[kind](server.url))
            logs[name] = stores[-1].log("talk")
            logs[name].length()  # the schema is there before a server is killed
        with ThreadPoolExecutor(4) as pool:
            writers = [pool.submit(write, name) for name in logs]
            for _ in range(SERVERS):
                before = len(acknowledged)
                while len(acknowledged) < before + 20 and not any(map(Future.done, writers)):
                    time.sleep(0.01)
                server.kill()
                server.start()
            ended.set()
            for writer in writers:
                writer.result()
        log = logs["a"]
        kept = [line.body for line in log.read(range(log.length())).values()]
        assert Counter(kept) == Counter(acknowledged)
    finally:
        ended.set()
        for store in stores:
            store.close()
        server.end()


@pytest.mark.parametrize(
    "fails", [{"cuts": 0.05}, {"waits": 0.01}, {"cuts": 0.03, "waits": 0.005}], ids=str
)
def test_on_a_network_that_fails_each_line_is_kept_once(url, fails):
    port = urlsplit(url).port
    network = Network(port)
    far = url.replace(f":{port}", f":{network.port}")

    def write(name):
        store = open_store(far)
        store.get("reached")
        started.wait()
        log = store.log("talk")
        return [log.append([Line(f"{name}-{n}", words=name)])[0] for n in range(25)]

    started = threading.Barrier(4, action=lambda: vars(network).update(fails))
    with ThreadPoolExecutor(4) as pool:
        places = [place for some in pool.map(write, "abcd") for place in some]
    network.close()
    log = open_store(url).log("talk")
    assert sorted(places) == list(range(100))
    assert log.length() == 100
    assert len({line.body for line in log.read(range(100)).values()}) == 100
    assert network.cut or not fails.get("cuts")


def test_sixteen_writers_on_one_thread_lose_nothing_and_each_keeps_its_order(url):
    def write(name):
        with Session("talk", store=url, budget=2_000) as session:
            for number in range(10):
                session.append({"role": "user", "content": f"{name}-{number}"})

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(write, "abcdefghijklmnop"))
    kept = bodies(url, "talk")
    assert len(kept) == 160
    for name in "abcdefghijklmnop":
        own = [each for each in kept if each.startswith(f"{name}-")]
        assert own == [f"{name}-{number}" for number in range(10)]


def test_a_server_that_is_not_there_is_told_at_once_in_one_line():
    for url in ("postgresql://u:secret@127.0.0.1:1/db", "redis://:secret@127.0.0.1:1/0"):
        with pytest.raises(StoreError, match=r"store (postgresql|redis)://127\.0\.0\.1:1/") as told:
            open_store(url).get("k")
        assert "\n" not in str(told.value)
        assert "secret" not in str(told.value)


def test_a_migration_that_is_killed_leaves_the_schema_and_all_data_as_they_were(
    postgres_url, monkeypatch
):
    store = PostgresStore(postgres_url)
    store.set("k", "v")
    store.log("talk").append([Line("said", words="needle")])
    steps = postgres_database.STEPS
    slow = "CREATE TABLE later (); SELECT pg_sleep(60)"
    monkeypatch.setattr(postgres_database, "STEPS", (*steps, slow))
    with ThreadPoolExecutor(1) as pool:
        migrating = pool.submit(PostgresStore(postgres_url).migrate)
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = %s"
            while admin.execute(end, (slow,)).fetchone() is None:
                time.sleep(0.01)
        with pytest.raises(StoreError):
            migrating.result()
    monkeypatch.setattr(postgres_database, "STEPS", (*steps, "CREATE TABLE later ()"))
    again = PostgresStore(postgres_url)
    assert again.migrate() == 1
    assert again.migrate() == 0
    assert again.get("k") == "v"
    assert list(again.log("talk").search(["needle"], 1)) == [0]
    monkeypatch.setattr(postgres_database, "STEPS", steps)
    with pytest.raises(StoreError, match="written by a newer Holdfast"):
        PostgresStore(postgres_url).get("k")
