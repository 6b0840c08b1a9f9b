"""Whether a view that was put together of sound messages would still be refused."""

from __future__ import annotations

from holdfast.formats.rules.call_ids import UniqueCallIds
from holdfast.kernel.integrity import may_follow, violations

from .parts import View
from .thread import Thread


def is_refused(view: View, thread: Thread) -> bool:
    """Whether the wire of the thread refuses the view for what stands beside one another in it.

    Most wires ask only for a user at the beginning, and that no two calls have one id; a door that is stricter
    than its wire is asked about the whole view.
    """
    wire = thread.wire
    if any(wire.name in rule.doors for rule in wire.rules):
        read = wire.read(view.messages)
        return bool(violations(read.rules, read.messages))
    return _begins_amiss(view, thread) or _calls_twice(view, thread)


def _begins_amiss(view: View, thread: Thread) -> bool:
    """Whether the first message after the system's may not be the first."""
    read = (thread.wire.read([original]).messages[0] for original in view.messages)
    first = next((message for message in read if message.role != "system"), None)
    return first is not None and not may_follow(thread.wire.rules, None, first)


def _calls_twice(view: View, thread: Thread) -> bool:
    """Whether two calls have one id, as one gives who counts them anew in each turn."""
    rules = [rule for rule in thread.wire.rules if isinstance(rule, UniqueCallIds) and not rule.alone]
    if not rules:
        return False
    stands = thread.read(range(view.since, thread.state.messages)).values()
    calling = [kept.message for kept in stands if kept.message.calls]
    return any(any(rule.violations(calling)) for rule in rules)
