"""Views that grow: what was sent of a conversation stands at the beginning of what is sent next.

Of a conversation only hashes are kept, and the messages that were written here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock
from typing import Any

import msgspec

from holdfast.formats.values import is_list, is_object

_MOST = 2_000  # conversations that are remembered: some 20 MB
_MARKER = "cache_control"
"""The mark where clients ask Anthropic to cache. It moves with every request and is ignored."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent of a conversation: for each message its position, or the message itself if new.

    ``length`` is in messages of the whole; ``before`` and ``after`` are tokens of the whole and of
    the view.
    """

    length: int
    view: tuple[int | Any, ...]
    thread: str
    before: int
    after: int


class Views:
    """The latest view of each conversation, by the hash of the messages that it was made of."""

    def __init__(self, most: int = _MOST) -> None:
        self._kept: OrderedDict[bytes, Sent] = OrderedDict()
        self._begun: OrderedDict[str, bytes] = OrderedDict()
        self._most, self._lock = most, Lock()

    def found(self, chain: Sequence[bytes]) -> Sent | None:
        """The latest view of a beginning of this conversation."""
        with self._lock:
            for link in reversed(chain):
                sent = self._kept.get(link)
                if sent is not None:
                    self._kept.move_to_end(link)
                    return sent
        return None

    def thread(self, chain: Sequence[bytes], begins: int) -> str:
        """A name for a conversation that continues no known view.

        The hash of its beginning, up to the message at ``begins``; where another conversation
        began alike and is under way, that of all of it.
        """
        name = chain[begins].hex()
        with self._lock:
            other = self._begun.get(name)
        return name if other is None or other in chain else chain[-1].hex()

    def keep(self, chain: Sequence[bytes], sent: Sent, replaces: int = 0) -> None:
        """Remember what was sent. ``replaces``: length of the conversation that it continues."""
        with self._lock:
            if replaces:
                self._kept.pop(chain[replaces - 1], None)
            self._kept[chain[-1]] = sent
            self._begun[sent.thread] = chain[-1]
            self._begun.move_to_end(sent.thread)
            for kept in (self._kept, self._begun):
                while len(kept) > self._most:
                    kept.popitem(last=False)


def chain_of(messages: Sequence[Any], seed: bytes) -> list[bytes]:
    """For each message the hash of all messages up to it, without marks for caching."""
    links: list[bytes] = []
    link = blake2b(seed, digest_size=16)
    for message in messages:
        link.update(msgspec.json.encode(_unmarked(message), enc_hook=repr))
        links.append(link.digest())
    return links


def _unmarked(value: Any) -> Any:
    """The message without marks for caching on it and on its blocks."""
    if not is_object(value):
        return value
    plain = {name: each for name, each in value.items() if name != _MARKER}
    content: object = plain.get("content")
    if is_list(content):
        plain["content"] = [_bare(block) for block in content]
    return plain


def _bare(block: Any) -> Any:
    if not is_object(block) or _MARKER not in block:
        return block
    return {name: each for name, each in block.items() if name != _MARKER}


def positions(view: Sequence[Any], messages: Sequence[Any]) -> tuple[int | Any, ...]:
    """For each message of the view its position among the messages, or itself if it is new."""
    known: Mapping[int, int] = {id(message): i for i, message in enumerate(messages)}
    return tuple(known.get(id(message), _unmarked(message)) for message in view)


def grown(sent: Sent, messages: Sequence[Any]) -> list[Any]:
    """The view of the beginning, and all messages since."""
    first = [messages[each] if type(each) is int else each for each in sent.view]
    return [*first, *messages[sent.length :]]
