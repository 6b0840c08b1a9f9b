"""The views that were sent: they stay at the start of what is sent next, so that views grow.

Of conversations only hashes are kept, and the messages that Holdfast wrote.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from threading import Lock
from typing import Any, NamedTuple

import msgspec

from holdfast.formats.payloads import is_list, is_object

REMEMBERED = 2_000  # conversations that are remembered, about 20 MB
_MARKER = "cache_control"
"""The field with which clients mark blocks for Anthropic's cache. It moves with every request and
is ignored.
"""


class Sent(NamedTuple):
    """A view that was sent: for each message its position, or the message itself if it is new.

    ``length`` is the number of messages of the whole conversation; ``before`` and ``after`` are
    tokens of the whole and of the view.
    """

    length: int
    view: tuple[int | Any, ...]
    thread: str
    before: int
    after: int


class Views:
    """The latest view of each conversation for each model.

    They are kept by the model and the hash of the messages from which they were made.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[bytes, str], Sent] = OrderedDict()
        self._lock = Lock()

    def found(self, chain: Sequence[bytes], model: str) -> Sent | None:
        """The latest view for this model whose messages begin this conversation."""
        with self._lock:
            for link in reversed(chain):
                sent = self._kept.get((link, model))
                if sent is not None:
                    self._kept.move_to_end((link, model))
                    return sent
        return None

    def thread(self, chain: Sequence[bytes], begins: int) -> str:
        """A name for a conversation that continues no known view for its model.

        It is the name that it has for other models, or the hash of its first messages, up to
        position ``begins``, or the hash of all messages if another active conversation begins
        alike.
        """
        name = chain[begins].hex()
        with self._lock:
            begun = {link: sent.thread for (link, _), sent in self._kept.items()}
        for link in reversed(chain):
            if link in begun:  # it was sent to another model
                return begun[link]
        return chain[-1].hex() if name in begun.values() else name

    def keep(self, chain: Sequence[bytes], model: str, sent: Sent, replaces: int = 0) -> None:
        """Remember a view that was sent. ``replaces`` is the length of the conversation before."""
        with self._lock:
            if replaces:
                self._kept.pop((chain[replaces - 1], model), None)
            self._kept[chain[-1], model] = sent
            while len(self._kept) > REMEMBERED:
                self._kept.popitem(last=False)


def chain_of(messages: Sequence[Any], seed: bytes) -> list[bytes]:
    """For each message, the hash of all messages up to it, without cache marks."""
    links: list[bytes] = []
    link = blake2b(seed, digest_size=16)
    for message in messages:
        said = _unmarked(message)
        try:
            link.update(msgspec.json.encode(said, enc_hook=repr))
        except UnicodeEncodeError:  # half of a character
            link.update(repr(said).encode())
        links.append(link.digest())
    return links


def _unmarked(value: Any) -> Any:
    """The message or block without cache marks on it and on its blocks."""
    if not is_object(value):
        return value
    plain = {name: each for name, each in value.items() if name != _MARKER}
    content: object = plain.get("content")
    if is_list(content):
        plain["content"] = list(map(_unmarked, content))
    return plain


def positions(view: Sequence[Any], messages: Sequence[Any]) -> tuple[int | Any, ...]:
    """For each message of the view, its position among the messages, or itself if it is new."""
    known: Mapping[int, int] = {id(message): i for i, message in enumerate(messages)}
    return tuple(known.get(id(message), _unmarked(message)) for message in view)


def grown(sent: Sent, messages: Sequence[Any]) -> list[Any]:
    """The earlier view followed by all newer messages."""
    first = [messages[each] if type(each) is int else each for each in sent.view]
    return [*first, *messages[sent.length :]]
