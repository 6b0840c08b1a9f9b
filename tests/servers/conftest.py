"""One server of each kind for all tests; each test has a database, or a prefix, of its own."""

from __future__ import annotations

from itertools import count

import psycopg
import pytest

from tests.contracts.store_contract import Clock
from tests.servers.programs import S3, Postgres, Redis

_NUMBERS = count(1)


def _running(made):
    made.start()
    yield made
    made.end()


@pytest.fixture(scope="session")
def postgres():
    yield from _running(Postgres())


@pytest.fixture(scope="session")
def redis():
    yield from _running(Redis())


@pytest.fixture(scope="session")
def s3():
    yield from _running(S3())


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def postgres_url(postgres):
    """A database of its own."""
    name = f"test_{next(_NUMBERS)}"
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgres.url.rpartition("/")[0] + f"/{name}"


@pytest.fixture
def redis_url(redis):
    """A prefix of its own."""
    return f"{redis.url}?prefix=test_{next(_NUMBERS)}:"


@pytest.fixture
def s3_url(s3):
    """A prefix of its own."""
    return s3.url(f"bucket/test_{next(_NUMBERS)}")
