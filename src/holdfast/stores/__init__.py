"""Where are the bytes? Text by key, in memory or in a file.

Artifacts and wrappers over any such store.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from holdfast.kernel.errors import ConfigError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.registry import Registry

STORES = Registry(
    noun="store",
    group="stores",
    table={
        "memory": "holdfast.stores.in_process:InProcessStore",
        "sqlite": "holdfast.stores.sqlite:SqliteStore",
    },
)
"""By URL scheme. A class from outside has ``from_url`` too."""


@runtime_checkable
class OpensUrl(Protocol):
    """What a URL scheme stands for: a class whose ``from_url`` makes the store."""

    def from_url(self, url: str) -> KeyValueStore:
        """The store that the URL names.

        Raises ConfigError if the URL is not understood; touches no file yet.
        """
        ...


def open_store(spec: str | KeyValueStore) -> KeyValueStore:
    """The store of a URL, or the very object that already is one.

    ``memory://`` and ``memory://name`` name stores that all of this process shares;
    ``sqlite:///file.db`` is relative, ``sqlite:////var/file.db`` absolute. A file is opened when it
    is first used. Raises ConfigError if the URL or the object is no store. No message repeats a
    URL's password.
    """
    return _by_url(spec) if isinstance(spec, str) else _checked(spec)


def _checked(given: object) -> KeyValueStore:
    if isinstance(given, KeyValueStore) and not isinstance(given, type):
        return given
    what = f"the class {given.__name__}" if isinstance(given, type) else f"a {type(given).__name__}"
    raise ConfigError(
        f"{what} is not a store",
        place="store",
        advice="give a URL such as 'sqlite:///agent.db', or an object with get, set and delete",
    )


def _by_url(url: str) -> KeyValueStore:
    scheme, mark, _ = url.partition("://")
    if not mark:
        file = url.removeprefix("sqlite:") or "agent.db"
        raise ConfigError(
            f"{url!r} is not a URL", place="store", advice=f"a file is written 'sqlite:///{file}'"
        )
    try:
        opener = STORES.load(scheme.lower())
    except ConfigError as fault:
        raise ConfigError(fault.problem, place="store", advice=fault.advice) from fault
    if not isinstance(opener, OpensUrl):
        raise ConfigError(f"what {scheme!r} stands for has no from_url", place="store")
    return opener.from_url(url)
