"""An erased thread or tenant, searched byte by byte in all that a server has of the store."""

from __future__ import annotations

import re
from contextlib import closing

import obstore
import psycopg
import pytest
from psycopg import sql
from redis import Redis

from holdfast import upkeep
from holdfast.session import Session
from holdfast.stores import open_store
from holdfast.stores.artifacts import ArtifactStore
from holdfast.stores.protocols import Compacts
from holdfast.stores.wrappers import PrefixStore

CALL = {"id": "c1", "type": "function", "function": {"name": "logs", "arguments": "{}"}}

_TABLES = """SELECT c.relname, pg_relation_filepath(c.oid), relkind
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
WHERE relkind IN ('r', 'i', 't') AND nspname IN ('public', 'pg_toast')"""


def pages(postgres, connection):
    """The files of all tables and indexes of the database, byte by byte."""
    connection.execute("CHECKPOINT")
    files = connection.execute(_TABLES).fetchall()
    return b"".join((postgres.data / file).read_bytes() for _, file, _ in files)


def rows(connection):
    """Every row of every table of the database."""
    found = {}
    for table, _, kind in connection.execute(_TABLES).fetchall():
        if kind == "r" and table.startswith("holdfast_"):
            asked = sql.SQL("SELECT * FROM {}").format(sql.Identifier(table))
            for row in connection.execute(asked, binary=True):
                cells = [cell if isinstance(cell, bytes) else repr(cell).encode() for cell in row]
                found[table, *cells] = b" ".join(cells)
    return found


def entries(client, prefix):
    """Every key of the server with this prefix, with all that it has.

    The answers to appends are left out, which are positions alone, and expire.
    """
    reads = {
        b"string": client.get,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"hash": client.hgetall,
        b"zset": lambda key: client.zrange(key, 0, -1, withscores=True),
        b"set": client.smembers,
    }
    found = {key: reads[client.type(key)](key) for key in client.scan_iter(prefix + "*")}
    passing = {key for key in found if client.ttl(key) > 0}
    assert all(re.fullmatch(rb"[][{}0-9,]*", found[key]) for key in passing)
    return {key: repr(value).encode() for key, value in found.items() if key not in passing}


@pytest.fixture(params=["postgres", "redis", "s3"])
def place(request):
    """The store of a server, and a function that reads all that the server has of it."""
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_url")
        with psycopg.connect(url, autocommit=True) as connection, closing(open_store(url)) as store:
            yield store, lambda: rows(connection)
    elif request.param == "redis":
        url = request.getfixturevalue("redis_url")
        plain, _, prefix = url.partition("?prefix=")
        with Redis.from_url(plain) as client, closing(open_store(url)) as store:
            yield store, lambda: entries(client, prefix)
    else:
        store = open_store(request.getfixturevalue("s3_url"))
        yield (
            store,
            lambda: {
                each["path"]: bytes(obstore.get(store._objects, each["path"]).bytes())
                for some in obstore.list(store._objects)
                for each in some
            },
        )


def talked(store, thread, word):
    """A thread in which the word is said, shortened, edited, noted and looked for."""
    lines = "\n".join(f"2026-05-0{n % 9 + 1} ERROR host-{n} {word} timed out" for n in range(400))
    with Session(thread, store=store, budget=900) as session:
        session.append(
            {"role": "user", "content": f"Look for the {word}."},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": lines},
        )
        session.fit()
        assert ArtifactStore(store).references()
        session.append(
            {"role": "user", "content": f"The port of {word} is 8080."},
            *({"role": "user", "content": f"{word} number {n}. " * 9} for n in range(40)),
            ids=[f"{word}-{n}" for n in range(41)],
        )
        session.edit(3, {"role": "user", "content": f"The port of {word} is 9443."})
        session.remember(f"Ada likes the {word}.")
        session.fit()
        assert session.search(word)
    if isinstance(store, Compacts):
        store.compact()  # as an erasure does, so that it changes nothing of the others


def bytes_of(held):
    return b"".join(repr(name).encode() + value for name, value in held.items())


def test_of_an_erased_thread_a_server_has_what_it_had_before_and_no_byte_more(place):
    store, dump = place
    talked(store, "kept", "marmalade")
    before = dump()
    talked(store, "talk of xylograph", "xylograph")
    assert b"xylograph" in bytes_of(dump())
    upkeep.erase_thread(store, "talk of xylograph")
    assert dump() == before


def test_of_an_erased_tenant_a_server_has_what_it_had_before_and_no_byte_more(place):
    store, dump = place
    talked(PrefixStore(store, "umbra"), "talk", "marmalade")
    talked(store, "talk", "marmalade")
    before = dump()
    for thread in ("talk", "two"):
        talked(PrefixStore(store, "xylograph"), thread, "xylograph")
    assert b"xylograph" in bytes_of(dump())
    upkeep.erase_tenant(store, "xylograph")
    assert dump() == before


def test_after_a_full_vacuum_no_file_of_a_table_has_a_byte_of_an_erased_thread(
    postgres, postgres_url
):
    with (
        psycopg.connect(postgres_url, autocommit=True) as connection,
        closing(open_store(postgres_url)) as store,
    ):
        talked(store, "kept", "marmalade")
        talked(store, "talk of xylograph", "xylograph")
        assert b"xylograph" in pages(postgres, connection)
        gone = upkeep.erase_thread(store, "talk of xylograph")
        assert "VACUUM FULL" in gone.leftovers
        connection.execute("VACUUM FULL")
        held = pages(postgres, connection)
        assert b"xylograph" not in held
        assert b"marmalade" in held
