"""A store in one SQLite file: durable, and shared by many threads and processes."""

from .store import SqliteStore

__all__ = ["SqliteStore"]
