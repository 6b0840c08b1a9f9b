"""The rule on the vendor's own tools: a call and its result are one unit, in any place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.kernel.integrity import Violation
from holdfast.kernel.messages import Message, Opaque
from holdfast.kernel.transcript import speaks

from .changes import RewritingRule, blocks, with_blocks
from .pairing import Place


class ServerToolExchanges(RewritingRule):
    """Each result of a server tool has its call before it, and each such call has a result.

    Both are blocks of the assistant, in one message or in several. A call may stay open until the
    user speaks: the vendor continues a turn that it paused, and answers code after the calls that
    the code made.
    """

    name = "server_tool_exchange_whole"
    alone = True

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """Results without a call, and calls without a result when the user speaks again."""
        _, broken = _pairs(messages)
        for (i, _), problem in sorted(broken.items()):
            yield Violation(self.name, i, problem)

    def welds(self, messages: Sequence[Message]) -> Iterable[int]:
        """Every position from a call to its result."""
        pairs, _ = _pairs(messages)
        return {i for call, result in pairs for i in range(call + 1, result + 1)}

    def rewritten(self, messages: Sequence[Message]) -> Iterable[Message]:
        """The messages without unpaired calls and results, since only the vendor makes these."""
        _, broken = _pairs(messages)
        touched = {i for i, _ in broken}
        for i, message in enumerate(messages):
            if i not in touched:
                yield message
                continue
            now = [block for k, block in enumerate(blocks(message)) if (i, k) not in broken]
            if now:
                yield with_blocks(message, now)


def _pairs(messages: Sequence[Message]) -> tuple[list[tuple[int, int]], dict[Place, str]]:
    """Pairs of messages with a call and its result, and the problem of each unpaired block."""
    pairs: list[tuple[int, int]] = []
    broken: dict[Place, str] = {}
    waiting: dict[str, Place] = {}
    overdue: set[Place] = set()
    for i, message in enumerate(messages):
        if speaks(message):
            overdue.update(waiting.values())
        for k, call_id, is_result in _server_blocks(message):
            if not is_result:
                if call_id in waiting:
                    broken[waiting[call_id]] = _unanswered(call_id)
                waiting[call_id] = i, k
            elif call := waiting.pop(call_id, None):
                pairs.append((call[0], i))
            else:
                broken[i, k] = f"the server tool result {call_id!r} has no call before it"
    broken |= {place: _unanswered(name) for name, place in waiting.items() if place in overdue}
    return pairs, broken


def _unanswered(call_id: str) -> str:
    return f"the server tool call {call_id!r} has no result"


def _server_blocks(message: Message) -> Iterator[tuple[int, str, bool]]:
    """The index, the call id, and whether it is a result, of each block of a server tool."""
    if message.plain is not None or message.role != "assistant":
        return
    for k, (part, block) in enumerate(zip(message.parts, blocks(message), strict=True)):
        if isinstance(part, Opaque):
            call_id, answered = block.get("id"), block.get("tool_use_id")
            if isinstance(answered, str):
                yield k, answered, True
            elif "input" in block and isinstance(call_id, str):
                yield k, call_id, False
