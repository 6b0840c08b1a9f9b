"""Stores for text by key and for logs, in memory, files or servers; artifacts and wrappers."""

from dataclasses import dataclass, field
from typing import cast
from urllib.parse import parse_qsl, urlsplit

from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.registry import Registry, imported
from holdfast.kernel.typed import check_type, what_is

from .protocols import shown, unusable

STORES = Registry(
    "store",
    "stores",
    """
        memory holdfast.stores.in_process:InProcessStore
        sqlite holdfast.stores.sqlite:SqliteStore
        file holdfast.stores.objects:FolderStore
        postgresql holdfast.stores.postgres:PostgresStore
        postgres holdfast.stores.postgres:PostgresStore
        redis holdfast.stores.redis:RedisStore
        rediss holdfast.stores.redis:RedisStore
        valkey holdfast.stores.redis:RedisStore
        valkeys holdfast.stores.redis:RedisStore
        s3 holdfast.stores.objects:ObjectStore
        gs holdfast.stores.objects:ObjectStore
        az holdfast.stores.objects:ObjectStore
    """,
)
"""The stores by URL scheme. A class of another package must have ``from_url`` too."""


def open_store(spec: str | KeyValueStore) -> KeyValueStore:
    """Return the store of a URL, or a store object unchanged.

    ``memory://`` and ``memory://name`` are shared by the whole process. ``sqlite:///file.db`` is a
    relative path, ``sqlite:////var/file.db`` an absolute one. ``file:///folder`` keeps everything
    in a folder; ``postgresql://user@host/database`` and ``redis://host:6379/0`` on a server;
    ``s3://bucket/prefix`` (``gs://``, ``az://``) in a bucket, where a thread is read whole when it
    is opened. With any of them, ``?artifacts=URL`` puts artifacts into another store, and
    ``?tenant=NAME`` opens the namespace of one tenant.

    A file or a server is opened at its first use. Raises ConfigError for anything that is not a
    store, and MissingExtraError if its package is not installed. No message repeats a password.
    """
    if not isinstance(spec, str):
        if isinstance(cast("object", spec), KeyValueStore) and not isinstance(spec, type):
            return spec
        raise unusable(
            f"{what_is(spec)} is not a store",
            "give a URL such as 'sqlite:///agent.db', or an object with get, set and delete",
        )
    plain, options = _split(spec)
    store: KeyValueStore = STORES.opened(_scheme(plain), plain)
    if "artifacts" in options:
        routed = imported("holdfast.stores.wrappers:RoutedStore")
        store = routed(store, open_store(options["artifacts"]))
    if "tenant" in options:
        store = imported("holdfast.stores.wrappers:PrefixStore")(store, options["tenant"])
    return store


@dataclass(frozen=True)
class Encrypted:
    """The URL of an encrypted store and its key, for processes that each open it for themselves."""

    url: str
    key: bytes | str = field(repr=False)

    def opened(self) -> KeyValueStore:
        """The store. Raises StoreError if it has another key."""
        encrypted = imported("holdfast.stores.encrypt:EncryptedStore")  # it needs cryptography
        return cast("KeyValueStore", encrypted.unlock(open_store(self.url), self.key))


def check_store(url: str) -> None:
    """Raise ConfigError for a URL of no known store, without importing a package."""
    check_type(url, str, "store")
    plain, options = _split(url)
    for each in (plain, options.get("artifacts", plain)):
        _ = _scheme(each)


_OWN = ("artifacts", "tenant")


def _split(url: str) -> tuple[str, dict[str, str]]:
    """Split the options ``artifacts`` and ``tenant`` from the URL."""
    head, _, query = url.partition("?")
    rest = [part for part in query.split("&") if part.partition("=")[0] not in _OWN]
    given = parse_qsl(query, keep_blank_values=True)
    own = {name: value for name, value in given if name in _OWN}
    return (f"{head}?{'&'.join(rest)}" if any(rest) else head), own


def _scheme(url: str) -> str:
    scheme, mark, _ = url.partition("://")
    if not mark:
        file = url.removeprefix("sqlite:") or "agent.db"
        raise unusable(f"{url!r} is not a URL", f"a file is written 'sqlite:///{file}'")
    try:
        urlsplit(url)
    except ValueError as fault:
        raise unusable(f"{shown(url)!r} is not a URL: {fault}", "check its host") from None
    if scheme.lower() not in STORES:
        raise STORES.unknown(scheme).at("store")
    return scheme.lower()
