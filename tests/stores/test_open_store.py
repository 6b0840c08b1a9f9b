from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from holdfast.kernel.errors import ConfigError
from holdfast.stores import STORES, open_store
from holdfast.stores.artifacts import ArtifactStore
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.protocols import Line
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
            "there is no store named 'sqlit'; did you mean 'sqlite'? known are az, file, "
            "gs, memory, ",
        ),
        (
            "mongodb://u:secret@host/db",
            "there is no store named 'mongodb'; known are az, file, gs, memory, ",
        ),
        (
            "redis://:secret@/0",
            "store: 'redis:///0' names no host; write 'redis://host:6379/0'",
        ),
        (
            "postgresql://u:secret@host",
            "store: 'postgresql://host' names no database; write 'postgresql://user@host/database'",
        ),
        ("s3://", "store: 's3://' names no bucket; write 's3://bucket/prefix'"),
        ("redis://bob:pw@[::1/0", "store: 'redis://[::1/0' is not a URL: Invalid IPv6 URL; check"),
        ("sqlite://bob:pw@host", "store: 'sqlite://host' names no file"),
        ("file://host/folder", "store: 'file://host/folder' names no folder; write 'file:///var"),
        ("memory://a?artifacts=nothing", "store: 'nothing' is not a URL; a file is written"),
        (None, "store: null is not a store; give a URL such as 'sqlite:///agent.db'"),
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


def test_a_folder_keeps_artifacts_as_files_and_the_rest_in_one(tmp_path):
    place = tmp_path / "a folder"
    with closing(open_store(f"file://{place}".replace(" ", "%20"))) as store:
        assert not place.exists()
        store.set("k", "v")
        kept = ArtifactStore(store).put("line\n" * 1_000)
        store.log("talk").append([Line("said")])
    with closing(open_store(f"file://{place}".replace(" ", "%20"))) as again:
        assert (again.get("k"), again.log("talk").length()) == ("v", 1)
        assert ArtifactStore(again).get(kept.reference) == "line\n" * 1_000
    files = [path.name for path in (place / "artifacts").iterdir()]
    assert files == [f"content_{kept.reference}"]
    assert place.stat().st_mode & 0o077 == 0


def test_a_tenant_of_a_url_sees_what_is_its_own():
    everyone = open_store("memory://of-tenants")
    acme, other = (open_store(f"memory://of-tenants?tenant={name}") for name in ("acme+1", "b"))
    acme.set("k", "v")
    acme.log("talk").append([Line("said")])
    assert (other.get("k"), other.keys(), other.logs()) == (None, [], [])
    assert (everyone.keys(), everyone.logs()) == (["acme 1:k"], ["acme 1:talk"])


def test_artifacts_of_a_url_go_where_it_says():
    store = open_store("memory://keys?artifacts=memory%3A%2F%2Fartifacts&tenant=acme")
    store.set("k", "v")
    kept = ArtifactStore(store).put("text")
    assert open_store("memory://keys").keys() == ["acme:k"]
    assert open_store("memory://artifacts").keys() == [f"acme:content_{kept.reference}"]
