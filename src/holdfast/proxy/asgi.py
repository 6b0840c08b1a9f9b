"""The types of ASGI, and helpers for the proxy's own answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

import msgspec

from holdfast.http.requests import Vendor

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Pairs = Iterable[tuple[bytes, bytes]]


class Gone(Exception):  # noqa: N818 - no error, but what happened
    """The client has disconnected."""


class Fields:
    """Headers of a request by name, in lower case."""

    def __init__(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        self._found = {name: value.decode("latin-1") for name, value in pairs}

    def get(self, key: str, default: str = "", /) -> str:
        """The value, or the default."""
        return self._found.get(key.encode(), default)

    @property
    def names(self) -> frozenset[bytes]:
        """The names."""
        return frozenset(self._found)


async def answer(
    send: Send, status: int, body: bytes, kind: bytes = b"application/json", more: Pairs = ()
) -> None:
    """Send a whole response."""
    headers = [(b"content-type", kind), (b"content-length", b"%d" % len(body)), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def answer_json(send: Send, status: int, value: object) -> None:
    """Send JSON."""
    await answer(send, status, msgspec.json.encode(value))


async def refuse(send: Send, status: int, line: str, vendor: Vendor = "openai") -> None:
    """Send an error in the form that the vendor's packages read."""
    text = f"holdfast: {line}"
    told: dict[str, Any] = {"message": text}
    if vendor == "google":
        told |= {"code": status, "status": "FAILED_PRECONDITION"}
    else:
        told["type"] = "invalid_request_error" if status < 500 else "api_error"
    body: dict[str, Any] = {"error": told}
    if vendor == "anthropic":
        body["type"] = "error"
    await answer_json(send, status, body)


async def body_of(receive: Receive, most: int) -> bytes | None:
    """The whole body of a request; None for one of more than ``most`` bytes. Raises Gone."""
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > most:
            return None
        parts.append(part)
        more = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)
