"""JSON of what is stored: bytes, which a message of the Converse API may hold, come back as bytes.

Bytes are an object whose only key is ``BYTES``, and whose value is their base64. A caller's own
object with that key alone gets a colon behind its key, and one with colons another.
"""

import json
from base64 import b64decode, b64encode
from typing import Any, cast

BYTES = "holdfast:bytes"


def tagged(value: object) -> dict[str, str]:
    """The object for bytes. Raises TypeError for anything else, as ``json`` does."""
    if isinstance(value, bytes):
        return {BYTES: b64encode(value).decode()}
    raise TypeError(f"an object of type {type(value).__name__} is no JSON")


def encoded(value: object, encoder: json.JSONEncoder) -> str:
    """The value as JSON, by an encoder whose ``default`` is ``tagged``."""
    text = encoder.encode(value)
    return encoder.encode(_escaped(value)) if BYTES in text else text


def decoded(text: str | bytes) -> Any:
    """The inverse of ``encoded``. Raises ValueError for other texts."""
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    value: object = json.loads(text)
    return _read(value) if BYTES in text else value


def _own_key(value: dict[object, object]) -> str:
    """The only key of an object if it is ``BYTES``, perhaps with colons behind it."""
    key = next(iter(value)) if len(value) == 1 else ""
    return key if isinstance(key, str) and key.rstrip(":") == BYTES else ""


def _escaped(value: object) -> object:
    if isinstance(value, list | tuple):
        return list(map(_escaped, cast("list[object]", value)))
    if not isinstance(value, dict):
        return value
    held = cast("dict[object, object]", value)
    own = _own_key(held)
    return {f"{own}:" if own else key: _escaped(each) for key, each in held.items()}


def _read(value: object) -> object:
    if isinstance(value, list):
        return list(map(_read, cast("list[object]", value)))
    if not isinstance(value, dict):
        return value
    held = cast("dict[object, object]", value)
    key = _own_key(held)
    if key == BYTES:
        return b64decode(cast("str", held[key]), validate=True)
    return {key[:-1] if key else name: _read(each) for name, each in held.items()}
