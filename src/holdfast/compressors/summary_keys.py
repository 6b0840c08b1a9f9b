"""Under which keys of a store summaries are kept.

A thread's keys begin with ``thread_<id>:``. In the id, and only there, ``:`` and ``%`` are written ``%3A`` and
``%25``: other ids stand as they are, and no two threads share a key. Positions are those of the caller's original
conversation, system messages counted, both ends included.
"""

from __future__ import annotations


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
