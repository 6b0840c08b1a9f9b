"""Who speaks: a word with a colon at the head of a message is a name only where messages bear names.

What a tool gave is by the call that asked for it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import replace

from holdfast.formats.rules.pairing import paired
from holdfast.kernel.messages import ToolCall
from holdfast.memory.packing import speaker_of
from holdfast.memory.remembered import Remembered
from holdfast.stream.tellings import called

from .lines import Kept
from .state import State
from .thread import Thread
from .wires import is_exchanged

_NEAR = 24  # messages before a result among which its call is looked for: one reply may call many tools


def heard(kept: Kept, named: Container[str]) -> Remembered:
    """The message as memory sees it, with the name at its head as a name, or else as the text that it is.

    Among messages without names "Noted: ..." is what somebody noted, and nobody is called so; ``named`` are the
    roles whose messages bear names.
    """
    seen = kept.remembered
    if not seen.speaker or seen.role in named:
        return seen
    return replace(seen, speaker="", header=seen.text.rindex(seen.speaker, 0, seen.header))


def bear_names(state: State) -> frozenset[str]:
    """The roles most texts of which begin with a name."""
    return frozenset(role for role, signed in state.signed.items() if 2 * signed > state.said.get(role, 0))


def all_heard(found: Iterable[Kept], state: State) -> dict[int, Remembered]:
    """The messages as memory sees them, by position; where every role bears names, each stands as it was read."""
    named = bear_names(state)
    if named >= state.signed.keys():
        return {kept.position: kept.remembered for kept in found}
    return {kept.position: heard(kept, named) for kept in found}


def author(thread: Thread, message: Remembered, tells: Callable[[str], str] = str) -> str:
    """Whom a message is by; of results also the calls that gave them, in brief, where these stand near.

    A message of a user that hands over results is by both. ``tells`` may mask what a call was given.
    """
    who, at = speaker_of(message), message.position
    if message.role == "assistant" or not is_exchanged(thread.state) or not thread.read([at])[at].message.results:
        return who
    told = ", ".join(called(call.name, tells(call.arguments)) for call in calls_of(thread, at))
    tools = f"Tool {told}".rstrip()
    return tools if message.role == "tool" else f"{tools} and {who}"


def calls_of(thread: Thread, at: int) -> list[ToolCall]:
    """The calls that gave the results of the message at this position, as far as they are near; in their order."""
    near = [kept.message for kept in thread.read(range(max(0, at - _NEAR), at + 1)).values()]
    calls = [near[i].parts[k] for result, (i, k) in sorted(paired(near).items()) if result[0] == len(near) - 1]
    return [call for call in calls if isinstance(call, ToolCall)]
