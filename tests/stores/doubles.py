"""Stores as callers bring them: the least that is a store, at once and awaited."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from inspect import isawaitable
from unittest import mock

from holdfast.stores import sqlite_file


class TextStore:
    """get, set and delete over text, and nothing else."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self.entries.get(key)

    def set(self, key: str, value: str) -> None:
        self.entries[key] = value

    def delete(self, key: str) -> None:
        self.entries.pop(key, None)


class AwaitedTextStore:
    """The same, awaited, and never answering before the loop has turned."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}

    async def get(self, key: str) -> str | None:
        await asyncio.sleep(0)
        return self.entries.get(key)

    async def set(self, key: str, value: str) -> None:
        await asyncio.sleep(0)
        self.entries[key] = value

    async def delete(self, key: str) -> None:
        await asyncio.sleep(0)
        self.entries.pop(key, None)


class Settled:
    """Calls of an object, waited for where they must be, so that one test serves both kinds."""

    def __init__(self, inner: object) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Callable[..., object]:
        method = getattr(self._inner, name)

        def call(*args: object, **options: object) -> object:
            answer = method(*args, **options)
            return asyncio.run(_outcome(answer)) if isawaitable(answer) else answer

        return call


async def _outcome(answer):
    return await answer


def migrate_with(steps: tuple[tuple[str, ...], ...], connection: sqlite3.Connection) -> None:
    """Give a file the schema of a version with these steps."""
    with mock.patch.object(sqlite_file, "STEPS", steps):
        sqlite_file.migrate(connection)
