"""The message that stands for history: how it is marked and known again, and where it is kept.

Stateless callers hand plain messages back, so a summary must be recognised by what it says. Its
first line is ``[HISTORY_SUMMARY <key>]``; the key is the first 16 hex digits of the SHA-256 of all
that follows the line. What a user, an assistant or a tool merely wrote does not have that key, and
is text like any other.

A thread's keys in a store begin with ``thread_<id>:``. In the id, and only there, ``:`` and ``%``
are written ``%3A`` and ``%25``: other ids stand as they are, and no two threads share a key.
Positions are those of the caller's original conversation, system messages counted, both ends
included.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeVar, cast

from holdfast.kernel.errors import StoreError
from holdfast.kernel.flow import ask
from holdfast.kernel.messages import Message, Role
from holdfast.kernel.ports import Ask, Read, Save, Write
from holdfast.kernel.transcript import SUMMARY
from holdfast.text.concealed import masked_parts, redacted_text

T = TypeVar("T")

PLAIN = f"{SUMMARY}]"
"""The mark without a key, which the system's own messages may carry."""

HISTORY = "history"
"""The kind of artifact that the originals of a summary are kept as."""

_KEY_DIGITS = 16


def mark(body: str, role: Role = "user") -> str:
    """The text of a summary message; one of the system needs no key."""
    return f"{PLAIN}\n{body}" if role == "system" else f"{SUMMARY} {_key(body)}]\n{body}"


def body_of(message: Message) -> str | None:
    """What a summary message says below its mark, or None where the message is none.

    A system message may carry the mark without a key: nobody but the caller writes there.
    """
    text = message.plain if message.plain is not None else message.content_text
    return None if text is None else body_in(text, message.role)


def body_in(text: str, role: Role) -> str | None:
    """As ``body_of``, for the text of a message and its role."""
    if not text.startswith(SUMMARY):
        return None
    first, _, body = text.partition("\n")
    if first == f"{SUMMARY} {_key(body)}]" or (role == "system" and first == PLAIN):
        return body
    return None


def _key(body: str) -> str:
    return sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_DIGITS]


def concealed(message: Message) -> Message:
    """The message with every secret masked, whoever said it; the very same where there is none.

    A summary of older messages is marked anew: it is known by what it says.
    """
    texts, _ = masked_parts(message, everyone=True)
    body = body_of(message) if texts else None
    if body is not None:
        texts = {0: mark(redacted_text(body)[0], message.role)}
    return message.saying(texts) if texts else message


def summary_key(thread: str, start: int, end: int) -> str:
    """The summary of the messages from ``start`` to ``end``: ``thread_123:summary:5-15``."""
    return f"{thread_prefix(thread)}summary:{start}-{end}"


def message_key(thread: str, index: int) -> str:
    """The summary of one message."""
    return f"{thread_prefix(thread)}message:{index}"


def ranges_key(thread: str) -> str:
    """The list of the ranges that are summarized."""
    return f"{thread_prefix(thread)}summary:ranges"


def messages_key(thread: str) -> str:
    """The list of the messages that are summarized by themselves."""
    return f"{thread_prefix(thread)}message:list"


def thread_prefix(thread: str) -> str:
    """What all keys of a thread begin with, and no others."""
    escaped = thread.replace("%", "%25").replace(":", "%3A")
    return f"thread_{escaped}:"


def content_key(covers: str) -> str:
    """The summary of messages with this hash, in a conversation without a thread."""
    return f"summary:{covers}"


def waiting_key(key: str) -> str:
    """The messages that the summary under the key covers, and that no model has been sent yet."""
    return f"{key}:waiting"


def opening_key(opening: str) -> str:
    """The list of ranges of conversations without a thread that open with messages of this hash."""
    return f"summary:opening:{opening}"


def mark_key(mark: str) -> str:
    """Where the list of ranges is kept that the summary message with this mark belongs to."""
    return f"summary:mark:{mark}"


def as_object(value: str | None) -> dict[str, Any]:
    """The JSON object of the text; an empty one where it is none."""
    found = _json(value)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def as_list(value: str | None) -> list[object]:
    """The JSON list of the text; an empty one where it is none."""
    found = _json(value)
    return cast("list[object]", found) if isinstance(found, list) else []


def _json(value: str | None) -> object:
    try:
        return json.loads(value) if value else None
    except (ValueError, RecursionError):
        return None


@dataclass(slots=True)
class WorkingStore:
    """The caller's store as a strategy uses it: after its first failure it is not asked again."""

    works: bool
    """Whether there is a store, and it has worked so far."""

    trouble: str = ""
    """What failed, for people; empty while nothing has."""

    def save(self, text: str, kind: str = "text") -> Generator[Ask[Any], Any, str]:
        """The key under which an original is kept; empty where it is not."""
        key = yield from self._asked(Save(text, kind), "no original was saved from then on")
        return key or ""

    def read(self, key: str) -> Generator[Ask[Any], Any, str | None]:
        """What stands under the key; None where nothing does, or nothing can be read."""
        return (yield from self._asked(Read(key), "summaries are not kept"))

    def write(self, key: str, value: str) -> Generator[Ask[Any], Any, None]:
        """Keep the value."""
        yield from self._asked(Write(key, value), "summaries are not kept")

    def add(self, key: str, numbers: Iterable[int]) -> Generator[Ask[Any], Any, None]:
        """Put the numbers on the list under the key, where they are not on it yet."""
        known = as_list((yield from self.read(key)))
        new = [number for number in numbers if number not in known]
        if new:
            yield from self.write(key, json.dumps([*known, *new]))

    def _asked(self, request: Ask[T], problem: str) -> Generator[Ask[Any], Any, T | None]:
        if not self.works:
            return None
        try:
            return (yield from ask(request))
        except StoreError as fault:
            self.works, self.trouble = False, f"{problem}: {fault}"
            return None
