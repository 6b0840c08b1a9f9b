"""A store that keeps nothing readable.

Values, and the names of keys, are encrypted with a key of the user's.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from secrets import token_bytes

from holdfast.kernel.errors import ConfigError, MissingExtraError, StoreError
from holdfast.kernel.ports import KeyValueStore
from holdfast.stores.answers import answered, at_once
from holdfast.stores.protocols import PutsIfAbsent, to_bytes, to_text
from holdfast.stores.wrappers import MappedStore

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV
    from cryptography.hazmat.primitives.hashes import SHA512
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
except ImportError as missing:
    raise MissingExtraError("an encrypted store", "encrypt") from missing

LOCK = "holdfast_encryption"
"""The one readable entry: the salt, and a value by which a wrong key is told from an empty
store."""

HEAD = "x_"
"""How the encrypted name of a key begins."""

CHECK = b"holdfast"

KEY_BYTES, SALT_BYTES, NONCE_BYTES = 32, 16, 16

SCRYPT_N, SCRYPT_R, SCRYPT_P = 2**15, 8, 1
"""A guess of a passphrase takes 32 MB and about 0.1 s."""


class EncryptedStore(MappedStore):
    """What it wraps, encrypted with AES-SIV (RFC 5297); made by ``unlock``.

    A value is bound to its key, so that an entry that was changed or moved is refused. The same key
    always has the same encrypted name, by which it is found; the same value never looks the same
    twice. What still shows is how many entries there are, how long they are, and when one is
    replaced. A listing decrypts all names.
    """

    def __init__(self, inner: KeyValueStore, cipher: AESSIV) -> None:
        super().__init__(inner)
        self._cipher = cipher

    @classmethod
    def unlock(cls, inner: KeyValueStore, key: bytes | str) -> EncryptedStore:
        """The store beneath, seen with the key: 32 bytes, or a passphrase.

        The first key that a store is unlocked with is its key from then on. Raises StoreError if it
        has another, ConfigError if the store must be awaited: then ``aunlock`` is the way.
        """
        return at_once(cls.aunlock(inner, key))

    @classmethod
    async def aunlock(cls, inner: KeyValueStore, key: bytes | str) -> EncryptedStore:
        """As ``unlock``, over any store."""
        _check(key)
        lock = await answered(inner.get(LOCK))
        if lock is None:
            lock = _new_lock(key)
            if not isinstance(inner, PutsIfAbsent):
                await answered(inner.set(LOCK, lock))
            elif not await answered(inner.put_if_absent(LOCK, lock)):
                lock = await answered(inner.get(LOCK)) or ""
        return cls(inner, _cipher_of(lock, key))

    def _name(self, key: str, /) -> str:
        return (
            HEAD + urlsafe_b64encode(self._cipher.encrypt(b"." + to_bytes(key), [b"key"])).decode()
        )

    def _key(self, name: str, /) -> str | None:
        if not name.startswith(HEAD):
            return None
        try:
            sealed = urlsafe_b64decode(name.removeprefix(HEAD))
            return to_text(name, self._cipher.decrypt(sealed, [b"key"])[1:])
        except (InvalidTag, ValueError) as fault:
            raise StoreError(f"the entry {name!r} of the encrypted store is damaged") from fault

    def _stem(self, _prefix: str, /) -> str:
        return HEAD

    def _seal(self, key: str, value: bytes, /) -> bytes:
        nonce = token_bytes(NONCE_BYTES)
        return nonce + self._cipher.encrypt(b"." + value, [b"value", to_bytes(key), nonce])

    def _open(self, key: str, sealed: bytes, /) -> bytes:
        nonce, rest = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
        try:
            return self._cipher.decrypt(rest, [b"value", to_bytes(key), nonce])[1:]
        except InvalidTag as fault:
            raise StoreError(
                f"what is kept under {key!r} was changed after it was encrypted"
            ) from fault

    def _seal_text(self, key: str, value: str, /) -> str:
        return b64encode(self._seal(key, to_bytes(value))).decode()

    def _open_text(self, key: str, sealed: str, /) -> str:
        try:
            return to_text(key, self._open(key, b64decode(sealed, validate=True)))
        except ValueError as fault:
            raise StoreError(
                f"what is kept under {key!r} was changed after it was encrypted"
            ) from fault


def _check(key: bytes | str) -> None:
    if isinstance(key, bytes) and len(key) != KEY_BYTES:
        problem = f"a key of {len(key)} bytes"
    elif key == "":
        problem = "an empty passphrase"
    else:
        return
    advice = (
        f"give {KEY_BYTES} random bytes (secrets.token_bytes({KEY_BYTES})), or a passphrase as text"
    )
    raise ConfigError(problem, place="encrypted store", advice=advice)


def _derived(key: bytes | str, salt: bytes) -> AESSIV:
    if isinstance(key, str):
        key = Scrypt(salt, KEY_BYTES, SCRYPT_N, SCRYPT_R, SCRYPT_P).derive(to_bytes(key))
    return AESSIV(HKDF(SHA512(), 64, salt, b"holdfast store").derive(key))


def _new_lock(key: bytes | str) -> str:
    salt = token_bytes(SALT_BYTES)
    check = _derived(key, salt).encrypt(CHECK, [b"check"])
    return json.dumps({"holdfast": 1, "salt": salt.hex(), "check": check.hex()})


def _cipher_of(lock: str, key: bytes | str) -> AESSIV:
    try:
        match json.loads(lock):
            case {"holdfast": 1, "salt": str(salt), "check": str(check)}:
                cipher = _derived(key, bytes.fromhex(salt))
                cipher.decrypt(bytes.fromhex(check), [b"check"])
                return cipher
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
