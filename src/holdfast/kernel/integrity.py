"""What keeps a conversation valid: the protocol of a rule, and the rule that holds on every wire.

A format hands its vendor's rules to the transcript; ``apply``, the validator and the repair all run
that list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from .edits import Edit
from .messages import Message


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that is broken: by which message, -1 for what stands beside them, and in what way."""

    rule: str
    index: int
    problem: str


class Rule(Protocol):
    """One reason for which a provider refuses a request. A rule overrides only what it has to say.

    ``name`` is a few words joined by underscores, as they stand in reports; ``doors`` are the APIs
    that enforce it, empty where every one of the wire does. ``alone``: each message is looked at by
    itself.
    """

    name: ClassVar[str]
    doors: ClassVar[tuple[str, ...]] = ()
    alone: bool = False

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """Every place where the rule is broken."""
        ...

    def welds(self, messages: Sequence[Message]) -> Iterable[int]:
        """Positions before which no cut is legal: ``i`` welds message i to message i - 1."""
        del messages
        return ()

    def keeps(self, messages: Sequence[Message]) -> Iterable[int]:
        """Positions that may not be dropped, because what stays needs them."""
        del messages
        return ()

    def may_follow(self, before: Message | None, message: Message) -> bool:
        """Whether ``message`` may follow ``before``; None is the start, system messages aside."""
        del before, message
        return True

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """The least destructive edits after which the rule holds; none if it does or cannot."""
        del messages
        return ()


def welds(rules: Sequence[Rule], messages: Sequence[Message]) -> set[int]:
    """Every position before which some rule forbids a cut."""
    return {i for rule in rules for i in rule.welds(messages)}


def keeps(rules: Sequence[Rule], messages: Sequence[Message]) -> set[int]:
    """Every position that some rule keeps."""
    return {i for rule in rules for i in rule.keeps(messages)}


def violations(rules: Sequence[Rule], messages: Sequence[Message]) -> list[Violation]:
    """What is broken, in order of the messages."""
    found = [violation for rule in rules for violation in rule.violations(messages)]
    return sorted(found, key=lambda violation: violation.index)


def may_follow(rules: Sequence[Rule], before: Message | None, message: Message) -> bool:
    """Whether no rule objects to these two standing next to each other."""
    return all(rule.may_follow(before, message) for rule in rules)


def new_violation(
    rules: Sequence[Rule],
    before: Sequence[Message],
    after: Sequence[Message],
    origins: Sequence[int | None],
) -> Violation | None:
    """The first rule that ``after`` breaks more often than ``before``, and where.

    ``origins`` gives, for each message of ``after``, its position in ``before``, None for a new
    one. What was broken already is the caller's own and stays, at the next message where its own
    one is gone.
    """
    broken = violations(rules, after)
    if not broken:
        return None
    names = {violation.rule for violation in broken}
    asked = [rule for rule in rules if rule.name in names]
    old = violations(asked, before)
    known = {(violation.rule, violation.index) for violation in old}
    more = Counter(violation.rule for violation in broken) - Counter(
        violation.rule for violation in old
    )
    for violation in broken:
        origin = origins[violation.index] if origins else None
        if violation.rule in more and (violation.rule, origin) not in known:
            return violation
    return None


class ToolExchanges(Rule):
    """A call and all its results are one unit: no result without its call, no call unanswered.

    A call is open from its message until its result; any message but a result or the system's ends
    the exchange.
    """

    name = "tool_exchange_whole"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """Results whose call is not open, and calls still open when their exchange ends."""
        waiting: dict[str, int] = {}
        unanswered: list[tuple[str, int]] = []
        for i, message in enumerate(messages):
            if message.is_speech and not waiting:
                continue
            results = message.results
            for result in results:
                if waiting.pop(result.call_id, None) is None:
                    yield Violation(
                        self.name, i, f"tool result {result.call_id!r} has no call before it"
                    )
            if not results and message.role != "system":
                unanswered += waiting.items()
                waiting = {} if message.is_speech else {call.id: i for call in message.calls}
        for call_id, index in (*unanswered, *waiting.items()):
            yield Violation(self.name, index, f"tool call {call_id!r} has no result")

    def welds(self, messages: Sequence[Message]) -> Iterable[int]:
        """From a call to the last of its results."""
        joined: list[int] = []
        last = -1
        waiting: set[str] = set()
        for i, message in enumerate(messages):
            if message.is_speech:
                if waiting and message.role != "system":
                    waiting = set()
            elif results := message.results:
                answered = [result.call_id for result in results if result.call_id in waiting]
                if answered:
                    joined += range(last + 1, i + 1)
                    last, waiting = i, waiting.difference(answered)
            elif message.role != "system":
                last, waiting = i, {call.id for call in message.calls}
        return joined
