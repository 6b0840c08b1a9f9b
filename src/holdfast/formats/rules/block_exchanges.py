"""Tool exchanges where results are blocks: all results of a message in the next one, before its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from holdfast.kernel.edits import Edit
from holdfast.kernel.integrity import Rule, ToolExchanges, Violation
from holdfast.kernel.messages import Message, Text, ToolCall, ToolResult

from .blocks import Block, block_of, blocks, message_of, with_blocks
from .changes import edits_between
from .pairing import NO_NAME, NO_RESULT, Place, answers, paired


class BlockExchanges(ToolExchanges):
    """A call and all its results are one unit.

    The repair moves results into the message after their calls, gives a call that has none an
    answer that says so, and a result that has no call a call without arguments: nothing that was
    said is lost.
    """

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """Every result in the message after its call."""
        return edits_between(messages, list(_regrouped(messages)), self.name)


class ResultsInNextMessage(Rule):
    """All results of a message stand together in the message right after it."""

    name = "results_in_next_message"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """Results of an open call that stand further away."""
        waiting: dict[str, int] = {}
        for i, message in enumerate(messages):
            results = message.results
            if any(waiting.pop(result.call_id, i - 1) != i - 1 for result in results):
                yield Violation(
                    self.name, i, "its tool results are not in the message right after their calls"
                )
            if not results:
                waiting = {call.id: i for call in message.calls}

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """The results come together."""
        return edits_between(messages, list(_regrouped(messages)), self.name)


class ResultsLead(Rule):
    """Tool results are the user's, and stand before everything else of their message."""

    name = "results_lead_their_message"
    alone = True

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """A result after another part, or of the assistant."""
        for i, message in enumerate(messages):
            if message.role == "assistant":
                if _has_results(message):
                    yield Violation(
                        self.name, i, "a tool result stands in a message of the assistant"
                    )
            elif message.results and any(
                isinstance(part, ToolResult) and not isinstance(before, ToolResult)
                for before, part in pairwise(message.parts)
            ):
                yield Violation(
                    self.name, i, "a tool result stands after other content of its message"
                )

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """The results move to the front, or to the message after their calls."""
        return edits_between(messages, list(_regrouped(messages)), self.name)


class CallsEnd(Rule):
    """No text follows a tool call in its message."""

    name = "calls_end_their_message"
    alone = True

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """A text after a call."""
        for i, message in enumerate(messages):
            if _speaks_after_call(message):
                yield Violation(self.name, i, "text stands after a tool call of its message")

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """The calls move behind the text; the rest keeps its order."""
        return edits_between(messages, [_calls_last(message) for message in messages], self.name)


def _speaks_after_call(message: Message) -> bool:
    return bool(message.calls) and any(
        isinstance(before, ToolCall) and isinstance(part, Text)
        for before, part in pairwise(message.parts)
    )


def _calls_last(message: Message) -> Message:
    if not _speaks_after_call(message):
        return message
    found = list(zip(message.parts, blocks(message), strict=True))
    calls = [block for part, block in found if isinstance(part, ToolCall)]
    others = [block for part, block in found if not isinstance(part, ToolCall)]
    return with_blocks(message, others + calls)


def _regrouped(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages with every result in the message after its call, before the words of that message."""
    pairs = paired(messages)
    found = answers(pairs)
    pending: list[Block] = []
    for i, message in enumerate(messages):
        if message.role == "user":
            yield from _joined(message, i, pairs, pending)
            pending = []
            continue
        yield from _alone(message, pending)
        yield from _without_results(message, i, pairs)
        pending = _results(messages, i, found.get(i, {}))
    if messages:
        yield from _alone(messages[-1], pending)


def _alone(beside: Message, pending: list[Block]) -> Iterator[Message]:
    if pending:
        yield message_of(beside, "user", pending)


def _joined(
    message: Message, i: int, pairs: Mapping[Place, Place], pending: list[Block]
) -> Iterator[Message]:
    """The results that wait, and what this message says beside results that stand elsewhere now."""
    orphans, rest = _parted(message, i, pairs)
    if orphans:
        yield from _alone(message, pending)
        yield _calling(message, orphans)
        pending = [block for _, block in orphans]
    content = pending + rest
    if content or not message.parts:
        yield with_blocks(message, content)


def _without_results(message: Message, i: int, pairs: Mapping[Place, Place]) -> Iterator[Message]:
    """The assistant's message, behind results in it that have no call."""
    if not _has_results(message):
        yield message
        return
    orphans, rest = _parted(message, i, pairs)
    if orphans:
        yield _calling(message, orphans)
        yield from _alone(message, [block for _, block in orphans])
    if rest:
        yield with_blocks(message, rest)


def _parted(
    message: Message, i: int, pairs: Mapping[Place, Place]
) -> tuple[list[tuple[ToolResult, Block]], list[Block]]:
    """The results that have no call, and what is no result."""
    orphans: list[tuple[ToolResult, Block]] = []
    rest: list[Block] = []
    for k, (part, block) in enumerate(zip(message.parts, blocks(message), strict=True)):
        if not isinstance(part, ToolResult):
            rest.append(block)
        elif (i, k) not in pairs:
            orphans.append((part, block))
    return orphans, rest


def _has_results(message: Message) -> bool:
    return message.plain is None and any(isinstance(part, ToolResult) for part in message.parts)


def _calling(beside: Message, orphans: Sequence[tuple[ToolResult, Block]]) -> Message:
    calls = [ToolCall(result.call_id, NO_NAME, "{}") for result, _ in orphans]
    return message_of(beside, "assistant", [block_of(beside, call) for call in calls])


def _results(messages: Sequence[Message], i: int, answered: Mapping[Place, Place]) -> list[Block]:
    """The results of the calls of this message: those that there are in their order, then the missing ones."""
    results = [blocks(messages[at])[k] for at, k in answered.values()]
    for k, part in enumerate(messages[i].parts):
        if (
            isinstance(part, ToolCall)
            and messages[i].role == "assistant"
            and (i, k) not in answered
        ):
            missing = ToolResult(part.id, NO_RESULT)
            results.append(block_of(messages[i], missing, part.name))
    return results
