"""Threads are copied between stores with logs and stores of keys alone, and open on each side."""

from __future__ import annotations

import pytest

from holdfast import upkeep
from holdfast.kernel.errors import ConfigError
from holdfast.session import Session
from holdfast.stores.artifacts import ArtifactStore, to_armour
from holdfast.stores.encrypt import EncryptedStore
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.key_logs import LogsOverKeys
from holdfast.stores.objects import ObjectStore
from holdfast.stores.protocols import Line
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.wrappers import PrefixStore
from holdfast.threads import ThreadStore
from tests.stores.copies import copied
from tests.stores.doubles import TextStore

OUTPUT = "\n".join(f"2026-05-0{n % 9 + 1} ERROR host-{n} timed out" for n in range(400))
CALL = {"id": "c1", "type": "function", "function": {"name": "logs", "arguments": "{}"}}


class ListedTexts(TextStore):
    """Texts by key, of which a list can be had."""

    def keys(self, prefix=""):
        return sorted(key for key in self.entries if key.startswith(prefix))


@pytest.fixture(params=["files", "texts", "encrypted files"])
def keys_alone(request, tmp_path):
    if request.param == "texts":
        return ListedTexts()
    files = ObjectStore.in_folder(tmp_path / "objects")
    return EncryptedStore.unlock(files, bytes(32)) if "encrypted" in request.param else files


@pytest.fixture
def database(tmp_path):
    with SqliteStore(tmp_path / "a.db") as store:
        yield store


def spaces(store):
    """The store, and the namespaces of two tenants in it."""
    return [store, PrefixStore(store, "acme"), PrefixStore(PrefixStore(store, "a:b"), "messages x")]


def talked(store):
    """The store with a thread in each of its namespaces; their views have left originals out."""
    for number, space in enumerate(spaces(store)):
        with Session("talk: 1", store=space, budget=900) as session:
            session.append({"role": "user", "content": f"My name is Ada{number}. Read the log."})
            session.append({"role": "assistant", "content": None, "tool_calls": [CALL]})
            session.append({"role": "tool", "tool_call_id": "c1", "content": OUTPUT + f"{number}"})
            session.append({"role": "user", "content": "The port is 8080 \ud83d\ude00."}, ids=["p"])
            session.edit("p", {"role": "user", "content": "The port of the gateway is 9443."})
            session.remember("Ada prefers short answers.")
            session.fit()
    LogsOverKeys.over(store).log("of another: program").append([Line("a line", "one", 3.5)])
    return store


def known(store):
    """All that the threads of the store and its namespaces can tell."""
    told = []
    for space in spaces(store):
        with Session("talk: 1", store=space, budget=900) as session:
            found = session.search("gateway")
            shown = [(each.position, each.score) for each in found]
            parts = session.restore(), session.history(), session.facts(), session.notes(), shown
            names = ArtifactStore(space).references()
            told.append((*parts, {name: session.recall(name) for name in names}))
    return told


def held(store):
    logs = LogsOverKeys.over(store)
    return {name: logs.log(name).read(range(999)) for name in logs.logs()}


def test_threads_of_a_database_open_in_a_store_of_keys_and_come_back(database, keys_alone):
    before = known(talked(database))
    assert before[0][3]
    assert before[0][5]
    copied(database, keys_alone)
    assert held(keys_alone) == held(database)
    assert known(keys_alone) == before
    back = InProcessStore()
    copied(keys_alone, back)
    assert held(back) == held(database)
    assert back.keys() == database.keys()
    assert known(back) == before


def test_threads_of_a_store_of_keys_open_in_a_database(keys_alone, database):
    before = known(talked(keys_alone))
    copied(keys_alone, database)
    assert "log:" not in repr(database.keys())
    assert "acme:messages:talk: 1" in database.logs()
    assert known(database) == before


def test_what_came_since_follows_and_a_thread_of_its_own_is_not_copied_into(database, keys_alone):
    copied(talked(database), keys_alone)
    with Session("talk: 1", store=database) as session:
        session.append({"role": "user", "content": "late"})
    moved = upkeep.copy(database, keys_alone)
    assert moved.new_lines == 1
    with Session("talk: 1", store=keys_alone) as session:
        assert session.restore()[-1] == {"role": "user", "content": "late"}
        session.append({"role": "user", "content": "mine"})
    database.log("messages:talk: 1").append([Line("theirs")])
    with pytest.raises(ConfigError, match="holds something else; copy into a store that is new"):
        upkeep.copy(database, keys_alone)


def test_an_export_of_a_store_of_keys_is_imported_anywhere(keys_alone, database, tmp_path):
    before = known(talked(keys_alone))
    lines = list(upkeep.exported(keys_alone))
    other = ObjectStore.in_folder(tmp_path / "other")
    for target in (database, other):
        upkeep.imported(lines[:5], target)
        upkeep.imported(lines, target)
        assert known(target) == before


def test_a_thread_and_a_tenant_are_erased_in_a_store_of_keys(tmp_path):
    files = ObjectStore.in_folder(tmp_path / "objects")
    before = known(talked(files))
    assert upkeep.erase_thread(files, "talk: 1").logs == 2
    gone = upkeep.erase_tenant(files, "acme")
    assert gone.logs == 2
    assert files.keys("acme:") == []
    assert ThreadStore(files).threads() == []
    left = known(files)
    assert (left[0][0], left[1][0], left[2]) == ([], [], before[2])


def test_a_check_names_the_damaged_log_of_a_store_of_keys_and_reads_on():
    store = talked(ListedTexts())
    store.set("acme:log:0:messages:talk: 1", "no lines")
    (found,) = upkeep.check(store)
    assert "acme:log:0:messages:talk: 1" in found


def test_a_damaged_thread_is_erased_with_what_stands_behind_the_damage():
    store, fresh = talked(ListedTexts()), talked(ListedTexts())
    store.set("log:1:messages:talk: 1", "no lines")
    ThreadStore(store).delete_thread("talk: 1")
    upkeep.erase_thread(fresh, "talk: 1")
    assert len(store.keys()) == len(fresh.keys())
    assert store.keys("log:") == ["log:0:of another: program"]
    assert len(store.keys("acme:log:")) > 2


def test_an_original_that_was_stored_as_text_among_bytes_is_read(tmp_path):
    files = ObjectStore.in_folder(tmp_path / "objects")
    artifacts = ArtifactStore(files)
    for content in (OUTPUT, "short", ""):
        key = f"content_{artifacts.put(content).reference}"
        files.set(key, to_armour(files.get_bytes(key)))
        assert artifacts.get(key) == content
    assert upkeep.check(files) == []
