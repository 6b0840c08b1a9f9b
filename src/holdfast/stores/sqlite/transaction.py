"""A transaction as a block: kept when the block is left, undone if it fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal


@contextmanager
def transaction(connection: sqlite3.Connection, kind: Literal["deferred", "immediate"]) -> Generator[None]:
    """``deferred`` for reading at one moment; ``immediate`` for writing, after waiting for other writers."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
