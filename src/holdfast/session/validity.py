"""Whether a provider would refuse a view that was put together of sound messages, and the view mended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.formats.rules.call_ids import UniqueCallIds
from holdfast.formats.rules.content import FinalTextTrimmed
from holdfast.kernel.integrity import may_follow, violations
from holdfast.kernel.messages import Message
from holdfast.kernel.transcript import Format
from holdfast.validity import repair

from .arguments import Options
from .log import Thread, with_calls
from .view import View
from .wires import is_refused as is_refused_anywhere


def is_refused(view: View, thread: Thread) -> bool:
    """Whether the wire of the thread refuses the view for what stands beside one another in it.

    Most wires ask only for a user at the beginning, no white space at the end, and that no two calls have one id;
    of a door that is stricter than its wire, and where messages are unusual, the whole view is looked at.
    """
    wire = thread.wire
    if thread.state.unusual or any(wire.name in rule.doors for rule in wire.rules):
        read = wire.read(view.messages)
        return bool(violations(read.rules, read.messages))
    asked = (_speaks_amiss, _begins_amiss, _ends_amiss, _calls_twice)
    return any(each(view, thread) for each in asked)


def _speaks_amiss(_: View, thread: Thread) -> bool:
    """Whether the wire has no role of the system's: that is known only once the wire is."""
    first = thread.state.system[:1]
    return bool(first) and any(
        is_refused_anywhere(kept.message, thread.wire) for kept in thread.read(first).values()
    )


def _ends_amiss(view: View, thread: Thread) -> bool:
    """Whether the last message may not be the last."""
    wire = thread.wire
    rules = [rule for rule in wire.rules if isinstance(rule, FinalTextTrimmed)]
    last = wire.read(view.messages[-1:]).messages if rules else ()
    return any(any(rule.violations(last)) for rule in rules)


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
    state = thread.state
    before = [at for at in (state.task, state.spoke) if at is not None and at < view.since]
    stands = [kept for at in before for kept in with_calls(thread, at).values() if kept.position < view.since]
    stands += thread.read(range(view.since, state.messages)).values()
    calling = [kept.message for kept in {kept.position: kept for kept in stands}.values() if kept.message.calls]
    return any(any(rule.violations(calling)) for rule in rules)


def paired(view: View, form: Format, options: Options, waiting: Sequence[str]) -> View:
    """The view, mended as ``repair`` does; the calls that are ``waiting`` at its end stay so."""
    under_way = _under_way(form.read(view.messages).messages, waiting) if waiting else ()
    rest = [message for i, message in enumerate(view.messages) if i not in under_way]
    mended = repair(rest, form.name, model=options.model, counter=options.counter)
    added = mended.metrics.tokens_after - mended.metrics.tokens_before
    messages = [*mended.messages, *(view.messages[i] for i in under_way)]
    return replace(view, messages=messages, tokens=view.tokens + added)


def _under_way(messages: Sequence[Message], waiting: Sequence[str]) -> list[int]:
    """The places of the exchange of the waiting calls, and of nothing that came between."""
    begun = max((i for i, message in enumerate(messages) if _calls(message) & set(waiting)), default=None)
    if begun is None:
        return []
    made = _calls(messages[begun])
    results = [{result.call_id for result in message.results} for message in messages]
    return [begun, *(i for i in range(begun + 1, len(messages)) if results[i] and results[i] <= made)]


def _calls(message: Message) -> set[str]:
    return {call.id for call in message.calls}
