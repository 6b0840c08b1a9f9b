from __future__ import annotations

import pytest

from holdfast.stores.redis import RedisStore
from holdfast.stores.wrappers import PrefixStore
from tests.contracts.log_contract import LogContract
from tests.contracts.store_contract import CompleteStoreContract, GlanceContract


class TestRedisStore(CompleteStoreContract, GlanceContract):
    @pytest.fixture
    def store(self, redis_url, clock):
        store = RedisStore.from_url(redis_url)
        store._clock = clock
        yield store
        store.close()


class TestNamespaceOnRedis(GlanceContract):
    @pytest.fixture
    def store(self, redis_url):
        store = RedisStore.from_url(redis_url)
        store.set("a", "another's")
        yield PrefixStore(store, "tenant")
        store.close()


class TestRedisLog(LogContract):
    @pytest.fixture
    def store(self, redis_url):
        store = RedisStore.from_url(redis_url)
        yield store
        store.close()
