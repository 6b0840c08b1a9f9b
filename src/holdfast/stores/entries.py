"""Keys and values: the methods that every store of bytes shares. Text is kept as its UTF-8."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from holdfast.stores.protocols import to_bytes, to_text


class BytesStore(ABC):
    """Reads and writes text by the methods for bytes, which a subclass defines."""

    @abstractmethod
    def get_bytes(self, key: str) -> bytes | None:
        """The bytes, or None; of text, its UTF-8."""

    @abstractmethod
    def set_bytes(self, key: str, value: bytes) -> None:
        """Keep the bytes; replaces earlier ones and their end."""

    @abstractmethod
    def put_bytes_if_absent(self, key: str, value: bytes) -> bool:
        """Keep the bytes if the key is free; whether it was. Of many callers, one is told so."""

    def get(self, key: str) -> str | None:
        """The value, or None. Raises StoreError if it was set as bytes that are not UTF-8."""
        value = self.get_bytes(key)
        return None if value is None else to_text(key, value)

    def set(self, key: str, value: str) -> None:
        """Keep the value; replaces an earlier one and its end."""
        self.set_bytes(key, to_bytes(value))

    def put_if_absent(self, key: str, value: str) -> bool:
        """Keep the value if the key is free; whether it was. Of many callers, one is told so."""
        return self.put_bytes_if_absent(key, to_bytes(value))


class EntryStore(BytesStore):
    """A store that reads and writes many entries at once, and whose entries can expire."""

    @abstractmethod
    def _read(self, keys: Sequence[str]) -> list[bytes | None]:
        """The bytes in the order of the keys, all of the same moment."""

    @abstractmethod
    def _write(self, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Keep all of the values or none, for so many seconds or without an end."""

    def get_bytes(self, key: str) -> bytes | None:
        """The bytes, or None; of text, its UTF-8."""
        return self._read([key])[0]

    def set_bytes(self, key: str, value: bytes) -> None:
        """Keep the bytes; replaces earlier ones and their end."""
        self._write({key: bytes(value)})

    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """The values in the order of the keys, all of the same moment."""
        values = zip(keys, self._read(keys), strict=True)
        return [None if value is None else to_text(key, value) for key, value in values]

    def set_many(self, values: Mapping[str, str]) -> None:
        """Keep all of the values, or none if it fails."""
        self._write({key: to_bytes(value) for key, value in values.items()})

    def set_for(self, key: str, value: str, seconds: float) -> None:
        """Keep the value for so many seconds."""
        self._write({key: to_bytes(value)}, seconds)
