from __future__ import annotations

import pytest

from holdfast.stores.postgres import PostgresStore
from tests.contracts.log_contract import LogContract
from tests.contracts.store_contract import CompleteStoreContract, GlanceContract


class TestPostgresStore(CompleteStoreContract, GlanceContract):
    @pytest.fixture
    def store(self, postgres_url, clock):
        store = PostgresStore(postgres_url, clock=clock)
        yield store
        store.close()


class TestPostgresLog(LogContract):
    @pytest.fixture
    def store(self, postgres_url):
        store = PostgresStore.from_url(postgres_url)
        yield store
        store.close()
