from __future__ import annotations

import io
import json
import re

import pytest

from holdfast import upkeep
from holdfast.cli import main
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.session import Session
from holdfast.stores.artifacts import ArtifactStore
from holdfast.stores.encrypt import EncryptedStore
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.key_logs import LogsOverKeys
from holdfast.stores.objects import ObjectStore
from holdfast.stores.protocols import Line
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.wrappers import PrefixStore
from tests.stores.doubles import TextStore

TALK = [
    {"role": "user", "content": "Which pool_size has the worker? \ud83d\ude00"},
    {"role": "assistant", "content": "The worker has 40 connections."},
    {"role": "user", "content": "And the scheduler?"},
]


def filled(store):
    store.put_if_absent("secret", "5e" * 32)
    with Session("thread: 1", store=store, budget=500) as session:
        session.append(*TALK, ids=["a", "b", "c"])
        session.edit(1, {"role": "assistant", "content": "The worker has 64 sockets."})
    store.set_bytes("bytes", b"\xff\x00")
    ArtifactStore(store).put("kept\n" * 100)
    PrefixStore(store, "acme").log("messages:two").append(
        [Line('{"role":"user","content":"zebra"}')]
    )
    return store


def held(store):
    listed = store.keys()
    keys = {key: store.get_bytes(key) for key in listed}
    logs = {name: store.log(name).read(range(99)) for name in store.logs()}
    return keys, logs


@pytest.fixture
def source():
    return filled(InProcessStore())


@pytest.fixture
def target(tmp_path):
    with SqliteStore(tmp_path / "copy.db") as store:
        yield store


def test_a_copy_is_exact_and_found_by_the_same_words(source, target):
    moved = upkeep.copy(source, target)
    assert held(target) == held(source)
    assert (moved.new_keys, moved.new_lines) == (moved.keys, moved.lines)
    with Session("thread: 1", store=target, budget=500) as session:
        assert session.restore() == TALK
        assert session.search("sockets")
    assert list(target.log("messages:thread: 1").search(["pool size"], 9)) == [0]
    assert list(target.log("acme:messages:two").search(["zebra"], 9)) == [0]


def test_a_copy_goes_on_where_it_was_and_a_second_one_brings_what_came_since(source, target):
    class EndedError(Exception):
        pass

    def ends(done):
        if done > 3:
            raise EndedError

    with pytest.raises(EndedError):
        upkeep.copy(source, target, ends)
    assert held(target) != held(source)
    upkeep.copy(source, target)
    assert held(target) == held(source)
    source.log("messages:thread: 1").append([Line('{"role":"user","content":"late"}')])
    source.set("k", "new")
    moved = upkeep.copy(source, target)
    assert (moved.new_keys, moved.new_lines) == (1, 1)
    assert held(target) == held(source)


def test_a_store_with_a_thread_of_its_own_is_not_copied_into(source, target):
    target.log("messages:thread: 1").append([Line("mine")])
    with pytest.raises(ConfigError, match="the target: .* holds something else; copy into a store"):
        upkeep.copy(source, target)
    assert target.log("messages:thread: 1").read(range(9)) == {0: Line("mine")}


def test_a_store_with_another_secret_is_not_copied_into(source, target):
    target.set("secret", "another")
    with pytest.raises(ConfigError, match="has a secret of its own"):
        upkeep.copy(source, target)
    assert target.get("secret") == "another"


def test_a_store_becomes_an_encrypted_one_by_a_copy_and_back(source, target, tmp_path):
    (reference,) = ArtifactStore(source).references()
    with SqliteStore(tmp_path / "a.db") as beneath:
        locked = EncryptedStore.unlock(beneath, bytes(32))
        upkeep.copy(source, locked)
        assert upkeep.copy(source, locked).new_keys == 0
        assert upkeep.check(locked) == []
        assert locked.get("secret") == source.get("secret")
        assert ArtifactStore(locked).get(reference) == "kept\n" * 100
        upkeep.copy(locked, target)
        assert held(target) == held(source)
        target = locked
        assert list(target.log("messages:thread: 1").search(["pool size"], 9)) == [0]


def test_what_is_exported_is_imported_as_it_was(source, target):
    lines = list(upkeep.exported(source))
    assert all(line.isascii() for line in lines)
    upkeep.imported(lines[:5], target)
    moved = upkeep.imported(lines, target)
    assert moved.new_keys < moved.keys
    assert held(target) == held(source)
    assert list(target.log("messages:thread: 1").search(["pool size"], 9)) == [0]


MOMENTLESS = '{"log":"l","at":0,"id":"","body":"","time":1%s}' % ("0" * 400)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "parts": [{"text": "The gateway has port 8443."}]},
        {"role": "user", "content": [{"text": "The gateway has port 8443."}]},
    ],
)
def test_of_a_thread_that_is_open_the_copy_is_found_by_the_same_words(target, message):
    source = InProcessStore()
    session = Session("t", store=source)
    session.append(message)
    upkeep.copy(source, target)
    assert list(target.log("messages:t").search(["gateway"], 9)) == [0]
    session.close()


@pytest.mark.parametrize(
    "line",
    ["[]", "{", '{"key":"k","value":"not base64!"}', '{"key":1}', "[" * 100_000, MOMENTLESS],
)
def test_what_was_never_exported_is_refused_with_its_line(source, line):
    with pytest.raises(
        InputError, match=r"^line 2: not an export \(.*\); give what store export wrote$"
    ):
        upkeep.imported([json.dumps({"key": "k", "value": ""}), line], InProcessStore())


def test_a_check_reads_everything_and_names_what_is_damaged(source):
    assert upkeep.check(source) == []
    (content,) = source.keys("content_")
    source.set_bytes(content, source.get_bytes(content)[:-1] + b"?")
    assert (
        upkeep.check(source)
        == [
            f"the artifact {content.removeprefix('content_')!r} is damaged: "
            "it cannot be decompressed"
        ]
        or "is damaged" in upkeep.check(source)[0]
    )


@pytest.mark.parametrize("secret", ["", "5e" * 32], ids=["open", "signed"])
@pytest.mark.parametrize("tenant", ["", "acme"])
def test_a_check_finds_a_damaged_artifact_whatever_its_reference_and_namespace(secret, tenant):
    store = InProcessStore()
    space = PrefixStore(store, tenant) if tenant else store
    artifacts = ArtifactStore(space, secret)
    kept = [artifacts.put(text * 100) for text in ("one", "two")]
    assert upkeep.check(store) == []
    (name,) = filter(re.compile(kept[0].reference).search, store.keys())
    store.set_bytes(name, store.get_bytes(name)[:-4])
    (found,) = upkeep.check(store)
    assert found.startswith(f"the artifact {kept[0].reference!r} is damaged")


def test_a_check_finds_an_artifact_under_the_reference_of_another():
    store = InProcessStore()
    one, two = (ArtifactStore(store).put(text).reference for text in ("one", "two"))
    store.set_bytes(f"content_{one}", store.get_bytes(f"content_{two}"))
    assert upkeep.check(store) == [f"the artifact {one!r} is damaged: it is another content"]


def test_of_an_erased_thread_nothing_is_left_and_all_of_the_others():
    store = filled(InProcessStore())
    secret = store.get("secret")
    assert secret
    with Session("other", store=store, budget=500) as session:
        session.append({"role": "user", "content": "stay"})
    long = [{"role": "user", "content": f"{n} " + "word " * 400} for n in range(20)]
    with Session("thread: 1", store=store, budget=2_000) as session:
        session.append(*long)
        session.fit()
    before = held(store)
    gone = upkeep.erase_thread(store, "thread: 1")
    keys, logs = held(store)
    assert gone.logs == 2
    assert not any("thread: 1" in name or "thread%3A 1" in name for name in (*keys, *logs))
    assert {"secret", "bytes", "session:other"} <= keys.keys()
    assert logs["messages:other"] == before[1]["messages:other"]
    assert "acme:messages:two" in logs
    with Session("thread: 1", store=store, budget=500) as session:
        assert session.restore() == []


def test_an_erased_tenant_is_gone_and_no_other(source):
    acme, other = (PrefixStore(source, name) for name in ("acme", "acme2"))
    for tenant in (acme, other):
        filled(tenant)
    before = held(other)
    gone = upkeep.erase_tenant(source, "acme")
    assert (acme.keys(), acme.logs()) == ([], [])
    assert held(other) == before
    assert gone.keys > 0
    assert gone.logs == 4


@pytest.mark.parametrize("used", [False, True])
def test_a_tenant_that_shares_keys_of_the_store_is_not_erased(source, used):
    if used:
        source.set("messages:secret", "0")
    before = held(source)
    with pytest.raises(ConfigError, match="'messages' is how keys of the store itself begin; open"):
        upkeep.erase_tenant(source, "messages")
    assert held(source) == before


def test_an_erased_thread_leaves_the_tenant_that_is_named_like_its_keys(source):
    tenant = PrefixStore(source, "thread_two")
    filled(tenant)
    before = held(tenant)
    upkeep.erase_thread(source, "two")
    assert held(tenant) == before


def test_of_an_erased_tenant_no_byte_is_left_in_a_file(tmp_path):
    with SqliteStore(tmp_path / "a.db") as store:
        for name in ("acme", "umbra"):
            with Session("talk", store=PrefixStore(store, name), budget=500) as session:
                session.append({"role": "user", "content": f"{name}secret is here " * 40})
                session.append({"role": "user", "content": f"More of {name}secret " * 400})
                session.fit()
        upkeep.erase_tenant(store, "acme")
        held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        assert b"acme" not in held
        assert b"umbrasecret" in held
        with Session("talk", store=PrefixStore(store, "umbra"), budget=500) as session:
            assert session.search("umbrasecret")


@pytest.mark.parametrize("wrapped", [False, True])
def test_erasing_tells_what_may_be_left_elsewhere(wrapped, tmp_path):
    with SqliteStore(tmp_path / "a.db") as file:
        store = PrefixStore(file, "acme") if wrapped else file
        assert upkeep.erase_thread(store, "thread: 1").leftovers == "copies of the file"
    assert upkeep.erase_thread(InProcessStore(), "thread: 1").leftovers == ""


def test_what_remains_is_told_through_logs_over_keys(tmp_path):
    bucket = ObjectStore.in_folder(tmp_path)
    gone = upkeep.erase_thread(LogsOverKeys.over(bucket), "thread: 1")
    assert gone.leftovers == bucket.leftovers


def test_an_erased_thread_leaves_tenants_and_other_logs_their_words(tmp_path):
    with SqliteStore(tmp_path / "a.db") as store:
        filled(store)
        store.log("of another program").append([Line("kept", words="needle")])
        upkeep.erase_thread(store, "thread: 1")
        assert list(store.log("of another program").search(["needle"], 9)) == [0]


def test_a_store_that_cannot_is_told(source):
    with pytest.raises(ConfigError, match="a TextStore cannot list its keys; give a store of"):
        upkeep.copy(TextStore(), source)


class TestCommands:
    @pytest.fixture
    def url(self, tmp_path):
        filled(SqliteStore(tmp_path / "a.db")).close()
        return f"sqlite:///{tmp_path}/a.db"

    def test_check_migrate_compact_and_copy(self, url, tmp_path, capsys):
        assert main(["store", "check", url]) == 0
        assert main(["store", "migrate", url]) == 0
        assert main(["store", "compact", url]) == 0
        other = f"sqlite:///{tmp_path}/b.db"
        assert main(["store", "copy", url, other]) == 0
        assert main(["store", "copy", url, other]) == 0
        told = capsys.readouterr().err.splitlines()
        assert told[-1].endswith("0 of them new.")
        with SqliteStore(tmp_path / "a.db") as one, SqliteStore(tmp_path / "b.db") as two:
            assert held(one) == held(two)
            assert list(one.log("messages:thread: 1").search(["pool size"], 9)) == [0]

    def test_export_import_and_erase(self, url, tmp_path, capsys):
        file = str(tmp_path / "all.jsonl")
        assert main(["store", "export", url, file]) == 0
        assert main(["store", "export", url, file]) == 2
        assert "it exists already; name another file" in capsys.readouterr().err
        other = f"sqlite:///{tmp_path}/b.db"
        assert main(["store", "import", other, file]) == 0
        assert main(["store", "erase", other, "--thread", "thread: 1", "--yes"]) == 0
        assert "2 logs are erased" in capsys.readouterr().err
        with SqliteStore(tmp_path / "b.db") as store:
            assert store.logs() == ["acme:messages:two"]
            store.log("messages:thread: 1").append([Line("anew", words="pool size")])
            assert list(store.log("messages:thread: 1").search(["worker", "pool"], 9)) == [0]
        assert b"connections" not in (tmp_path / "b.db").read_bytes()

    def test_an_export_goes_through_a_pipe(self, url, tmp_path, capsysbinary, monkeypatch):
        assert main(["store", "export", url]) == 0
        lines = io.TextIOWrapper(io.BytesIO(capsysbinary.readouterr().out))
        monkeypatch.setattr("sys.stdin", lines)
        assert main(["store", "import", str(tmp_path / "b.db"), "-"]) == 0
        with SqliteStore(tmp_path / "a.db") as one, SqliteStore(tmp_path / "b.db") as two:
            assert held(one) == held(two)

    @pytest.mark.parametrize("what", ["thread", "tenant"])
    def test_what_is_not_there_is_not_erased(self, url, what, capsys):
        assert main(["store", "erase", url, f"--{what}", "nosuch", "--yes"]) == 2
        problem = f"holdfast: {url}: there is no {what} 'nosuch'; check the name\n"
        assert capsys.readouterr().err == problem

    @pytest.mark.parametrize(
        "arguments",
        [["check"], ["migrate"], ["compact"], ["export"], ["erase", "--thread", "t", "--yes"]],
    )
    def test_a_file_that_is_not_there_is_not_made(self, arguments, tmp_path, capsys):
        command, *options = arguments
        file = tmp_path / "none.db"
        assert main(["store", command, f"{file}", *options]) == 2
        problem = f"holdfast: {file}: there is no such file; check the path\n"
        assert capsys.readouterr().err == problem
        assert not file.exists()

    def test_nothing_is_erased_that_nobody_was_asked_about(self, url, capsys):
        assert main(["store", "erase", url, "--thread", "thread: 1"]) == 2
        assert "there is no terminal to ask; give --yes" in capsys.readouterr().err
        assert main(["store", "erase", url, "--thread", "thread: 1", "--yes"]) == 0

    def test_a_file_that_is_no_export_is_named_with_its_line(self, tmp_path, capsys):
        file = tmp_path / "chat.json"
        file.write_text("[\n")
        assert main(["store", "import", str(tmp_path / "b.db"), str(file)]) == 2
        assert f"holdfast: {file}: line 1: not an export (" in capsys.readouterr().err

    def test_it_must_be_said_what_is_to_be_erased(self, url, capsys):
        assert main(["store", "erase", url]) == 2
        assert "give --thread or --tenant" in capsys.readouterr().err
        assert main(["store", "erase", url, "--thread", "a", "--tenant", "b", "--yes"]) == 2
        assert "these are two things; give --thread or --tenant" in capsys.readouterr().err
