"""A store of objects: S3, Google Cloud Storage, Azure Blob Storage, or files in a directory.

It has no logs, nothing expires, and each entry is one round trip: it suits artifacts, which
``FolderStore`` keeps so beside a SQLite file.
"""

from __future__ import annotations

import os
import re
from binascii import a2b_qp
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from holdfast.kernel.errors import StoreError
from holdfast.kernel.forks import cached_property
from holdfast.kernel.registry import needed_by
from holdfast.text.visible import fault_line

from .entries import BytesStore
from .protocols import shown, to_bytes, to_text, unusable
from .sqlite import SqliteStore
from .wrappers import RoutedStore

with needed_by("a store of objects", "objects"):
    import obstore
    from obstore.exceptions import AlreadyExistsError, BaseError
    from obstore.store import LocalStore, from_url

_PLAIN = re.compile(rb"[^a-z0-9_.-]|^\.")
_LONGEST = 200  # bytes of one part of a path: file systems allow 255
_MOST = 800  # bytes of a path: S3 allows 1,024, including the store's prefix
_LONG = "=long"
_KEY_LENGTH = 4  # bytes of the length of a key, as in other formats: no key has 4 GB


_OBSTORE: Any = obstore  # may return Arrow tables, for which it has no types


@dataclass(eq=False)
class ObjectStore(BytesStore):
    """The objects of a bucket or a directory, under a prefix.

    A key is the path of its object: ``:`` ends a folder, so a namespace is a folder, and bytes that
    not every service allows in names are written ``=xx``. A key that is too long for a path is
    stored in its object, before the value. A write is as durable as the service makes it; in a
    directory it is on the disk before the call returns.
    """

    opens: Callable[[], Any]
    place: str
    folder: Path | None = None

    leftovers = "versions that the bucket keeps of replaced and deleted objects"

    @cached_property
    def _objects(self) -> Any:
        """The client of the service, made at its first use."""
        return self.opens()

    @classmethod
    def from_url(cls, url: str) -> ObjectStore:
        """The store of ``s3://bucket/prefix``, ``gs://bucket/prefix`` or ``az://container/prefix``.

        Credentials and the endpoint are read from the vendors' usual environment variables, or from
        options of the URL: ``?region=...&endpoint=http://host``.
        """
        parts = urlsplit(url)
        if not parts.netloc:
            problem = f"{shown(url)!r} names no bucket"
            raise unusable(problem, f"write '{parts.scheme}://bucket/prefix'")
        config: Any = dict(parse_qsl(parts.query))
        plain = parts._replace(query="").geturl()
        plainly = config.get("endpoint", "").startswith("http://")
        # any options would overrule AWS_ALLOW_HTTP
        options: Any = {"allow_http": True} if plainly else None
        try:
            made = from_url(plain, config=config, client_options=options)
        except (BaseError, ValueError) as fault:
            raise unusable(problem_line(fault), f"look at {shown(plain)}") from fault
        return cls(lambda: made, shown(plain))

    @classmethod
    def in_folder(cls, folder: Path) -> ObjectStore:
        """Files in a directory, which is created if it is missing."""
        place = folder.absolute()
        return cls(lambda: LocalStore(place, mkdir=True), str(folder), place)

    def get_bytes(self, key: str) -> bytes | None:
        """The value as bytes, or None; text is encoded as UTF-8."""
        path, head = _path(key)
        with self._asking(), suppress(FileNotFoundError):
            return bytes(obstore.get(self._objects, path).bytes())[len(head) :]
        return None

    def set_bytes(self, key: str, value: bytes) -> None:
        """Store the bytes, replacing an earlier value."""
        self._put(key, value, "overwrite")

    def put_bytes_if_absent(self, key: str, value: bytes) -> bool:
        """Store the bytes if the key is free; whether it was. One of many callers gets True."""
        with suppress(AlreadyExistsError):
            self._put(key, value, "create")
            return True
        return False

    def delete(self, key: str) -> None:
        """Delete the key."""
        with self._asking(), suppress(FileNotFoundError):
            obstore.delete(self._objects, _path(key)[0])

    def keys(self, prefix: str = "") -> list[str]:
        """The keys that start with the prefix, in order; reads the whole folder."""
        folder = prefix.rpartition(":")[0]
        with self._asking():
            inside = _path(folder)[0] if folder else None
            keys = list(map(self._key, {*self._paths(inside), *self._paths(_LONG)}))
        return sorted(key for key in keys if key.startswith(prefix))

    def _paths(self, inside: str | None) -> list[str]:
        return [
            found["path"] for some in _OBSTORE.list(self._objects, prefix=inside) for found in some
        ]

    def _key(self, path: str) -> str:
        """The key of a path; a long one is in the object."""
        if not path.startswith(f"{_LONG}/"):
            parts = ("" if part == "=" else part for part in path.split("/"))
            return ":".join(to_text(path, a2b_qp(part.encode())) for part in parts)
        value = bytes(obstore.get(self._objects, path).bytes())
        length = int.from_bytes(value[:_KEY_LENGTH], "big")
        return to_text(path, value[_KEY_LENGTH : _KEY_LENGTH + length])

    def _put(self, key: str, value: bytes, mode: Literal["create", "overwrite"]) -> None:
        path, head = _path(key)
        with self._asking():
            obstore.put(self._objects, path, head + value, mode=mode, use_multipart=False)
        file = self.folder and self.folder / path
        for place in (file, file.parent) if file else ():  # flush both to the disk
            handle = os.open(place, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    @contextmanager
    def _asking(self) -> Generator[None]:
        try:
            yield
        except AlreadyExistsError:
            raise
        except (BaseError, OSError) as fault:
            raise StoreError(f"object store {self.place}: {problem_line(fault)}") from fault


def problem_line(fault: Exception) -> str:
    """An error of obstore on one line, without what its own source is quoted for."""
    return fault_line(str(fault).partition("Debug source")[0])


def _path(key: str) -> tuple[str, bytes]:
    """The path of a key's object, and the bytes stored before its value."""
    escaped = (
        _PLAIN.sub(lambda sign: b"=%02x" % sign[0][0], to_bytes(part)) for part in key.split(":")
    )
    parts = [part.decode() or "=" for part in escaped]
    path = "/".join(parts)
    if len(path) <= _MOST and all(len(part) <= _LONGEST for part in parts):
        return path, b""
    name = to_bytes(key)
    return f"{_LONG}/{sha256(name).hexdigest()}", len(name).to_bytes(_KEY_LENGTH, "big") + name


FILE, ARTIFACTS = "holdfast.db", "artifacts"


class FolderStore(RoutedStore):
    """Keys and logs in ``holdfast.db``, with the guarantees of SqliteStore; artifacts in a folder.

    Each artifact is a file of its own, which a backup copies once and a program can read. The
    folder is created at the first use, readable only by its owner.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        super().__init__(
            SqliteStore(self._folder / FILE, makes_folder=True),
            ObjectStore.in_folder(self._folder / ARTIFACTS),
        )

    @classmethod
    def from_url(cls, url: str) -> FolderStore:
        """The store of ``file:///absolute/folder`` or ``file://./relative/folder``."""
        parts = urlsplit(url)
        if parts.netloc not in ("", ".") or not parts.path.strip("/") or parts.query:
            raise unusable(
                f"{shown(url)!r} names no folder",
                "write 'file:///var/holdfast', or 'file://./holdfast' for a relative path",
            )
        return cls(unquote(parts.netloc + parts.path))
