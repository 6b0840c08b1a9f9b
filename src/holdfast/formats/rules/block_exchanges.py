"""Tool exchanges with results as blocks, at the start of the message right after their calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from holdfast.formats.values import is_object
from holdfast.kernel.integrity import ToolExchanges, Violation
from holdfast.kernel.messages import Message, Text, ToolCall, ToolResult

from .changes import (
    Block,
    MessageByMessage,
    RewritingRule,
    block_of,
    blocks,
    message_of,
    with_blocks,
)
from .pairing import NO_NAME, NO_RESULT, Place, answers, paired


class _ResultsOpenNext(RewritingRule):
    """A rule whose repair moves every result to the start of the message after its call."""

    def rewritten(self, messages: Sequence[Message]) -> Iterable[Message]:
        """The messages, regrouped.

        A call without a result is answered by a note that says so, and a result without a call gets
        a call without arguments, so that nothing is lost.
        """
        pairs = paired(messages)
        found = answers(pairs)
        results: list[Block] = []
        for i, message in enumerate(messages):
            is_users = message.role == "user"
            orphans, rest = _parted(message, i, pairs)
            if results and (orphans or not is_users):
                yield message_of(message, "user", results)
                results = []
            if orphans:
                calls = [ToolCall(result.call_id, _named(block), "{}") for result, block in orphans]
                yield message_of(message, "assistant", [block_of(message, c) for c in calls])
                results = [block for _, block in orphans]
                if not is_users:
                    yield message_of(message, "user", results)
                    results = []
            if results or rest or not message.parts:
                yield with_blocks(message, results + rest)
            results = [] if is_users else _results(messages, i, found.get(i, {}))
        if results:
            yield message_of(messages[-1], "user", results)


def _named(block: Block) -> str:
    """The name of the tool, if the block of its result has it."""
    inner = (value.get("name") for value in block.values() if is_object(value))
    return next((name for name in inner if isinstance(name, str) and name), NO_NAME)


class BlockExchanges(_ResultsOpenNext, ToolExchanges):
    """A call and all its results are one unit."""


class ResultsInNextMessage(_ResultsOpenNext):
    """All results of a message are together in the message right after it."""

    name = "results_in_next_message"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """Results of an open call that are further away."""
        waiting: dict[str, int] = {}
        for i, message in enumerate(messages):
            results = message.results
            if any(waiting.pop(result.call_id, i - 1) != i - 1 for result in results):
                problem = "its tool results are not in the message right after their calls"
                yield Violation(self.name, i, problem)
            if not results:
                waiting = {call.id: i for call in message.calls}


class ResultsLead(_ResultsOpenNext, MessageByMessage):
    """Tool results are in the user's role, before everything else in their message."""

    name = "results_lead_their_message"

    def problem(self, message: Message) -> str:
        """A result in the assistant's role, or after another part."""
        if message.role == "assistant":
            misplaced = message.plain is None and any(map(_is_result, message.parts))
            return "a tool result is in a message of the assistant" if misplaced else ""
        if not message.results:
            return ""
        late = any(
            _is_result(part) and not _is_result(before) for before, part in pairwise(message.parts)
        )
        return "a tool result is after other content of its message" if late else ""


class CallsEnd(MessageByMessage):
    """No text follows a tool call in its message."""

    name = "calls_end_their_message"

    def problem(self, message: Message) -> str:
        """Text right after a call."""
        late = message.calls and any(
            isinstance(before, ToolCall) and isinstance(part, Text)
            for before, part in pairwise(message.parts)
        )
        return "text follows a tool call in its message" if late else ""

    def mended(self, message: Message) -> Message:
        """The message with its calls at the end; everything else keeps its order."""
        found = list(zip(message.parts, blocks(message), strict=True))
        calls = [block for part, block in found if isinstance(part, ToolCall)]
        others = [block for part, block in found if not isinstance(part, ToolCall)]
        return with_blocks(message, others + calls)


def _is_result(part: object) -> bool:
    return isinstance(part, ToolResult)


def _parted(
    message: Message, i: int, pairs: Mapping[Place, Place]
) -> tuple[list[tuple[ToolResult, Block]], list[Block]]:
    """The results without a call, and the other blocks."""
    orphans: list[tuple[ToolResult, Block]] = []
    rest: list[Block] = []
    for k, (part, block) in enumerate(zip(message.parts, blocks(message), strict=True)):
        if not isinstance(part, ToolResult):
            rest.append(block)
        elif (i, k) not in pairs:
            orphans.append((part, block))
    return orphans, rest


def _results(messages: Sequence[Message], i: int, answered: Mapping[Place, Place]) -> list[Block]:
    """The results of message ``i``'s calls: the existing ones, then notes for missing ones."""
    caller = messages[i]
    results = [blocks(messages[at])[k] for at, k in answered.values()]
    for k, part in enumerate(caller.parts if caller.calls else ()):
        if isinstance(part, ToolCall) and (i, k) not in answered:
            results.append(block_of(caller, ToolResult(part.id, NO_RESULT), part.name))
    return results
