"""A store in one folder: a SQLite file, and the artifacts as files."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from holdfast.kernel.errors import ConfigError
from holdfast.stores.objects import ObjectStore
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.wrappers import RoutedStore

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
            raise ConfigError(
                f"{url!r} names no folder",
                place="store",
                advice="write 'file:///var/holdfast', or 'file://./holdfast' for a relative path",
            )
        return cls(unquote(parts.netloc + parts.path))
