"""A connection of ASGI: its request is read, and its answer sent."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from holdfast.http.requests import Vendor, written

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Pairs = Iterable[tuple[bytes, bytes]]


class Gone(Exception):  # noqa: N818 - no error, but what happened
    """The client has disconnected."""


@dataclass
class Connection:
    """One request of a client, and the ways to answer it; names of headers are in lower case."""

    scope: Scope
    receive: Receive
    send: Send

    def __post_init__(self) -> None:
        self.arrived = asyncio.Event()
        """Whether the whole body of the request was read."""
        self.path: str = self.scope["path"]
        self.headers: Mapping[str, str] = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in self.scope["headers"]
        }

    async def parts(self) -> AsyncIterator[bytes]:
        """The body of the request as it arrives. Raises Gone."""
        more = True
        while more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise Gone
            yield message.get("body", b"")
            more = message.get("more_body", False)
        self.arrived.set()

    async def body(self, most: int) -> bytes | None:
        """The whole body of the request; None for one of more than ``most`` bytes. Raises Gone."""
        parts: list[bytes] = []
        size = 0
        async for part in self.parts():
            size += len(part)
            if size > most:
                return None
            parts.append(part)
        return b"".join(parts)

    async def left(self) -> None:
        """Wait until the client has disconnected."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def begin(self, status: int, headers: Pairs) -> None:
        """Begin the response."""
        await self.send({"type": "http.response.start", "status": status, "headers": headers})

    async def write(self, body: bytes, *, more: bool = False) -> None:
        """Send a part of the response, or its end."""
        await self.send({"type": "http.response.body", "body": body, "more_body": more})

    async def answer(
        self, status: int, body: bytes, kind: bytes = b"application/json", more: Pairs = ()
    ) -> None:
        """Send a whole response."""
        length = (b"content-length", b"%d" % len(body))
        await self.begin(status, [(b"content-type", kind), length, *more])
        await self.write(body)

    async def refuse(self, status: int, line: str, vendor: Vendor = "openai") -> int:
        """Send an error in the form that the vendor's packages read; return its status."""
        told: dict[str, Any] = {"message": f"holdfast: {line}"}
        if vendor == "google":
            told |= {"code": status, "status": "FAILED_PRECONDITION"}
        else:
            told["type"] = "invalid_request_error" if status < 500 else "api_error"
        body: dict[str, Any] = {"error": told}
        if vendor == "anthropic":
            body["type"] = "error"
        await self.answer(status, written(body))
        return status
