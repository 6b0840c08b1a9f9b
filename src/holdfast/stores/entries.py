"""Methods that stores of bytes share; text is stored as UTF-8."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from .protocols import as_text, to_bytes


class BytesStore(ABC):
    """Reads and writes text by the methods for bytes, which a subclass defines."""

    @abstractmethod
    def get_bytes(self, key: str) -> bytes | None:
        """The value as bytes, or None; text is encoded as UTF-8."""

    @abstractmethod
    def set_bytes(self, key: str, value: bytes) -> None:
        """Store the bytes, replacing an earlier value and its expiry."""

    @abstractmethod
    def put_bytes_if_absent(self, key: str, value: bytes) -> bool:
        """Store the bytes if the key is free; whether it was. One of many callers gets True."""

    def get(self, key: str) -> str | None:
        """The value, or None. Raises StoreError if it was set as bytes that are not UTF-8."""
        return as_text(key, self.get_bytes(key))

    def set(self, key: str, value: str) -> None:
        """Store the value, replacing an earlier one and its expiry."""
        self.set_bytes(key, to_bytes(value))

    def put_if_absent(self, key: str, value: str) -> bool:
        """Store the value if the key is free; whether it was. One of many callers gets True."""
        return self.put_bytes_if_absent(key, to_bytes(value))


class EntryStore(BytesStore):
    """Writes many entries at once, with expiry by a clock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock

    @abstractmethod
    def _write(self, values: Mapping[str, bytes], ends: float | None = None) -> None:
        """Store all of the values or none; they expire at this time, or never."""

    def set_bytes(self, key: str, value: bytes) -> None:
        """Store the bytes, replacing an earlier value and its expiry."""
        self._write({key: bytes(value)})

    def set_many(self, values: Mapping[str, str]) -> None:
        """Store all of the values, or none."""
        self._write({key: to_bytes(value) for key, value in values.items()})

    def set_for(self, key: str, value: str, seconds: float) -> None:
        """Store the value, which expires after this many seconds."""
        self._write({key: to_bytes(value)}, float(self._clock() + seconds))
