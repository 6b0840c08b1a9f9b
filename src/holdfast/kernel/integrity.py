"""Rules that keep a conversation valid, and the one that applies to every format.

A format adds its vendor's rules to the transcript; ``apply``, ``validate`` and ``repair`` use that
list.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from .edits import Edit
from .messages import Message, Messages


@dataclass(frozen=True)
class Violation:
    """A broken rule, with the index of the message (-1 for what is beside the messages)."""

    rule: str
    index: int
    problem: str


Problems = Iterator[tuple[int, str]]
"""The index of each message that breaks a rule, and what is wrong with it."""


class Rule(Protocol):
    """A reason for which a provider refuses a request. Subclasses override what they need.

    ``name`` appears in reports. ``alone`` marks rules that look at each message by itself.
    """

    name: ClassVar[str]
    alone: bool = False

    def problems(self, messages: Messages) -> Problems:
        """What breaks the rule; nothing for a rule that only limits what may be dropped."""
        return iter(())

    def violations(self, messages: Messages) -> Iterator[Violation]:
        """The problems, each with the name of the rule."""
        for index, problem in self.problems(messages):
            yield Violation(self.name, index, problem)

    def welds(self, messages: Messages) -> Iterable[int]:
        """Positions before which no cut is allowed: ``i`` ties message i to message i - 1."""
        return ()

    def keeps(self, messages: Messages) -> Iterable[int]:
        """Positions that may not be dropped, because remaining messages need them."""
        return ()

    def may_follow(self, before: Message | None, message: Message) -> bool:
        """Whether ``message`` may follow ``before``; None is the start, system messages aside."""
        return True

    def repair(self, messages: Messages) -> Sequence[Edit]:
        """The smallest edits after which the rule holds; none if it holds or cannot be repaired."""
        return ()


Rules = tuple[Rule, ...]


class ToolExchanges(Rule):
    """A call and its results belong together: no result without a call, no call without a result.

    A call is open until its result; any message but a result or the system's ends the exchange.
    """

    name = "tool_exchange_whole"

    def problems(self, messages: Messages) -> Problems:
        """Results without an open call, and calls still open when their exchange ends."""
        return iter(_matched(messages)[1])

    def welds(self, messages: Messages) -> Iterable[int]:
        """Every position from a call to its last result."""
        return _matched(messages)[0]


def _matched(messages: Messages) -> tuple[list[int], list[tuple[int, str]]]:
    """The positions from calls to their results, and the problems of calls and results alone."""
    joined: list[int] = []
    alone: list[tuple[int, str]] = []
    waiting: dict[str, int] = {}
    unanswered: list[tuple[str, int]] = []
    last = -1
    for i, message in enumerate(messages):
        if message.is_speech and not waiting:
            continue
        results = message.results
        for result in results:
            call = waiting.pop(result.call_id, None)
            if call is None:
                alone.append((i, f"tool result {result.call_id!r} has no call before it"))
            else:
                joined += range(max(call, last) + 1, i + 1)
                last = i
        if not results and message.role != "system":
            unanswered += waiting.items()
            waiting = {call.id: i for call in message.calls}
    for call_id, i in (*unanswered, *waiting.items()):
        alone.append((i, f"tool call {call_id!r} has no result"))
    return joined, alone
