from __future__ import annotations

import pytest

from holdfast.stores import postgres_database
from holdfast.stores.postgres import PostgresStore
from holdfast.stores.protocols import Line
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

    def test_words_that_wait_as_text_in_an_earlier_database_are_found_and_indexed(
        self, postgres_url, monkeypatch
    ):
        with monkeypatch.context() as earlier:
            earlier.setattr(postgres_database, "STEPS", postgres_database.STEPS[:1])
            before = PostgresStore(postgres_url)
            before.log("talk").append([Line("a", words="an old parrot")])
            before._server.all("UPDATE holdfast_waiting SET words = %s", (b"an old parrot",))
        log = PostgresStore(postgres_url).log("talk")
        log.append([Line("b", words="a new parrot")])
        assert set(log.search(["parrot"], 9)) == {0, 1}
        log.compact()
        assert set(log.search(["parrot"], 9)) == {0, 1}
