"""Which result answers which call, also in a conversation with broken exchanges."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from holdfast.kernel.messages import Message, ToolCall, ToolResult

Place = tuple[int, int]
"""The indices of a message and of a part of it."""

NO_RESULT = "[no result was recorded]"
NO_NAME = "unknown_tool"


def paired(messages: Sequence[Message]) -> dict[Place, Place]:
    """The place of the call for the place of each result that has one.

    A result answers the first open call with its id in the nearest message before it, or else in
    the nearest message after it.
    """
    calls: dict[str, list[Place]] = {}
    results: list[tuple[str, Place]] = []
    for i, message in enumerate(messages):
        for k, part in enumerate(message.parts):
            if isinstance(part, ToolCall) and message.role == "assistant":
                calls.setdefault(part.id, []).append((i, k))
            elif isinstance(part, ToolResult):
                results.append((part.call_id, (i, k)))
    pairs: dict[Place, Place] = {}
    for call_id, place in results:
        waiting = calls.get(call_id)
        if waiting:
            nearest = waiting[max(0, bisect_left(waiting, place) - 1)]
            pairs[place] = waiting.pop(bisect_left(waiting, (nearest[0], 0)))
    return pairs


def answers(pairs: dict[Place, Place]) -> dict[int, dict[Place, Place]]:
    """For each message with calls, the places of its answered calls and of their results."""
    found: dict[int, dict[Place, Place]] = {}
    for result, call in sorted(pairs.items()):
        found.setdefault(call[0], {})[call] = result
    return found
