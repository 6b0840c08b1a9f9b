"""Calls of the vendor's own tools: the call and its result are one unit, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.kernel.edits import Edit
from holdfast.kernel.integrity import Rule, Violation
from holdfast.kernel.messages import Message, Opaque
from holdfast.kernel.transcript import speaks

from .blocks import blocks, with_blocks
from .changes import edits_between
from .pairing import Place


class ServerToolExchanges(Rule):
    """No result of the vendor's own tools without its call before it, and no such call without a result.

    Both are the assistant's blocks, in one message or in several. A call may stay open until the
    user speaks: the vendor goes on with a turn that it paused, and answers code after the calls
    that it made.
    """

    name = "server_tool_exchange_whole"
    alone = True

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """Results without a call, and calls that have none when the user speaks again."""
        _, broken = _pairs(messages)
        for (i, _), problem in sorted(broken.items()):
            yield Violation(self.name, i, problem)

    def welds(self, messages: Sequence[Message]) -> Iterable[int]:
        """From a call to its result."""
        pairs, _ = _pairs(messages)
        return {i for call, result in pairs for i in range(call + 1, result + 1)}

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """What has no other half goes: nobody but the vendor can make the half that is missing."""
        _, broken = _pairs(messages)
        after: list[Message] = []
        for i, message in enumerate(messages):
            if not any(place[0] == i for place in broken):
                after.append(message)
                continue
            now = [block for k, block in enumerate(blocks(message)) if (i, k) not in broken]
            if now:
                after.append(with_blocks(message, now))
        return edits_between(messages, after, self.name)


def _pairs(messages: Sequence[Message]) -> tuple[list[tuple[int, int]], dict[Place, str]]:
    """The messages of each call and its result, and what is wrong with blocks without their other half."""
    pairs: list[tuple[int, int]] = []
    broken: dict[Place, str] = {}
    waiting: dict[str, Place] = {}
    overdue: set[Place] = set()
    for i, message in enumerate(messages):
        if speaks(message):
            overdue.update(waiting.values())
        for k, name, is_result in _own(message):
            if not is_result:
                if name in waiting:
                    broken[waiting[name]] = _unanswered(name)
                waiting[name] = i, k
            elif call := waiting.pop(name, None):
                pairs.append((call[0], i))
            else:
                broken[i, k] = f"the server tool result {name!r} has no call before it"
    broken |= {place: _unanswered(name) for name, place in waiting.items() if place in overdue}
    return pairs, broken


def _unanswered(name: str) -> str:
    return f"the server tool call {name!r} has no result"


def _own(message: Message) -> Iterator[tuple[int, str, bool]]:
    """The calls and results of the vendor's own tools: blocks of the assistant's with the ids of such."""
    if message.plain is not None or message.role != "assistant":
        return
    for k, (part, block) in enumerate(zip(message.parts, blocks(message), strict=True)):
        if isinstance(part, Opaque):
            call_id, answered = block.get("id"), block.get("tool_use_id")
            if isinstance(answered, str):
                yield k, answered, True
            elif "input" in block and isinstance(call_id, str):
                yield k, call_id, False
