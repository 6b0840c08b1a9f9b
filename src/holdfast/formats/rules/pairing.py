"""Which result answers which call, in a conversation whose exchanges may be broken."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from holdfast.kernel.messages import Message, ToolCall, ToolResult

Place = tuple[int, int]
"""Message and part."""

NO_RESULT = "[no result was recorded]"
NO_NAME = "unknown_tool"


def paired(messages: Sequence[Message]) -> dict[Place, Place]:
    """From the place of each result that has a call to the place of that call.

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
    """From each message that calls to its answered calls, with the places of their answers."""
    found: dict[int, dict[Place, Place]] = {}
    for result, call in sorted(pairs.items()):
        found.setdefault(call[0], {})[call] = result
    return found
