"""JSON of what is stored: bytes, which a message of the Converse API may hold, come back as bytes.

Bytes are an object whose only key is ``BYTES``, and whose value is their base64. A caller's own
object with that key alone gets a colon behind its key, and one with colons another.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
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
    return encoder.encode(_changed(value, _escaped)) if BYTES in text else text


def decoded(text: str | bytes) -> Any:
    """The inverse of ``encoded``. Raises ValueError for other texts."""
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    value: object = json.loads(text)
    return _changed(value, _read) if BYTES in text else value


def _changed(value: object, change: Callable[[dict[object, object]], object]) -> object:
    """The value with every object in it changed, the inner ones first."""
    if isinstance(value, list | tuple):
        return [_changed(each, change) for each in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    held = cast("dict[object, object]", value)
    return change({key: _changed(each, change) for key, each in held.items()})


def _own_key(held: dict[object, object]) -> str:
    """The only key of an object if it is ``BYTES``, perhaps with colons behind it."""
    key = next(iter(held)) if len(held) == 1 else ""
    return key if isinstance(key, str) and key.rstrip(":") == BYTES else ""


def _escaped(held: dict[object, object]) -> object:
    own = _own_key(held)
    return {f"{own}:": held[own]} if own else held


def _read(held: dict[object, object]) -> object:
    own = _own_key(held)
    if own == BYTES:
        return b64decode(cast("str", held[own]), validate=True)
    return {own[:-1]: held[own]} if own else held
