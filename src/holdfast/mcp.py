"""The MCP server. Its tools return text for a model, and report failures as tool errors."""

import json
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from holdfast import __version__
from holdfast.agent.tools import ANSWER, KEPT_IN_MIND, found_again
from holdfast.files import as_input_errors, read_whole
from holdfast.kernel.errors import HoldfastError, InputError, NotFoundError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.registry import needed_by
from holdfast.recovery import recalled
from holdfast.session import Session
from holdfast.single_text import shrink
from holdfast.stores import open_store

with needed_by("the MCP server", "mcp"):
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import Field

_INSTRUCTIONS = (
    "A shortened text ends with a line such as [original: KEY (log, 12,410 tokens)]; recall gives "
    "the original back, whole or in part. search looks through whole conversations that are kept. "
    "compress_file reads a large file in few tokens."
)
_MOST = 50_000_000  # bytes of a file; shortening 10 MB took 5 s, and a client waits for an answer
_BINARY = 8_000  # bytes at the beginning, of which none is zero in a text: as git tells texts

Thread = Annotated[
    str, Field(description="the conversation's name; leave it out if the server has one")
]


@dataclass(frozen=True, repr=False)
class _Tools:
    """The tools of the server; their docstrings are for the model."""

    store: str | KeyValueStore
    thread: str
    root: Path

    def recall(
        self,
        key: Annotated[str, Field(description="the key after 'original:'")],
        lines: Annotated[str, Field(description="a range of lines such as 10:80")] = "",
        pattern: Annotated[
            str, Field(description="a regular expression (RE2); only lines that match come back")
        ] = "",
        field: Annotated[str, Field(description="a path into JSON, such as orders[3].status")] = "",
        offset: Annotated[
            int, Field(description="how many characters of a long answer to pass over")
        ] = 0,
        thread: Thread = "",
    ) -> str:
        """Return the original of a shortened text: all of it, or some lines, matches or a field."""
        asked = {"key": key, "lines": lines, "pattern": pattern, "field": field, "offset": offset}
        with _as_tool_errors():
            store, name = open_store(self.store), self._named(thread)
            if name and not thread:  # files are kept without a thread
                with suppress(NotFoundError):
                    return recalled(asked, store, name)
            return recalled(asked, store, thread)

    def search(
        self,
        query: Annotated[str, Field(description="the words in which it was probably said")] = "",
        message: Annotated[
            int | None,
            Field(description="the number of a message that was found, to read it whole"),
        ] = None,
        thread: Thread = "",
    ) -> str:
        """Find the exact words of earlier messages and tool outputs in a stored conversation."""
        asked = {"query": query} if message is None else {"message": message}
        with self._session(thread) as session:
            return found_again(session, asked)

    def compress_file(
        self,
        path: Annotated[str, Field(description="a text file: log, JSON, CSV, diff, code, prose")],
        tokens: Annotated[int, Field(description="how many tokens it may take", ge=20)] = ANSWER,
        query: Annotated[str, Field(description="what you want to know about it")] = "",
    ) -> str:
        """Read a large file in few tokens, guided by the query; a key gives access to the rest."""
        with _as_tool_errors():
            small = shrink(self._text(path), tokens, query, store=self.store)
        sizes = f"{small.tokens_before:,} tokens shortened to {small.tokens_after:,}"
        return f"[{small.kind}: {sizes}]\n{small.text}"

    def stats(self, thread: Thread = "") -> str:
        """Show the size of a conversation and of its parts."""
        with self._session(thread) as session:
            return json.dumps(session.stats().to_dict(), indent=1)

    def remember(
        self,
        text: Annotated[str, Field(description="one fact, decision or instruction, in full")],
        thread: Thread = "",
    ) -> str:
        """Keep a note, which is in every later view of the conversation."""
        with self._session(thread, begins=True) as session:
            if not text.strip():
                raise InputError(
                    "the note is empty", place="text", advice="say what to keep in mind"
                )
            session.remember(text, by="model")
        return KEPT_IN_MIND

    def _named(self, thread: str) -> str:
        """The name of the conversation, empty if none is known.

        A server that has one serves no other: what a model reads may make it ask for another's.
        """
        if self.thread and thread not in ("", self.thread):
            raise InputError(
                f"this server has one conversation, and {thread!r} is another",
                place="thread",
                advice="leave it out, or start the server without --thread",
            )
        return thread or self.thread

    @contextmanager
    def _session(self, thread: str, *, begins: bool = False) -> Generator[Session]:
        """The session. Raises ToolError if the store has no conversation of this name."""
        with _as_tool_errors():
            name = self._named(thread)
            if not name:
                raise InputError("no conversation is named", place="thread", advice="give its name")
            with Session(name, store=self.store) as session:
                if not begins and not session.appended:
                    raise InputError(
                        f"nothing is kept of {name!r}",
                        place="thread",
                        advice="check the name of the conversation",
                    )
                yield session

    def _text(self, path: str) -> str:
        """The text of a file. Raises InputError if it cannot or may not be read."""
        problem = advice = ""
        with as_input_errors(path, "read", "check the path"):
            file = (self.root / path).resolve()
            if not file.is_relative_to(self.root):
                problem = "it is outside the folder of --root"
                advice = f"give a path under {self.root}"
            elif not file.is_file():  # a pipe might never end
                problem, advice = "there is no such file", "check the path"
            elif file.stat().st_size > _MOST:
                problem = f"it is larger than {_MOST:,} bytes"
        raw = b"" if problem else read_whole(file)
        if b"\0" in raw[:_BINARY]:  # such as the store itself, with its other conversations
            problem, advice = "it is no text", "name a text file"
        if problem:
            raise InputError(problem, place=path, advice=advice)
        return raw.decode("utf-8", "replace")


@contextmanager
def _as_tool_errors() -> Generator[None]:
    """Report an error of the block to the model as a tool error."""
    try:
        yield
    except HoldfastError as fault:
        raise ToolError(str(fault)) from fault


def serve(store: str | KeyValueStore, thread: str, root: Path, port: int | None) -> None:
    """Serve until the client disconnects: on standard input and output, or on a local port.

    ``thread`` is the only conversation; without one, each call names a conversation of the store.
    ``compress_file`` only reads files under ``root``.
    """
    server: MCPServer = MCPServer("holdfast", instructions=_INSTRUCTIONS, version=__version__)
    offered = _Tools(store, thread, root.resolve())
    for name in ("recall", "search", "compress_file", "stats", "remember"):
        server.tool(structured_output=False)(getattr(offered, name))
    if port is None:
        with as_input_errors("standard input", "read", "let the agent start this command"):
            sys.stdin.buffer.read(0)
        server.run("stdio")
    else:
        with as_input_errors(f"127.0.0.1:{port}", "listened on", "give another --http"):
            socket.create_server(("127.0.0.1", port)).close()
        server.run("streamable-http", host="127.0.0.1", port=port)
