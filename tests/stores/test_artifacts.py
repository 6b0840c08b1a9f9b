from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.kernel.errors import ConfigError, CorruptError, InputError, NotFoundError, StoreError
from holdfast.stores.artifacts import ArtifactStore, encode, to_armour
from holdfast.stores.encrypt import EncryptedStore
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.wrappers import PrefixStore
from tests.stores.doubles import AwaitedTextStore, TextStore

CONTENTS = [
    "",
    "short",
    "two\nlines\n",
    "\ud800 alone, \ud83d\ude00 as two halves, \x00",
    "a log line that repeats\n" * 5_000,
    b"",
    b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40,
    b"\xff\xfe",
]

KEY = bytes(range(32))

LOG = "start\nINFO ready\nERROR disk full\nINFO retry\nERROR gave up"


def key_of(content: str | bytes) -> str:
    return sha256(
        content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    ).hexdigest()


def back(artifacts, key: str, content: str | bytes) -> str | bytes | None:
    return artifacts.get(key) if isinstance(content, str) else artifacts.get_bytes(key)


class TestOverAnyStore:
    @pytest.fixture(
        params=["in process", "sqlite", "text alone", "awaited", "namespace", "encrypted"]
    )
    def artifacts(self, request, tmp_path):
        with SqliteStore(tmp_path / "a.db") as file:
            match request.param:
                case "in process":
                    yield ArtifactStore(InProcessStore())
                case "sqlite":
                    yield ArtifactStore(file)
                case "text alone":
                    yield ArtifactStore(TextStore())
                case "awaited":
                    yield ArtifactStore(AwaitedTextStore())
                case "namespace":
                    yield ArtifactStore(PrefixStore(TextStore(), "thread-1"))
                case "encrypted":
                    yield ArtifactStore(EncryptedStore.unlock(file, KEY))

    @pytest.mark.parametrize("content", CONTENTS, ids=range(len(CONTENTS)))
    def test_what_is_put_comes_back_exactly_by_key_reference_and_pointer(self, artifacts, content):
        kept = artifacts.put(content, "log")
        assert kept.key == key_of(content)
        assert kept.reference == kept.key[:12]
        for name in (
            kept.key,
            kept.reference,
            kept.key[:40],
            f"content_{kept.key}",
            f" {kept.reference.upper()}\n",
        ):
            assert back(artifacts, name, content) == content

    def test_it_says_what_it_keeps(self, artifacts):
        kept = artifacts.put("é\nb\nc", "log")
        assert (kept.kind, kept.bytes, kept.lines) == ("log", 6, 3)
        assert artifacts.find(kept.reference) == kept
        assert artifacts.put("a\nb\n").lines == 2
        assert artifacts.put("").lines == 0

    @pytest.mark.parametrize(
        "key", ["", "0", "0123456789ab", "0" * 64, "no key at all", "ünknown\ud800"]
    )
    def test_what_is_not_here_is_none_and_a_reader_is_told(self, artifacts, key):
        artifacts.put("something")
        assert (artifacts.get(key), artifacts.get_bytes(key), artifacts.find(key)) == (
            None,
            None,
            None,
        )
        with pytest.raises(NotFoundError) as missing:
            artifacts.read(key)
        assert (
            str(missing.value) == f"there is no {key!r} in this store; check the key and the thread"
        )
        artifacts.delete(key)

    def test_putting_again_changes_nothing(self, artifacts):
        first = artifacts.put("content", "log")
        assert artifacts.put("content", "table") == first
        assert artifacts.put(b"content") == first

    def test_what_is_deleted_can_be_put_again(self, artifacts):
        kept = artifacts.put("content")
        artifacts.delete(kept.reference)
        assert artifacts.get(kept.key) is None
        assert artifacts.get(kept.reference) is None
        assert artifacts.put("content") == kept

    def test_a_reader_gets_the_part_that_was_asked_for(self, artifacts):
        kept = artifacts.put(LOG, "log")
        assert artifacts.read(kept.reference).text == LOG
        assert artifacts.read(kept.reference, lines=(2, 3)).text == "INFO ready\nERROR disk full\n"
        assert artifacts.read(kept.reference, pattern=r"^ERR\w+ gave").text == "ERROR gave up"
        kept = artifacts.put('{"a": {"b": [1, 2.50]}}', "json")
        assert artifacts.read(kept.reference, field="a.b[1]").text == "2.50"

    def test_bytes_that_are_no_text_are_refused_as_text(self, artifacts):
        kept = artifacts.put(b"\xff\xfe")
        with pytest.raises(StoreError, match="is bytes and not text: read it with get_bytes"):
            artifacts.get(kept.key)


def keep_another(store: TextStore, reference: str) -> None:
    """Put under the reference what another content would be kept as whose key begins so too."""
    header, blob = encode(b"another", "text")
    store.set(
        f"content_{reference}",
        to_armour(blob.replace(header.sha256.encode(), reference.ljust(64, "0").encode())),
    )


class TestReferences:
    def test_two_contents_whose_keys_begin_alike_get_references_of_their_own(self):
        store = TextStore()
        key = key_of("content")
        keep_another(store, key[:12])
        artifacts = ArtifactStore(store)
        kept = artifacts.put("content")
        assert kept.reference == key[:20]
        assert (
            artifacts.put("content")
            == artifacts.find(kept.reference)
            == artifacts.find(key)
            == kept
        )
        assert artifacts.get(key) == artifacts.get(key[:20]) == artifacts.get(key[:21]) == "content"
        assert artifacts.find(key[:12]).key == key[:12].ljust(64, "0")

    def test_where_every_short_one_is_taken_the_key_is_the_reference(self):
        store = TextStore()
        key = key_of("content")
        for length in (12, 20, 32):
            keep_another(store, key[:length])
        kept = ArtifactStore(store).put("content")
        assert kept.reference == key
        assert ArtifactStore(store).get(kept.reference) == "content"

    def test_of_two_that_claim_one_at_once_the_slower_takes_the_next(self):
        key = key_of("content")
        other = TextStore()
        keep_another(other, key[:12])

        class Raced(TextStore):
            def put_if_absent(self, name: str, value: str) -> bool:
                self.entries.update(other.entries)
                return self.entries.setdefault(name, value) == value

        assert ArtifactStore(Raced()).put("content").reference == key[:20]

    def test_of_two_that_put_the_same_at_once_both_get_the_first(self):
        first = TextStore()
        kept = ArtifactStore(first).put("content", "log")

        class Raced(TextStore):
            def put_if_absent(self, name: str, value: str) -> bool:
                self.entries.update(first.entries)
                return False

        assert ArtifactStore(Raced()).put("content", "table") == kept


class TestDamage:
    @pytest.fixture
    def store(self) -> TextStore:
        return TextStore()

    @pytest.fixture
    def kept(self, store):
        return ArtifactStore(store).put("a line that repeats now\n" * 1_000)

    @pytest.mark.parametrize(
        "damage",
        [
            lambda blob: "",
            lambda blob: "no header",
            lambda blob: "[]\n",
            lambda blob: "[" * 100_000 + "\n",
            lambda blob: blob[:-8],
            lambda blob: blob[:-8] + "AAAAAAA=",
            lambda blob: blob + "é",
            lambda blob: "\ud800" + blob,
            lambda blob: blob.replace("zstd", "plain"),
            lambda blob: blob.replace("zstd", "zlib"),
            lambda blob: blob.replace('"bytes": 24000', '"bytes": 24001'),
            lambda blob: blob.replace('"bytes": 24000', '"bytes": null'),
            lambda blob: blob.replace('"sha256": "', '"sha256": "0'),
            lambda blob: blob.replace('"holdfast": 1', '"holdfast": 0'),
            lambda blob: blob.replace('"holdfast": 1', '"holdfast": -1'),
            lambda blob: blob.replace('"holdfast": 1', '"holdfast": 1.5'),
            lambda blob: to_armour(encode(b"another content", "text")[1]),
        ],
        ids=range(17),
    )
    def test_it_is_told_in_one_line_and_never_read_as_the_content(self, store, kept, damage):
        name = f"content_{kept.reference}"
        store.entries[name] = damage(store.entries[name])
        artifacts = ArtifactStore(store)
        for read in (artifacts.get, artifacts.get_bytes, artifacts.read):
            with pytest.raises(CorruptError) as corrupt:
                read(kept.reference)
            assert "\n" not in str(corrupt.value)
        assert ArtifactStore(store).put("a line that repeats now\n" * 1_000).key == kept.key
        assert ArtifactStore(store).get(kept.key) == "a line that repeats now\n" * 1_000

    def test_it_is_mended_in_its_place_by_putting_the_content_again(self, store, kept):
        name = f"content_{kept.reference}"
        whole = store.entries[name]
        for damaged in (whole[:-8], "no header"):
            store.entries[name] = damaged
            assert ArtifactStore(store).put("a line that repeats now\n" * 1_000) == kept
            assert store.entries == {name: whole}

    def test_the_line_says_what_is_wrong(self, store, kept):
        store.entries[f"content_{kept.reference}"] = "no header"
        with pytest.raises(CorruptError) as corrupt:
            ArtifactStore(store).get(kept.key)
        line = (
            f"the artifact {kept.reference!r} is damaged: its first line is not that of an artifact"
        )
        assert str(corrupt.value) == line

    def test_what_a_newer_holdfast_wrote_is_refused_and_kept(self, store):
        name, newer = f"content_{key_of('content')[:12]}", '{"holdfast": 2, "parts": 7}\n'
        store.set(name, newer)
        for act in (ArtifactStore(store).get, lambda key: ArtifactStore(store).put("content")):
            with pytest.raises(
                StoreError, match=r"^an artifact of form 2 needs a newer Holdfast: pip install -U"
            ):
                act(key_of("content"))
        assert store.entries == {name: newer}

    def test_an_encoding_that_nobody_knows_is_named(self, store, kept):
        name = f"content_{kept.reference}"
        store.entries[name] = store.entries[name].replace("zstd", "brotli")
        with pytest.raises(ConfigError, match=r"there is no encoding of artifacts named 'brotli'"):
            ArtifactStore(store).get(kept.key)


class TestKeeping:
    def test_a_content_is_kept_once_and_compressed(self):
        store = InProcessStore()
        artifacts = ArtifactStore(store)
        for _ in range(3):
            artifacts.put("a line that repeats\n" * 5_000)
        (reference,) = artifacts.references()
        assert artifacts.find(reference).bytes == 100_000
        assert len(store.get_bytes(f"content_{reference}")) < 1_000
        assert len(store.keys()) == 1

    def test_what_does_not_become_smaller_is_kept_as_it_is(self):
        store = InProcessStore()
        kept = ArtifactStore(store).put("as it is")
        assert kept.key == "f5c9477a85fc9f46f91f1e3e3b30aa270b06020ba7497d3c5338ac111d35fa05"
        assert store.get_bytes("content_f5c9477a85fc") == (
            b'{"holdfast": 1, "sha256": "%s", "kind": "text", "encoding": "plain", '
            b'"bytes": 8, "lines": 1}\nas it is' % kept.key.encode()
        )

    def test_over_text_alone_all_is_ascii(self):
        store = TextStore()
        for content in CONTENTS:
            ArtifactStore(store).put(content)
        assert all(name.isascii() and value.isascii() for name, value in store.entries.items())

    def test_without_zstandard_zlib_does_and_both_can_be_read(self, monkeypatch):
        store, first, second = InProcessStore(), "first line\n" * 1_000, "second line\n" * 1_000
        ArtifactStore(store).put(first)
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "zstandard", None)
            kept = ArtifactStore(store).put(second)
            assert b'"zlib"' in store.get_bytes(f"content_{kept.reference}")
            assert ArtifactStore(store).get(kept.key) == second
            with pytest.raises(
                Exception, match=r"zstandard needs an optional dependency: pip install holdfast$"
            ):
                ArtifactStore(store).get(key_of(first))
        assert ArtifactStore(store).get(key_of(first)) == first
        assert ArtifactStore(store).get(key_of(second)) == second

    def test_two_namespaces_do_not_see_each_others(self):
        store = InProcessStore()
        mine, yours = (ArtifactStore(PrefixStore(store, name)) for name in ("mine", "yours"))
        kept = mine.put("secret")
        assert (yours.get(kept.key), yours.get(kept.reference), yours.references()) == (
            None,
            None,
            [],
        )
        assert mine.references() == [kept.reference]

    def test_what_is_put_is_there_for_another_process(self, tmp_path):
        with SqliteStore(tmp_path / "a.db") as store:
            kept = ArtifactStore(store).put(LOG)
        with SqliteStore(tmp_path / "a.db") as again:
            assert ArtifactStore(again).get(kept.reference) == LOG

    def test_a_store_that_only_seems_to_be_awaited_serves_at_once(self):
        class Ready(TextStore):
            async def get(self, key: str) -> str | None:
                return super().get(key)

        artifacts = ArtifactStore(Ready())
        assert artifacts.get(artifacts.put("content").reference) == "content"

    def test_a_store_that_must_be_awaited_is_waited_for_inside_of_a_running_loop_too(self):
        async def inside() -> str | None:
            artifacts = ArtifactStore(AwaitedTextStore())
            return artifacts.get(artifacts.put("content").reference)

        assert asyncio.run(inside()) == "content"

    def test_many_put_the_same_at_once(self):
        artifacts = ArtifactStore(AwaitedTextStore())
        with ThreadPoolExecutor(8) as crowd:
            kept = list(crowd.map(artifacts.put, ["one", "two"] * 10))
        assert len(set(kept)) == 2


def test_references_are_listed_and_a_store_that_cannot_list_says_so():
    store = InProcessStore()
    artifacts = ArtifactStore(store)
    store.set("of somebody else", "v")
    kept = [artifacts.put(text).reference for text in ("one", "two", "three")]
    assert artifacts.references() == sorted(kept)
    with pytest.raises(StoreError, match=r"^a TextStore cannot list what it keeps$"):
        ArtifactStore(TextStore()).references()


@settings(deadline=None)
@given(st.text(st.characters(codec=None), max_size=200), st.integers(1, 300))
def test_any_text_survives(text, times):
    artifacts = ArtifactStore(TextStore())
    assert artifacts.get(artifacts.put(text * times).reference) == text * times


@settings(deadline=None)
@given(st.binary(max_size=500))
def test_any_bytes_survive(content):
    artifacts = ArtifactStore(TextStore())
    assert artifacts.get_bytes(artifacts.put(content).key) == content


def test_a_field_that_is_missing_is_told_to_the_reader():
    artifacts = ArtifactStore(TextStore())
    with pytest.raises(InputError, match="there is no 'b'"):
        artifacts.read(artifacts.put('{"a": 1}').key, field="b")
