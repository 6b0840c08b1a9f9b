"""What one fit has to go by: the thread, the budget, and what is in the view in any case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.kernel.budget import Budget

from .exchanges import with_calls
from .lines import Kept
from .options import Options
from .parts import Desk, Key
from .standing import standing
from .thread import Thread

_TASK = 0.125  # share of the budget up to which the task of an agent stays in the view


@dataclass(frozen=True, slots=True)
class Frame:
    """Tokens are those of the session's meter."""

    thread: Thread
    desk: Desk
    options: Options
    query: str | None
    tools: object
    limit: int
    standing: Mapping[str, Any]
    """What was recalled for the newest input of the user, if it holds."""

    agent: bool
    """Whether tools are called: then the first message of a user is a task, and most of the rest is outputs."""

    overhead: int
    """Tokens of the request beside its messages."""

    fixed: Mapping[int, Kept]
    """What is always in the view: the system's messages, pins, and the task of an agent."""

    room: int
    """What is left of the limit for everything else."""

    @classmethod
    def of(
        cls, thread: Thread, desk: Desk, options: Options, budget: Budget, query: str | None, tools: object
    ) -> Frame:
        """The frame of a fit that begins now."""
        limit = budget.tokens(options.window)
        overhead = options.meter.overhead(thread.wire.read([], tools).envelope)
        state, size = thread.state, options.meter.message
        stands = standing(thread, desk, limit)
        agent = bool(stands.get("agent", state.calls))
        fixed = thread.read([*state.system, *state.pins])
        if agent and state.task is not None:
            task = with_calls(thread, state.task)
            fixed |= task if sum(size(kept.message) for kept in task.values()) <= limit * _TASK else {}
        room = limit - overhead - sum(size(kept.message) for kept in fixed.values())
        ordered = dict(sorted(fixed.items()))
        return cls(thread, desk, options, query, tools, limit, stands, agent, overhead, ordered, room)

    def size(self, kept: Kept) -> int:
        """Tokens of the message."""
        return self.options.meter.message(kept.message)

    def key(self, start: int) -> Key:
        """What decides what stands in a view whose recent turns begin there, beside what is recalled."""
        return (start, int(self.agent), self.thread.state.rewordings, *self.fixed)
