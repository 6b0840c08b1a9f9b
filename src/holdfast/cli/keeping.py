"""Where originals are kept: the options of every command that has a store."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, cast

import click

from holdfast.cli.options import having
from holdfast.cli.writing import obstacle
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.registry import Registry
from holdfast.stores import open_store

_LOCKS = Registry("lock", "locks", {"encrypted": "holdfast.stores.encrypt:EncryptedStore"})
"""What needs cryptography is loaded where a key is given."""

_FILE = "sqlite:///"
_KEY_BYTES = 32


class _Unlocks(Protocol):
    def unlock(self, inner: KeyValueStore, key: bytes | str) -> KeyValueStore: ...


store_options = having(
    click.option("--store", metavar="URL", help="Where originals are kept: sqlite:///FILE."),
    click.option("--store-key", metavar="FILE", help="The store is encrypted: its key, 32 bytes or a passphrase."),
)
"""Give a command the options ``store`` and ``store_key``."""


def kept_in(url: str | None, key_file: str | None, *, reading: bool = False) -> str | KeyValueStore | None:
    """The store of these options; one that is only read has to be there already."""
    if url is None:
        if key_file is not None:
            raise ConfigError("there is no store to open with it", place="--store-key", advice="give --store too")
        return None
    if reading and url.startswith(_FILE) and not Path(url.removeprefix(_FILE)).exists():
        raise ConfigError("there is no such file", place=f"--store {url}", advice="check the path")
    check_place(url)
    if key_file is None:
        return url
    return cast("_Unlocks", _LOCKS.load("encrypted")).unlock(open_store(url), _key_in(key_file))


def check_place(url: str) -> None:
    """Refuse, before any work is done, a store that could keep nothing beyond this command."""
    problem, advice = "", ""
    if url.startswith("memory:"):
        problem, advice = "what is kept in memory ends with the command", f"name a file, as {_FILE}originals.db"
    elif url.startswith(_FILE) and url != _FILE:
        problem, advice = obstacle(Path(url.removeprefix(_FILE)))
    if problem:
        raise ConfigError(problem, place=f"--store {url}", advice=advice)


def _key_in(file: str) -> bytes | str:
    """The key in a file: 32 bytes as they are, else a passphrase, to the end of its line."""
    try:
        content = Path(file).read_bytes()
        return content if len(content) == _KEY_BYTES else content.decode().rstrip("\r\n")
    except (OSError, ValueError) as fault:
        problem = fault.strerror if isinstance(fault, OSError) and fault.strerror else "it is no text"
        advice = "name a file with 32 bytes or a passphrase"
        raise InputError(
            f"the key cannot be read ({problem})", place=f"--store-key {file}", advice=advice
        ) from fault
