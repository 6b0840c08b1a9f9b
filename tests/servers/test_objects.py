from __future__ import annotations

import pytest

from holdfast.kernel.errors import ConfigError, StoreError
from holdfast.session import Session
from holdfast.stores.artifacts import ArtifactStore
from holdfast.stores.objects import ObjectStore
from tests.contracts.store_contract import (
    BytesContract,
    ListingContract,
    PutIfAbsentContract,
    StoreContract,
)


class ObjectContract(StoreContract, BytesContract, ListingContract, PutIfAbsentContract):
    """What a store of objects can."""


class TestS3(ObjectContract):
    @pytest.fixture
    def store(self, s3_url):
        return ObjectStore.from_url(s3_url)


class TestFiles(ObjectContract):
    @pytest.fixture
    def store(self, tmp_path):
        return ObjectStore.in_folder(tmp_path / "objects")

    def test_a_namespace_is_a_folder(self, store, tmp_path):
        store.set("acme:content_123", "v")
        assert (tmp_path / "objects" / "acme" / "content_123").read_text() == "v"


def test_an_artifact_is_an_object_of_bytes_that_comes_back(s3_url):
    artifacts = ArtifactStore(ObjectStore.from_url(s3_url))
    kept = artifacts.put("line\n" * 10_000)
    assert artifacts.get(kept.reference) == "line\n" * 10_000
    assert artifacts.references() == [kept.reference]
    assert artifacts.put("line\n" * 10_000) == kept


def test_a_bucket_keeps_a_thread_for_two_machines(s3_url):
    said = [{"role": "user", "content": f"The port of srv-{n} is {8_000 + n}."} for n in range(30)]
    with Session("t", store=s3_url, budget=300) as one, Session("t", store=s3_url) as two:
        for at in range(0, 30, 2):
            one.append(said[at])
            two.append(said[at + 1])
    with Session("t", store=s3_url, budget=300) as again:
        assert again.restore() == said
        assert again.search("srv-7", 1)[0].position == 7
        assert again.fit().budget_met


def test_a_bucket_that_is_not_there_is_told_in_one_line(s3):
    missing = ObjectStore.from_url(s3.url("none-of-ours"))
    with pytest.raises(StoreError, match=r"object store s3://none-of-ours: .*NoSuchBucket") as told:
        missing.set("k", "v")
    assert "\n" not in str(told.value)


def test_a_url_without_a_bucket_is_refused():
    with pytest.raises(ConfigError, match=r"'s3://' names no bucket; write 's3://bucket/prefix'"):
        ObjectStore.from_url("s3://")
