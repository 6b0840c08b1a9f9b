"""Originals named by their hash, and the secret of a store: stored once, returned exactly.

An artifact is a line of JSON with its description, then its content, compressed if that helps. A
store of bytes keeps both unchanged; a store of text keeps the content in base64.
"""

import json
import zlib
from base64 import b64decode, b64encode
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from secrets import token_hex
from typing import Any, cast

from holdfast.kernel.errors import (
    ConfigError,
    CorruptError,
    MissingExtraError,
    NotFoundError,
    StoreError,
)
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.registry import imported, needed_by
from holdfast.kernel.typed import object_of, typed, what_is
from holdfast.text.keyed import KEY_DIGITS, is_known
from holdfast.text.keyed import key_of as keyed

from .excerpts import TextExcerpt, excerpt
from .protocols import (
    KeepsBytes,
    ListsKeys,
    as_text,
    check_unlocked,
    from_base64,
    put_new,
    settled,
    text_or_bytes,
    to_bytes,
)

VERSION = 1  # of the header


@dataclass(frozen=True)
class Header:
    """The first line; ``bytes`` and ``lines`` are those of the content."""

    sha256: str
    kind: str
    encoding: str
    bytes: int
    lines: int


def key_of(content: bytes) -> str:
    """The key of a content: its SHA-256 in hexadecimal."""
    return sha256(content).hexdigest()


def encode(content: bytes, kind: str) -> tuple[Header, bytes]:
    """Return the header and the blob of the content."""
    try:
        encoding, payload = "zstd", _zstandard().compress(content)
    except MissingExtraError:
        encoding, payload = "zlib", zlib.compress(content)
    if len(payload) >= len(content):
        encoding, payload = "plain", content
    lines = content.count(b"\n") + (content[-1:] not in (b"", b"\n"))
    header = Header(key_of(content), kind, encoding, len(content), lines)
    return header, json.dumps({"holdfast": VERSION, **asdict(header)}).encode() + b"\n" + payload


def decode(name: str, blob: bytes) -> tuple[Header, bytes]:
    """Return the header and the content of a blob.

    Raises CorruptError unless the content has the hash in the header.
    """
    header = header_of(name, blob)
    payload = blob[blob.index(b"\n") + 1 :]
    try:
        content = _unpacked(header, payload)
    except ValueError as fault:
        try:  # it may have been stored as text
            content = _unpacked(header, b64decode(payload, validate=True))
        except ValueError:
            raise CorruptError(name, str(fault)) from fault
    if key_of(content) != header.sha256:
        raise CorruptError(name)
    return header, content


def header_of(name: str, blob: bytes) -> Header:
    """Return the header of a blob. Raises CorruptError if there is none.

    Raises StoreError if a newer Holdfast wrote it.
    """
    line, end, _ = blob.partition(b"\n")
    facts = object_of(line) if end else None
    match facts:
        case {"holdfast": 1}:
            with suppress(ValueError):
                found: Header = typed(facts, Header)
                return found
        case {"holdfast": int(newer)} if newer > VERSION:
            raise StoreError(
                f"an artifact of form {newer} needs a newer Holdfast: pip install -U holdfast"
            )
        case _:
            pass
    raise CorruptError(name, "its first line is not that of an artifact")


def check_artifact(reference: str, blob: bytes) -> None:
    """Raise CorruptError unless the blob is intact and the content of its reference.

    A signed reference, which has 20 digits, does not tell whose content it is.
    """
    header, _ = decode(reference, blob)
    if len(reference) != KEY_DIGITS and not header.sha256.startswith(reference):
        raise CorruptError(reference, "it is another content")


def to_armour(blob: bytes) -> str:
    """The blob as ASCII, for a store of text."""
    header, _, payload = blob.partition(b"\n")
    return f"{header.decode()}\n{b64encode(payload).decode()}"


@dataclass
class _Armoured:
    """The blobs in a store of text."""

    store: KeyValueStore

    def get_bytes(self, key: str) -> bytes | None:
        text = text_or_bytes(self.store, key)
        if not isinstance(text, str):  # bytes were written by the store that is wrapped
            return text
        header, _, payload = text.partition("\n")
        match object_of(header), content := to_bytes(payload):
            case {"encoding": "plain", "bytes": int(size)}, _ if size == len(content):
                pass  # written by it too: base64 is longer than what it stands for
            case _:
                content = from_base64(payload)  # empty if it is invalid, which ``decode`` refuses
        return to_bytes(header) + b"\n" + content

    def set_bytes(self, key: str, value: bytes) -> None:
        settled(self.store.set(key, to_armour(value)))

    def put_bytes_if_absent(self, key: str, value: bytes) -> bool:
        return put_new(self.store, key, to_armour(value))


def blobs_of(store: KeyValueStore) -> KeepsBytes:
    """The store itself if it stores bytes, else its texts read as blobs."""
    return cast("KeepsBytes", store) if keeps_bytes(store) else _Armoured(store)


def _unpacked(header: Header, payload: bytes) -> bytes:
    """The content of a payload. Raises ValueError for a damaged one."""
    content = payload
    if header.encoding == "zstd":
        zstandard = _zstandard()
        try:
            is_whole = zstandard.frame_content_size(payload) == header.bytes
            content = zstandard.decompress(payload) if is_whole else b""  # it may be enormous
        except zstandard.ZstdError as fault:
            raise ValueError("it cannot be decompressed") from fault
    elif header.encoding == "zlib":
        try:
            content = zlib.decompressobj().decompress(payload, header.bytes + 1)
        except zlib.error as fault:
            raise ValueError("it cannot be decompressed") from fault
    elif header.encoding != "plain":
        raise ConfigError(f"there is no encoding of artifacts named {header.encoding!r}")
    if len(content) != header.bytes:
        raise ValueError("its length is not the one that it had")
    return content


def _zstandard() -> Any:
    with needed_by("an artifact compressed with zstandard"):
        return imported("zstandard")


CONTENT = "content_"

LENGTHS = (12, 20, 32, 64)
"""Possible digits of a reference: 12 suffice for all but one in 10^14 pairs of contents, and 64 are
the whole SHA-256.
"""


@dataclass(frozen=True)
class Artifact:
    """The facts of a stored content.

    ``key`` is its SHA-256 in hexadecimal. ``reference``, which is written into texts, is the
    shortest prefix of the key that no other content of the store has. ``bytes`` and ``lines`` are
    those of the content, whose text is UTF-8.
    """

    key: str
    reference: str
    kind: str
    bytes: int
    lines: int


def keeps_bytes(store: KeyValueStore) -> bool:
    """Whether the type of the store, and not just this object, is ``KeepsBytes``."""
    return issubclass(type(store), KeepsBytes)


class ArtifactStore:
    """Artifacts over any store of text; the answers of an asynchronous one are waited for.

    A content is one entry, however often it is stored: under ``content_`` and its reference, which
    is the first 12 digits of its key, or more if these belong to another content. So a reference
    can be resolved with ``get`` and ``set`` alone, and a killed process leaves all of it or
    nothing. Every method accepts a reference in place of a key. Nothing expires. For a namespace,
    give a ``PrefixStore``.

    With a ``secret`` references depend on it: nobody else can compute them from the content, and
    references made with another secret are unknown here. Contents stored without a secret are still
    found by their own digits.
    """

    def __init__(self, store: KeyValueStore, secret: str = "") -> None:
        self._store, self._secret = store, secret
        self._blobs = blobs_of(store)

    def put(self, content: str | bytes, kind: str = "text") -> Artifact:
        """Store the content; afterwards its key and reference return it.

        A content that is already stored does not change, not even its kind; a damaged copy is
        replaced.
        """
        data = to_bytes(content) if isinstance(content, str) else content
        key = key_of(data)
        reference, held = self._place(key)
        if held is not None:
            with suppress(CorruptError):
                known, _ = decode(reference, held)
                if known.sha256 == key:
                    return _artifact(reference, known)
        header, blob = encode(data, kind)
        name = CONTENT + reference
        if held is not None:
            settled(self._blobs.set_bytes(name, blob))
        elif not settled(self._blobs.put_bytes_if_absent(name, blob)):
            return self.put(content, kind)  # another writer was faster
        return _artifact(reference, header)

    def get(self, key: str) -> str | None:
        """The content as text, or None.

        Raises CorruptError if it is damaged, StoreError if it is not text.
        """
        return as_text(key, self.get_bytes(key))

    def get_bytes(self, key: str) -> bytes | None:
        """The content, or None. Raises CorruptError if it is damaged."""
        found = self._find(key)
        return None if found is None else decode(*found)[1]

    def read(
        self,
        key: str,
        *,
        lines: tuple[int, int] | None = None,
        pattern: str | None = None,
        field: str | None = None,
    ) -> TextExcerpt:
        """Return a text or a part of it.

        Raises NotFoundError if it is not stored; see ``excerpt`` for the arguments.
        """
        text = self.get(key)
        if text is None:
            raise NotFoundError(key)
        return excerpt(text, lines=lines, pattern=pattern, field=field)

    def find(self, key: str) -> Artifact | None:
        """Return the facts of the content without decompressing it; None if it is not stored."""
        found = self._find(key)
        return None if found is None else _artifact(found[0], header_of(*found))

    def delete(self, key: str) -> None:
        """Delete the content; an unknown key is not an error."""
        found = self._find(key)
        if found is not None:
            settled(self._store.delete(CONTENT + found[0]))

    def references(self) -> list[str]:
        """The references of all artifacts, in order.

        Raises StoreError if the store cannot list its keys.
        """
        if not isinstance(self._store, ListsKeys):
            raise StoreError(f"{what_is(self._store)} cannot list what it keeps")
        return [name.removeprefix(CONTENT) for name in settled(self._store.keys(CONTENT))]

    def _find(self, key: str) -> tuple[str, bytes] | None:
        """The reference and the blob, by a key, a reference, or a longer beginning of a key."""
        digits = key.strip().lower().removeprefix(CONTENT)
        known = is_known(digits, self._secret)
        for reference in [digits] if known else _prefixes(digits):
            blob = self._load(reference)
            if blob is None:
                continue
            sha256 = header_of(reference, blob).sha256
            if sha256.startswith(digits) or (known and self._is_of(reference, sha256)):
                return reference, blob
            if (known or len(reference) != KEY_DIGITS) and not self._is_of(reference, sha256):
                raise CorruptError(reference, "it is another content")
        return None

    def _references(self, sha256: str) -> list[str]:
        """The possible references of the content with this hash, the shortest first."""
        if not self._secret:
            return _prefixes(sha256)
        return [keyed(self._secret, sha256, turn) for turn in range(len(LENGTHS))]

    def _is_of(self, reference: str, sha256: str) -> bool:
        return sha256.startswith(reference) or reference in self._references(sha256)

    def _place(self, key: str) -> tuple[str, bytes | None]:
        """The shortest reference that is free or belongs to the key, and what is stored there.

        A reference whose blob cannot be read is used again.
        """
        for reference in self._references(key):
            blob = self._load(reference)
            if blob is None:
                return reference, None
            with suppress(CorruptError):
                sha256 = header_of(reference, blob).sha256
                if sha256 != key and self._is_of(reference, sha256):
                    continue
            return reference, blob
        raise CorruptError(key, "another content has its key")

    def _load(self, reference: str) -> bytes | None:
        return settled(self._blobs.get_bytes(CONTENT + reference))


def _prefixes(digits: str) -> list[str]:
    return [digits[:length] for length in LENGTHS if length <= len(digits)]


def _artifact(reference: str, header: Header) -> Artifact:
    return Artifact(header.sha256, reference, header.kind, header.bytes, header.lines)


KEY = "secret"


def secret_of(store: KeyValueStore, *, makes: bool = True) -> str:
    """The secret; empty if there is none and ``makes`` is False.

    Raises LockedError if there is none because the store is encrypted.
    """
    known = settled(store.get(KEY))
    if known:
        return known
    check_unlocked(store)
    if not makes:
        return ""
    put_new(store, KEY, token_hex())
    return settled(store.get(KEY)) or ""
