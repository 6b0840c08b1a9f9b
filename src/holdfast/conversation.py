"""A conversation with an identity: its messages, the id of its thread, and what the caller keeps with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from holdfast.kernel.errors import InputError


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one thread. The id stands here and never in a message; ``metadata`` is carried along."""

    thread_id: str
    messages: Sequence[Any]
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        if not isinstance(cast("object", self.thread_id), str) or not self.thread_id:
            advice = "give the id of the thread as text"
            raise InputError(f"{self.thread_id!r} is no id", place="Conversation.thread_id", advice=advice)

    def holding(self, messages: Sequence[Any]) -> Conversation:
        """The same conversation with these messages."""
        return replace(self, messages=messages)


def wrap(messages: Sequence[Any], thread_id: str, metadata: Mapping[str, Any] | None = None) -> Conversation:
    """The messages as a conversation."""
    return Conversation(thread_id, messages, metadata or {})


def unwrap(conversation: Conversation) -> Sequence[Any]:
    """The messages of a conversation: the very object that was wrapped."""
    return conversation.messages
