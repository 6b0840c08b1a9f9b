"""Modules that were documented under another name: for one release the old name works, and warns."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from warnings import warn

MOVED = {
    "cache": "calls.cache",
    "cache.compression_cache": "calls.cache",
    "cache.lru": "calls.cache",
    "calling.embedding": "calls.caller",
    "calling.limits": "calls.lineup",
    "conversation": "result",
    "cost": "providers.prices",
    "fitting": "engine",
    "metrics": "result",
    "stores.artifacts.store": "stores.artifacts",
    "tracing": "trace",
    "usage": "result",
}
"""Old name -> new one, both without the name of the package."""


class _Moved(ModuleType):
    """Stands under the old name, and has whatever the new module has."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        new = f"holdfast.{MOVED[self.__name__.removeprefix('holdfast.')]}"
        warn(f"{self.__name__} is now {new}", DeprecationWarning, stacklevel=2)
        return getattr(import_module(new), name)


def keep_old_names() -> None:
    """Let the old names be imported; nothing is loaded until something is asked of one."""
    for old in MOVED:
        sys.modules.setdefault(f"holdfast.{old}", _Moved(f"holdfast.{old}"))
