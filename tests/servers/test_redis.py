from __future__ import annotations

import pytest

from holdfast.stores.redis import RedisStore
from tests.contracts.log_contract import LogContract
from tests.contracts.store_contract import CompleteStoreContract


class TestRedisStore(CompleteStoreContract):
    @pytest.fixture
    def store(self, redis_url, clock):
        store = RedisStore.from_url(redis_url)
        store._clock = clock
        yield store
        store.close()


class TestRedisLog(LogContract):
    @pytest.fixture
    def store(self, redis_url):
        store = RedisStore.from_url(redis_url)
        yield store
        store.close()
