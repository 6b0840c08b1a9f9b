"""A store with encrypted values, log lines, and names of keys and logs.

The store has keys of its own, which are stored encrypted with the user's key. So ``rekey`` can
replace the user's key without writing any value again; later values get a new key of the store.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from secrets import token_bytes
from typing import AnyStr, cast

from holdfast.kernel.errors import ConfigError, StoreError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.registry import imported, needed_by
from holdfast.kernel.typed import what_is
from holdfast.text.keyed import decimal
from holdfast.text.words import STOP_WORDS, stem, words

from .protocols import (
    LOCK,
    Line,
    MessageLog,
    from_base64,
    put_new,
    settled,
    to_bytes,
    to_text,
    unusable,
)
from .wrappers import MappedStore, keeps_plain

with needed_by("an encrypted store", "encrypt"):
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV
    from cryptography.hazmat.primitives.hashes import SHA512
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

HEAD = "x_"
"""Prefix of the encrypted name of a key."""

# 256 bits of a key; at least 128 of a salt (NIST SP 800-132) and of a random nonce (RFC 5297); two
# keys of 32 bytes for AES-256-SIV (RFC 5297)
KEY_BYTES, SALT_BYTES, NONCE_BYTES, OWN_BYTES = 32, 16, 16, 64

SCRYPT_N, SCRYPT_R, SCRYPT_P = 2**15, 8, 1
"""The cost of scrypt: one guess of a passphrase takes 128 * N * r = 32 MB and about 0.1 s. For r
and p, RFC 7914 says that 8 and 1 give good results.
"""

_NAME = re.compile(r"[^\W_]+(?:[-_./:@#][^\W_]+)*")
_DIGITS = 16  # of a word: in one of 10^8 stores with 10^4 words, two words have the same digits


class Keys:
    """The keys of a store: one for names, which stays, and those for values, the newest first."""

    def __init__(self, own: Sequence[bytes]) -> None:
        self.own = list(own)
        self._names = AESSIV(self.own[0])
        self._values = [AESSIV(key) for key in reversed(self.own)]
        derived = HKDF(SHA512(), OWN_BYTES, None, b"holdfast words").derive(self.own[0])
        self._words = derived.hex()

    def name(self, text: str, about: bytes) -> str:
        """The encrypted name, which is always the same."""
        return urlsafe_b64encode(self._names.encrypt(b"." + to_bytes(text), [about])).decode()

    def named(self, name: str, about: bytes, start: int = 0) -> str:
        """The inverse of ``name``, from index ``start`` on. Raises StoreError if it was changed."""
        try:
            return to_text(name, self._names.decrypt(urlsafe_b64decode(name[start:]), [about])[1:])
        except (InvalidTag, ValueError) as fault:
            raise StoreError(f"the entry {name!r} of the encrypted store is damaged") from fault

    def seal(self, value: bytes, *about: bytes) -> bytes:
        """The encrypted value, which can only be decrypted with the same facts ``about`` it."""
        nonce = token_bytes(NONCE_BYTES)
        return nonce + self._values[0].encrypt(b"." + value, [b"value", *about, nonce])

    def open(self, sealed: bytes, *about: bytes) -> bytes:
        """The inverse of ``seal``. Raises InvalidTag if it was changed."""
        nonce, rest = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
        for cipher in self._values:
            with suppress(InvalidTag):
                return cipher.decrypt(rest, [b"value", *about, nonce])[1:]
        raise InvalidTag

    def words(self, text: str) -> str:
        """The words of the text as digits that depend on the key; joined names stay joined."""
        found: list[str] = []
        for name in _NAME.findall(text):
            parts = words(name)
            if len(parts) > 1 or not STOP_WORDS.issuperset(parts):
                found.append("_".join(map(self._word, parts)))
        return " ".join(found)

    def term(self, text: str) -> str:
        """A search term in the same digits."""
        return " ".join(map(self._word, words(text)))

    def _word(self, word: str) -> str:
        return decimal(self._words, _DIGITS, stem(word))


class EncryptedStore(MappedStore):
    """Encrypts a store with AES-SIV (RFC 5297); made by ``unlock``.

    A value is bound to its key, so a changed or moved entry is refused. A key always has the same
    encrypted name; a value is encrypted differently each time. The number of entries, their
    lengths, and the time of replacement are not hidden; in logs also not the time of a line, and
    which lines have a word in common, because words are indexed as digits. A listing decrypts all
    names.
    """

    def __init__(self, inner: KeyValueStore, keys: Keys) -> None:
        if not isinstance(cast("object", keys), Keys):
            raise ConfigError(
                "these are not the keys of a store",
                place="keys",
                advice="open the store with EncryptedStore.unlock(store, key)",
            )
        super().__init__(inner)
        self._keyring = keys

    @classmethod
    def unlock(cls, inner: KeyValueStore, key: bytes | str) -> EncryptedStore:
        """Open the store with the key: 32 bytes, or a passphrase.

        The first key with which a store is opened becomes its key. Raises StoreError if it has
        another, and ConfigError if what it holds is not encrypted.
        """
        return cls(inner, _keys_in(inner, key))

    @classmethod
    async def aunlock(cls, inner: KeyValueStore, key: bytes | str) -> EncryptedStore:
        """Like ``unlock``, in an event loop, on which an asynchronous store is awaited."""
        unlocked: EncryptedStore = await imported("holdfast.calls.event_loop:in_thread")(
            partial(cls.unlock, inner, key)
        )
        return unlocked

    @classmethod
    def rekey(cls, inner: KeyValueStore, key: bytes | str, new: bytes | str) -> EncryptedStore:
        """Replace the user's key: from now on only the new one opens the store.

        Existing entries stay unchanged and readable. What is written through the returned store, or
        a store that is opened later, has a new key of the store. A process that already has the
        store open can continue, but cannot read what is written with the new key. Two processes
        must not do this at the same time.
        """
        _check(new)
        keys = Keys([*_keys_in(inner, key).own, token_bytes(OWN_BYTES)])
        settled(inner.set(LOCK, _lock_of(keys, new)))
        return cls(inner, keys)

    def _name(self, key: str, /) -> str:
        return HEAD + self._keyring.name(key, b"key")

    def _key(self, name: str, /) -> str | None:
        if not name.startswith(HEAD):
            return None
        return self._keyring.named(name, b"key", len(HEAD))

    def _stem(self, _prefix: str, /) -> str:
        return HEAD

    def _log(self, name: str) -> MessageLog:
        return EncryptedLog(super()._log(name), self._keyring, to_bytes(name))

    def _seal(self, key: str, value: AnyStr, /) -> AnyStr:
        if isinstance(value, str):
            return b64encode(self._seal(key, to_bytes(value))).decode()
        return self._keyring.seal(value, to_bytes(key))

    def _open(self, key: str, sealed: AnyStr, /) -> AnyStr:
        if isinstance(sealed, str):
            return to_text(key, self._open(key, from_base64(sealed)))
        try:
            return self._keyring.open(sealed, to_bytes(key))
        except InvalidTag as fault:
            raise StoreError(
                f"what is kept under {key!r} was changed after it was encrypted"
            ) from fault


@dataclass
class EncryptedLog:
    """A log whose lines are encrypted and bound to their log, their id and their time.

    A changed line is left out when it is read.
    """

    inner: MessageLog
    keys: Keys
    name: bytes

    def length(self) -> int:
        """The number of lines."""
        return self.inner.length()

    def append(
        self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True
    ) -> Sequence[int]:
        """Append all of the lines, or none; return their positions."""
        return self.inner.append([self._sealed(line) for line in lines], at, flush=flush)

    def read(self, positions: Sequence[int]) -> dict[int, Line]:
        """The existing lines at these positions, in order."""
        found: dict[int, Line] = {}
        for position, line in self.inner.read(positions).items():
            with suppress(InvalidTag, StoreError):
                body = self.keys.open(from_base64(line.body), *self._about(line.id, line.time))
                name = self.keys.named(line.id, b"id " + self.name) if line.id else ""
                found[position] = Line(to_text("", body), name, line.time)
        return found

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The positions of the known ones among the ids."""
        names = {self._id(name): name for name in ids if name}
        return {names[name]: place for name, place in self.inner.find(list(names)).items()}

    def between(self, first: float, last: float, most: int) -> Sequence[int]:
        """The positions of the lines in this period, the earliest first."""
        return self.inner.between(first, last, most)

    def search(self, terms: Sequence[str], most: int) -> Mapping[int, float]:
        """BM25 scores by position, best first."""
        wanted = [found for term in terms if (found := self.keys.term(term))]
        return self.inner.search(wanted, most)

    def _id(self, name: str) -> str:
        return self.keys.name(name, b"id " + self.name)

    def _sealed(self, line: Line) -> Line:
        name = self._id(line.id) if line.id else ""
        body = self.keys.seal(to_bytes(line.body), *self._about(name, line.time))
        hidden = self.keys.words(line.words) if line.words else ""
        return Line(b64encode(body).decode(), name, line.time, hidden)

    def _about(self, name: str, time: float) -> tuple[bytes, ...]:
        return b"line", self.name, name.encode(), repr(float(time)).encode()


def _check(key: bytes | str) -> None:
    if not isinstance(cast("object", key), bytes | bytearray | str):
        problem = f"a key that is {what_is(key)}"
    elif not isinstance(key, str) and len(key) != KEY_BYTES:
        problem = f"a key of {len(key)} bytes"
    elif key == "":
        problem = "an empty passphrase"
    else:
        return
    raise ConfigError(
        problem,
        place="encrypted store",
        advice=f"give {KEY_BYTES} random bytes (secrets.token_bytes({KEY_BYTES})), "
        "or a passphrase as text",
    )


def _keys_in(inner: KeyValueStore, key: bytes | str) -> Keys:
    """The keys of the store, created if it has none."""
    _check(key)
    lock = settled(inner.get(LOCK))
    if lock is None:
        if keeps_plain(inner):
            raise unusable(
                "what it holds is not encrypted, and would stay so",
                "name a new store, and copy this one into it: holdfast store copy --target-key",
            )
        lock = _lock_of(Keys([token_bytes(OWN_BYTES)]), key)
        if not put_new(inner, LOCK, lock):
            lock = settled(inner.get(LOCK)) or ""
    try:
        match json.loads(lock):
            case {"holdfast": 1, "salt": str(salt), "check": str(check)}:
                # this version used the user's key as the store's
                own = _derived(key, bytes.fromhex(salt))
                AESSIV(own).decrypt(bytes.fromhex(check), [b"check"])
                return Keys([own])
            case {"holdfast": 2, "salt": str(salt), "keys": str(sealed)}:
                opens = AESSIV(_derived(key, bytes.fromhex(salt)))
                held = opens.decrypt(bytes.fromhex(sealed), [b"keys"])
                return Keys([held[at : at + OWN_BYTES] for at in range(0, len(held), OWN_BYTES)])
            case _:
                raise StoreError(
                    f"the entry {LOCK!r} of the encrypted store is not one of this version"
                )
    except InvalidTag as fault:
        raise StoreError(
            "the encrypted store has another key: this one does not open it"
        ) from fault
    except ValueError as fault:
        raise StoreError(f"the entry {LOCK!r} of the encrypted store is damaged") from fault


def _derived(key: bytes | str, salt: bytes) -> bytes:
    if isinstance(key, str):
        key = Scrypt(salt, KEY_BYTES, SCRYPT_N, SCRYPT_R, SCRYPT_P).derive(to_bytes(key))
    return HKDF(SHA512(), OWN_BYTES, salt, b"holdfast store").derive(key)


def _lock_of(keys: Keys, key: bytes | str) -> str:
    salt = token_bytes(SALT_BYTES)
    sealed = AESSIV(_derived(key, salt)).encrypt(b"".join(keys.own), [b"keys"])
    return json.dumps({"holdfast": 2, "salt": salt.hex(), "keys": sealed.hex()})
