"""The cheapest provider on loopback: ``python -m benchmarks.proxy.upstream`` prints its port.

The header ``x-mode`` says how it answers (or fails), ``x-id`` is counted; ``GET /counts`` tells
how often each was seen.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter

SAID = (
    b'{"choices":[{"message":{"role":"assistant","content":"fine"}}],"usage":{"prompt_tokens":9}}'
)
EVENT = b'data: {"choices":[{"delta":{"content":"' + b"fine " * 40 + b'"}}]}\n\n'
CHUNKS = 20
LARGE = 4_000  # events of a stream that is read slowly: about 1 MB
SEEN: Counter[str] = Counter()


def whole(status: bytes, body: bytes, more: bytes = b"") -> bytes:
    """A response with its length."""
    length = b"content-length: %d\r\n" % len(body)
    return (
        b"HTTP/1.1 "
        + status
        + b"\r\ncontent-type: application/json\r\n"
        + length
        + more
        + b"\r\n"
        + body
    )


STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
ANSWERS = {
    "ok": whole(b"200 OK", SAID),
    "429": whole(b"429 Too Many Requests", b'{"error":"slow down"}', b"retry-after: 1\r\n"),
    "500": whole(b"500 Internal Server Error", b'{"error":"broken"}'),
    "half": whole(b"200 OK", SAID * 4)[: -2 * len(SAID)],
}


def chunk(event: bytes) -> bytes:
    """An event as a chunk."""
    return b"%x\r\n" % len(event) + event + b"\r\n"


class Connection(asyncio.Protocol):
    """One connection; requests come one after another."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.read, self.wants = transport, bytearray(), -1
        self.mode = self.path = b""
        self.task: asyncio.Task[None] | None = None
        self.writable = asyncio.Event()
        self.writable.set()

    def pause_writing(self) -> None:
        """The reader is slow."""
        self.writable.clear()

    def resume_writing(self) -> None:
        """The reader goes on."""
        self.writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        del exc
        if self.task:
            self.task.cancel()

    def data_received(self, data: bytes) -> None:
        """Take what comes; answer when a request is whole."""
        self.read += data
        while True:
            if self.wants < 0:
                end = self.read.find(b"\r\n\r\n")
                if end < 0:
                    return
                head = bytes(self.read[:end]).split(b"\r\n")
                del self.read[: end + 4]
                fields = dict(line.lower().split(b": ", 1) for line in head[1:])
                self.path = head[0].split()[1]
                self.mode, self.wants = (
                    fields.get(b"x-mode", b"ok"),
                    int(fields.get(b"content-length", 0)),
                )
                if b"x-id" in fields:
                    SEEN[fields[b"x-id"].decode()] += 1
            if len(self.read) < self.wants:
                return
            del self.read[: self.wants]
            self.wants = -1
            self.answer(self.mode.decode())

    def answer(self, mode: str) -> None:
        """Answer, or fail."""
        if self.path == b"/counts":
            self.transport.write(whole(b"200 OK", json.dumps(SEEN).encode()))
        elif mode == "reset":
            self.transport.abort()
        elif mode in ("stream", "halfstream", "large"):
            self.task = asyncio.ensure_future(self.stream(mode))
        else:
            self.transport.write(ANSWERS[mode])
            if mode == "half":
                self.transport.close()

    async def stream(self, mode: str) -> None:
        """Events, some milliseconds apart; half of them, or many at once."""
        self.transport.write(STREAM)
        for n in range(LARGE if mode == "large" else CHUNKS):
            await self.writable.wait()
            self.transport.write(chunk(EVENT))
            if mode != "large":
                await asyncio.sleep(0.002)
            if mode == "halfstream" and n == CHUNKS // 2:
                self.transport.close()
                return
        self.transport.write(b"0\r\n\r\n")


async def main() -> None:
    """Serve until it is ended."""
    server = await asyncio.get_running_loop().create_server(
        Connection, "127.0.0.1", 0, backlog=1_024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
