from __future__ import annotations

import asyncio
import sys

import pytest

import holdfast
from holdfast import CompressionCache, Session, compress, compress_many, recall, sample, shrink
from holdfast.in_place import prune_old_tool_outputs
from holdfast.kernel.errors import (
    ConfigError,
    CorruptError,
    LockedError,
    MissingExtraError,
    StoreError,
)
from holdfast.stores import open_store, protocols
from holdfast.stores.artifacts import ArtifactStore
from holdfast.stores.encrypt import EncryptedStore
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.protocols import Line
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.wrappers import (
    TAKEN,
    ExpiringStore,
    LayeredStore,
    MeasuredStore,
    PrefixStore,
    RoutedStore,
)
from tests.contracts.store_contract import Clock, CompleteStoreContract, StoreContract
from tests.stores.doubles import AwaitedTextStore, Settled, TextStore

KEY = bytes(range(32))

OPTIONAL = [
    protocols.GetsBytes,
    protocols.SetsBytes,
    protocols.ListsKeys,
    protocols.SetsMany,
    protocols.Expires,
    protocols.PutsIfAbsent,
    protocols.KeepsBytes,
    protocols.Closes,
]


class TestPrefixStore(CompleteStoreContract):
    @pytest.fixture
    def store(self, clock):
        return PrefixStore(InProcessStore(clock=clock), "tenant: 1%")


class TestPrefixStoreOverTextAlone(StoreContract):
    @pytest.fixture
    def store(self):
        return PrefixStore(TextStore(), "tenant")


class TestPrefixStoreOverAnAwaitedStore(StoreContract):
    @pytest.fixture
    def store(self):
        return Settled(PrefixStore(AwaitedTextStore(), "tenant"))


class TestEncryptedStore(CompleteStoreContract):
    @pytest.fixture
    def store(self, clock):
        return EncryptedStore.unlock(InProcessStore(clock=clock), KEY)


class TestEncryptedStoreOverTextAlone(StoreContract):
    @pytest.fixture
    def store(self):
        return EncryptedStore.unlock(TextStore(), KEY)


class TestEncryptedStoreOverAnAwaitedStore(StoreContract):
    @pytest.fixture
    def store(self):
        return Settled(Settled(EncryptedStore).aunlock(AwaitedTextStore(), KEY))


@pytest.mark.parametrize(
    "wrap",
    [lambda store: PrefixStore(store, "n"), lambda store: EncryptedStore.unlock(store, KEY)],
    ids=["prefix", "encrypted"],
)
@pytest.mark.parametrize("inner", [InProcessStore(), TextStore()], ids=["complete", "text alone"])
def test_a_wrapper_can_what_the_store_beneath_can(wrap, inner):
    wrapped = wrap(inner)
    assert [isinstance(wrapped, can) for can in OPTIONAL] == [
        isinstance(inner, can) for can in OPTIONAL
    ]


def test_an_encrypted_store_is_opened_by_unlock():
    with pytest.raises(ConfigError, match=r"^keys: these are not .*; open the store with .*unlock"):
        EncryptedStore(InProcessStore(), KEY)


def test_a_wrapper_closes_what_it_wraps():
    closed = []

    class Closable(TextStore):
        def close(self):
            closed.append(self)

    inner = Closable()
    PrefixStore(inner, "n").close()
    assert closed == [inner]


class TestNamespaces:
    NAMES = ("", "a", "a:", "a:b", "a%", "a%3A", "a%3Ab", "%", ":", "b", "a b", "\ud800")

    def test_no_two_see_each_others_keys(self):
        inner = InProcessStore()
        spaces = [PrefixStore(inner, name) for name in self.NAMES]
        keys = ["", "k", ":k", "b:k", "3Ak", "%3Ak"]
        for number, space in enumerate(spaces):
            for key in keys:
                space.set(key, f"{number} {key}")
        for number, space in enumerate(spaces):
            assert space.keys() == sorted(keys)
            assert [space.get(key) for key in keys] == [f"{number} {key}" for key in keys]

    def test_a_plain_name_is_written_as_it_is(self):
        inner = InProcessStore()
        PrefixStore(inner, "thread_1").set("k", "v")
        assert inner.keys() == ["thread_1:k"]

    def test_they_nest(self):
        inner = InProcessStore()
        PrefixStore(PrefixStore(inner, "tenant"), "thread").set("k", "v")
        assert inner.keys() == ["tenant:thread:k"]

    @pytest.mark.parametrize("name", sorted(TAKEN))
    def test_none_shares_the_keys_of_the_store_itself(self, name):
        for inner in (InProcessStore(), TextStore()):
            with pytest.raises(ConfigError, match=f"'{name}' is how keys of the store itself"):
                PrefixStore(inner, name)

    def test_one_that_sessions_use_still_opens(self):
        inner = InProcessStore()
        inner.set("messages:session:t", "{}")
        inner.log("events:messages:t").append([Line("kept")])
        inner.set("log:secret", "0")
        assert PrefixStore(inner, "messages").keys() == ["session:t"]
        assert PrefixStore(inner, "events").logs() == ["messages:t"]
        assert PrefixStore(inner, "log").keys() == ["secret"]


class TestEncryption:
    def test_nothing_readable_is_kept(self):
        inner = TextStore()
        store = EncryptedStore.unlock(inner, "correct horse")
        store.set("thread_alice:summary:5-15", "the password is swordfish")
        kept = repr(inner.entries)
        for secret in ("alice", "summary", "swordfish", "password", "correct", "horse"):
            assert secret not in kept

    def test_bytes_are_kept_as_bytes(self):
        inner = InProcessStore()
        EncryptedStore.unlock(inner, KEY).set_bytes("k", b"\xff" * 1_000)
        sizes = [len(inner.get_bytes(name)) for name in inner.keys("x_")]
        assert sizes == [1_033]

    def test_the_same_value_never_looks_the_same_twice(self):
        inner = TextStore()
        store = EncryptedStore.unlock(inner, KEY)
        store.set("k", "v")
        first = dict(inner.entries)
        store.set("k", "v")
        assert first.keys() == inner.entries.keys()
        assert first != inner.entries

    @pytest.mark.parametrize("key", [KEY, "a passphrase", "Pässwörd \ud800"])
    def test_the_same_key_opens_it_again(self, key):
        inner = TextStore()
        EncryptedStore.unlock(inner, key).set("k", "v")
        assert EncryptedStore.unlock(inner, key).get("k") == "v"

    @pytest.mark.parametrize(
        ("first", "second"), [(KEY, KEY[::-1]), ("one", "two"), ("one", KEY), (KEY, "one")]
    )
    def test_another_key_is_refused_and_changes_nothing(self, first, second):
        inner = TextStore()
        EncryptedStore.unlock(inner, first).set("k", "v")
        before = dict(inner.entries)
        with pytest.raises(
            StoreError, match=r"^the encrypted store has another key: this one does not open it$"
        ):
            EncryptedStore.unlock(inner, second)
        assert inner.entries == before

    @pytest.mark.parametrize(
        "use",
        [
            lambda store: compress(sample(), 2_000, store=store),
            lambda store: compress_many([sample()], budget=2_000, store=store),
            lambda store: shrink("a b c\n" * 2_000, 100, store=store),
            lambda store: recall("1" * 20, store=store),
            lambda store: prune_old_tool_outputs(sample(), store=store),
            lambda store: Session("t", store=store),
            lambda store: holdfast.open(store).threads(),
        ],
    )
    @pytest.mark.parametrize("inner", [TextStore, AwaitedTextStore, InProcessStore])
    def test_without_its_key_it_is_refused_and_stays_as_it_is(self, inner, use):
        store = inner()
        Settled(EncryptedStore.unlock(store, KEY)).set("k", "v")
        before = store.entries.copy() if hasattr(store, "entries") else store.keys()
        with pytest.raises(LockedError, match=r"^this store is encrypted; give its key"):
            use(store)
        assert before == (store.entries if hasattr(store, "entries") else store.keys())

    def test_a_store_of_plain_text_is_refused_since_its_threads_would_stay_plain(self):
        store = InProcessStore()
        with Session("t", store=store) as session:
            session.append({"role": "user", "content": "The gateway has port 8443."})
        with pytest.raises(ConfigError, match="is not encrypted, and would stay so; name a new"):
            EncryptedStore.unlock(store, KEY)
        with Session("t", store=store) as session:
            assert session.appended == 1

    def test_a_cache_keeps_nothing_in_it_without_its_key(self):
        inner = TextStore()
        EncryptedStore.unlock(inner, KEY).set("k", "v")
        before = dict(inner.entries)
        CompressionCache(store=inner).store_summary("what was said", "model", "the summary")
        assert inner.entries == before

    def test_the_same_passphrase_gives_every_store_a_key_of_its_own(self):
        one, two = TextStore(), TextStore()
        EncryptedStore.unlock(one, "passphrase").set("k", "v")
        EncryptedStore.unlock(two, "passphrase").set("k", "v")
        assert {name for name in one.entries if name in two.entries} == {"holdfast_encryption"}

    def test_of_two_that_lock_a_store_at_once_the_second_takes_the_lock_of_the_first(self):
        inner = InProcessStore()

        class Late(InProcessStore):
            """Sees the lock only after having tried to put its own."""

            looked = False

            def get(self, key):
                seen, self.looked = self.looked, True
                return inner.get(key) if seen else None

            def put_if_absent(self, key, value):
                return inner.put_if_absent(key, value)

        EncryptedStore.unlock(inner, "passphrase").set("k", "v")
        assert EncryptedStore.unlock(Late(), "passphrase").get("k") == "v"

    def test_a_value_that_was_moved_to_another_key_is_refused(self):
        inner = TextStore()
        store = EncryptedStore.unlock(inner, KEY)
        store.set("from", "v")
        (name,) = (name for name in inner.entries if name.startswith("x_"))
        moved = inner.entries[name]
        store.set("to", "w")
        (other,) = (entry for entry in inner.entries if entry.startswith("x_") and entry != name)
        inner.entries[other] = moved
        with pytest.raises(
            StoreError, match=r"^what is kept under 'to' was changed after it was encrypted$"
        ):
            store.get("to")

    @pytest.mark.parametrize("damage", ["", "AAAA", "not base64!", "é"])
    def test_a_value_that_was_changed_is_refused(self, damage):
        inner = TextStore()
        store = EncryptedStore.unlock(inner, KEY)
        store.set("k", "v")
        (name,) = (name for name in inner.entries if name.startswith("x_"))
        inner.entries[name] = damage
        with pytest.raises(
            StoreError, match=r"^what is kept under 'k' was changed after it was encrypted$"
        ):
            store.get("k")

    def test_a_name_that_was_changed_is_refused_in_a_listing(self):
        inner = InProcessStore()
        store = EncryptedStore.unlock(inner, KEY)
        inner.set("x_AAAA", "v")
        with pytest.raises(
            StoreError, match=r"^the entry 'x_AAAA' of the encrypted store is damaged$"
        ):
            store.keys()

    @pytest.mark.parametrize(
        "lock", ["", "{", "[]", '{"holdfast": 2}', '{"holdfast": 1, "salt": "x", "check": ""}']
    )
    def test_a_lock_that_is_none_is_refused(self, lock):
        inner = TextStore()
        inner.set("holdfast_encryption", lock)
        with pytest.raises(
            StoreError, match=r"^the entry 'holdfast_encryption' of the encrypted store is "
        ):
            EncryptedStore.unlock(inner, KEY)

    def test_what_was_there_before_in_the_clear_is_not_of_the_encrypted_store(self):
        inner = InProcessStore()
        inner.set("plain", "v")
        store = EncryptedStore.unlock(inner, KEY)
        assert (store.keys(), store.get("plain"), inner.get("plain")) == ([], None, "v")

    @pytest.mark.parametrize("key", [b"", b"short", bytes(33), bytearray(b"short"), "", None, 5])
    def test_a_key_that_is_none_is_refused_in_one_line(self, key):
        with pytest.raises(
            ConfigError, match=r"^encrypted store: .*; give 32 random bytes .* or a passphrase"
        ):
            EncryptedStore.unlock(TextStore(), key)

    @pytest.mark.parametrize("door", ["unlock", "aunlock"])
    def test_an_awaited_store_is_unlocked_both_ways(self, door):
        store = Settled(Settled(EncryptedStore).__getattr__(door)(AwaitedTextStore(), KEY))
        store.set("k", "v")
        assert store.get("k") == "v"

    def test_a_store_that_is_unlocked_in_a_loop_is_awaited_there(self):
        loops = []

        class Asked(AwaitedTextStore):
            async def get(self, key):
                loops.append(asyncio.get_running_loop())
                return await super().get(key)

        async def inside():
            await EncryptedStore.aunlock(Asked(), KEY)
            return asyncio.get_running_loop()

        assert {asyncio.run(inside())} == set(loops)

    def test_without_cryptography_the_extra_is_named(self, monkeypatch):
        monkeypatch.delitem(sys.modules, "holdfast.stores.encrypt")
        monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'holdfast\[encrypt\]'"):
            __import__("holdfast.stores.encrypt")


class TestLayeredStore(CompleteStoreContract):
    @pytest.fixture
    def store(self, clock):
        return LayeredStore(InProcessStore(clock=clock))


class TestMeasuredStore(CompleteStoreContract):
    @pytest.fixture
    def store(self, clock):
        return MeasuredStore(InProcessStore(clock=clock))


class TestRoutedStore(CompleteStoreContract):
    @pytest.fixture
    def store(self, clock):
        return RoutedStore(InProcessStore(clock=clock), InProcessStore())


class TestExpiringStore(StoreContract):
    @pytest.fixture
    def store(self):
        return ExpiringStore(InProcessStore(), 60)


def test_whatever_is_set_expires():
    clock = Clock()
    store = ExpiringStore(InProcessStore(clock=clock), 60)
    store.set("k", "v")
    store.set_for("longer", "v", 1_000)
    store.set_for("shorter", "v", 10)
    clock.now += 59
    assert store.keys() == ["k", "longer"]
    clock.now += 1
    assert store.keys() == []
    assert not isinstance(store, protocols.PutsIfAbsent)


def test_what_forgets_nothing_cannot_expire():
    with pytest.raises(ConfigError, match="a TextStore forgets nothing by itself; give one whose"):
        ExpiringStore(TextStore(), 60)


def test_a_wrapper_refuses_what_it_cannot_work_with():
    with pytest.raises(ConfigError, match="namespace: None does not belong here; give text"):
        PrefixStore(InProcessStore(), None)
    for seconds in (-1, "60"):
        with pytest.raises(ConfigError, match="seconds: .* give a number of 0 or more"):
            ExpiringStore(InProcessStore(), seconds)


def test_an_artifact_that_was_read_is_near_and_what_may_change_is_not():
    inner = TextStore()
    store = LayeredStore(inner, most=10)
    inner.entries = {"content_1": "12345678", "content_2": "12345", "k": "v"}
    assert [store.get(key) for key in ("content_1", "k")] == ["12345678", "v"]
    inner.entries = {"content_2": "12345", "k": "w"}
    assert [store.get(key) for key in ("content_1", "k")] == ["12345678", "w"]
    assert store.get("content_2") == "12345"
    assert store.get("content_1") is None, "there is room for 10 characters"
    store.delete("content_2")
    assert store.get("content_2") is None


@pytest.mark.parametrize("content", ["deadbeef", "kept\n" * 100, ""])
def test_an_original_that_was_stored_without_a_wrapper_is_read_through_it(content, tmp_path):
    with SqliteStore(tmp_path / "a.db") as inner:
        key = ArtifactStore(inner).put(content).key
        for wrapper in (LayeredStore(inner), MeasuredStore(inner), ExpiringStore(inner, 60)):
            assert ArtifactStore(wrapper).get(key) == content


def test_an_original_that_was_damaged_is_not_cached_once_it_is_mended():
    inner = InProcessStore()
    artifacts = ArtifactStore(LayeredStore(inner))
    kept = artifacts.put("kept")
    inner.set(f"content_{kept.reference}", "damaged")
    with pytest.raises(CorruptError):
        artifacts.get(kept.key)
    artifacts.put("kept")
    assert artifacts.get(kept.key) == "kept"


def test_originals_that_go_elsewhere_expire_where_they_are_or_not_at_all(tmp_path):
    clock = Clock()
    near, far = InProcessStore(clock=clock), InProcessStore(clock=clock)
    artifacts = ArtifactStore(ExpiringStore(RoutedStore(near, far), 60))
    key = artifacts.put("kept").key
    assert (artifacts.get(key), near.keys()) == ("kept", [])
    clock.now += 60
    assert artifacts.get(key) is None
    with pytest.raises(ConfigError, match="a FolderStore forgets nothing by itself"):
        ExpiringStore(open_store(f"file://{tmp_path}"), 60)


def test_calls_are_measured_with_their_faults_and_those_of_logs():
    store = MeasuredStore(InProcessStore())
    store.set("k", "v")
    store.get("k")
    store.get("none")
    store.log("talk").append([protocols.Line("a")])
    store.set_bytes("bytes", b"\xff")
    with pytest.raises(StoreError):
        store.get("bytes")
    measures = store.measures
    assert {name: (each.calls, each.faults) for name, each in measures.items()} == {
        "set": (1, 0),
        "get": (3, 1),
        "log.append": (1, 0),
        "set_bytes": (1, 0),
    }
    assert all(0 < each.longest <= each.seconds for each in measures.values())


def test_an_awaited_store_is_measured_until_it_answers():
    store = MeasuredStore(AwaitedTextStore())
    asyncio.run(_twice(store))
    assert {name: each.calls for name, each in store.measures.items()} == {"set": 1, "get": 1}


async def _twice(store):
    await store.set("k", "v")
    assert await store.get("k") == "v"
