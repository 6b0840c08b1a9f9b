from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.kernel.errors import ConfigError
from holdfast.stores import STORES, open_store
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.sqlite import SqliteStore
from tests.stores.doubles import AwaitedTextStore, TextStore


@pytest.mark.parametrize("store", [TextStore(), AwaitedTextStore(), InProcessStore()])
def test_an_object_that_is_a_store_is_taken_as_it_is(store):
    assert open_store(store) is store


def test_a_memory_url_names_one_store_of_the_process():
    open_store("memory://").set("test_open_store", "default")
    open_store("memory://agent 1").set("test_open_store", "named")
    assert open_store("MEMORY://").get("test_open_store") == "default"
    assert open_store("memory://agent 1").get("test_open_store") == "named"
    assert open_store("memory://agent 2").get("test_open_store") is None


def test_three_slashes_name_a_relative_file_and_four_an_absolute_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open_store("sqlite:///near.db") as near, open_store(f"sqlite:///{tmp_path}/far.db") as far:
        near.set("k", "near")
        far.set("k", "far")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["far.db", "near.db"]
    with SqliteStore(tmp_path / "near.db") as again:
        assert again.get("k") == "near"


def test_opening_by_url_touches_no_file(tmp_path):
    open_store(f"sqlite:///{tmp_path}/later.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("", "store: '' is not a URL; a file is written 'sqlite:///agent.db'"),
        ("agent.db", "store: 'agent.db' is not a URL; a file is written 'sqlite:///agent.db'"),
        (
            "sqlite://agent.db",
            "store: 'sqlite://agent.db' names no file; write 'sqlite:///file.db'",
        ),
        ("sqlite:///", "store: 'sqlite:///' names no file; write 'sqlite:///file.db'"),
        ("sqlite:///:memory:", "store: a sqlite store is a file; for memory write 'memory://'"),
        (
            "sqlite:///a.db?mode=ro",
            "store: 'sqlite:///a.db?mode=ro' has options, which a sqlite URL does not take",
        ),
        (
            "sqlit:///a.db",
            "there is no store named 'sqlit'; did you mean 'sqlite'? known are memory, sqlite",
        ),
        (
            "redis://:secret@host:6379/0",
            "there is no store named 'redis'; known are memory, sqlite",
        ),
        (
            "postgresql://u:secret@host/db",
            "there is no store named 'postgresql'; known are memory, sqlite",
        ),
        ("s3://bucket/prefix", "there is no store named 's3'; known are memory, sqlite"),
        (None, "store: a NoneType is not a store; give a URL such as 'sqlite:///agent.db'"),
        (Path("agent.db"), "is not a store; give a URL such as 'sqlite:///agent.db'"),
        ({}, "store: a dict is not a store; give a URL such as 'sqlite:///agent.db'"),
        (InProcessStore, "store: the class InProcessStore is not a store; give a URL"),
    ],
)
def test_what_is_no_store_is_refused_in_one_line_that_says_what_to_do(spec, line):
    with pytest.raises(ConfigError) as refused:
        open_store(spec)
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "secret" not in str(refused.value)


def test_every_name_of_the_table_stands_for_a_class_with_from_url():
    assert all(callable(STORES.load(name).from_url) for name in STORES.table)
