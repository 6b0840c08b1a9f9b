"""What a report tells of: every message on its way, what it said before and after, and how long it was.

Secrets are masked in what it says, also where the messages themselves keep them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from holdfast.kernel.budget import Meter
from holdfast.kernel.messages import Media, Message, Part, Reasoning, Role, ToolCall, ToolResult
from holdfast.kernel.transcript import Format, speaks
from holdfast.result import CompressionResult, bare, restore
from holdfast.text.concealed import redacted_texts

from .journey import STATES, Journey, State, journeys
from .visible import plain


@dataclass(frozen=True, slots=True)
class Entry:
    """One message: its journey, what it said and says, and how long that is; empty and 0 where it is not there.

    ``role`` is tool for a message that brings tool results alone, whatever role its wire carries them under.
    """

    journey: Journey
    role: Role = "user"
    text_before: str = ""
    text_after: str = ""
    tokens_before: int = 0
    tokens_after: int = 0

    @property
    def state(self) -> State:
        """What became of it."""
        return self.journey.state

    @property
    def why(self) -> str:
        """The step that decided, and its reason; empty for a kept message."""
        touch = self.journey.decided
        if touch is None:
            return ""
        return f"{touch.step}: {plain(touch.reason)}" if touch.reason else touch.step


@dataclass(frozen=True, slots=True)
class Account:
    """A result, message by message. ``counter`` names what counted the messages.

    ``beside`` is what the totals of the result hold beside the messages (system prompt of a body, tool schemas,
    what a provider adds); None if the messages were counted by another counter than the result.
    """

    result: CompressionResult
    entries: tuple[Entry, ...]
    counter: str
    beside: int | None

    def number(self, state: State) -> int:
        """How many messages are in this state."""
        return sum(entry.state == state for entry in self.entries)

    @property
    def states(self) -> dict[State, int]:
        """The states that occur, with the number of their messages."""
        found = Counter(entry.state for entry in self.entries)
        return {state: found[state] for state in STATES if state in found}


def account_of(result: CompressionResult, form: Format, meter: Meter) -> Account:
    """The account of a result whose messages are of this format, counted again by this meter."""
    before, after = form.read(bare(restore(result))), form.read(bare(result.messages))
    sizes_before, sizes_after = meter.sizes(before), meter.sizes(after)
    texts_before, texts_after = (redacted_texts([*map(said, each.messages)]) for each in (before, after))
    entries: list[Entry] = []
    for journey in journeys(result):
        entry = Entry(journey)
        if journey.after is not None:
            message, size = after.messages[journey.after], sizes_after[journey.after]
            entry = replace(entry, role=_role(message), text_after=texts_after[journey.after], tokens_after=size)
        if journey.before is not None:
            message, size = before.messages[journey.before], sizes_before[journey.before]
            entry = replace(
                entry, role=_role(message), text_before=texts_before[journey.before], tokens_before=size
            )
        entries.append(entry)
    beside_before = result.metrics.tokens_before - sum(sizes_before)
    beside_after = result.metrics.tokens_after - sum(sizes_after)
    agreed = beside_before == beside_after or bool(result.masked)  # what was masked is not counted as it was
    known = beside_after if agreed and beside_after >= 0 else None
    return Account(result, tuple(entries), meter.counter.name, known)


def _role(message: Message) -> Role:
    return "tool" if message.role == "user" and not speaks(message) else message.role


def said(message: Message) -> str:
    """Everything that the message carries, as a person reads it."""
    if message.plain is not None:
        return message.plain
    return "\n".join(_read(part) for part in message.parts)


def _read(part: Part) -> str:
    if isinstance(part, ToolCall):
        return f"{part.name}({part.arguments})"
    if isinstance(part, Media):
        return f"[{' '.join(filter(None, (part.kind, part.media_type)))}]"
    if isinstance(part, ToolResult):
        return "\n".join([part.text, *map(_read, part.media)]) if part.media else part.text
    if isinstance(part, Reasoning):
        return f"[thinking] {part.text}"
    return part.text
