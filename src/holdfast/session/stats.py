"""How much there is in a thread, and where it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from holdfast.memory.tiers import Tier, TierStatistics

from .tending import Tending
from .thread import Thread


@dataclass(frozen=True, slots=True)
class Stats:
    """A thread in numbers. Tokens are those of ``counter``."""

    thread: str
    messages: int
    """Everything that was ever appended."""

    tokens: int
    counter: str
    deleted: int
    edited: int
    pinned: int
    notes: int
    """Texts that are to be kept in mind."""

    since: int
    """The position from which on messages stand in the view as they are."""

    recent_tokens: int
    """Of the messages from there on."""

    tiers: Mapping[Tier, TierStatistics]
    """Of each tier its size and capacity in tokens, its segments, and how full it is."""

    forms: Mapping[str, int]
    """How many segments of warm and cold have a form by whom: ``rule``, or the name of a model."""

    events: Mapping[str, int]
    """How many of each kind there were."""

    faults: Sequence[str]
    """What went wrong in the upkeep since this session was opened, the newest last; never raised."""

    held_messages: int
    """How many messages this process holds in memory, and their characters: bounded."""

    held_characters: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        tiers = {name: asdict(tier) | {"utilization": tier.utilization} for name, tier in self.tiers.items()}
        return asdict(self) | {"tiers": tiers}


def stats_of(thread: Thread, tending: Tending, faults: Sequence[str]) -> Stats:
    """The thread in numbers, as it is now."""
    state = thread.state
    return Stats(
        thread=thread.name,
        messages=state.messages,
        tokens=state.tokens,
        counter=state.counter,
        deleted=len(state.deleted),
        edited=len(state.edits),
        pinned=len(state.pins),
        notes=len(state.notes),
        since=state.since,
        recent_tokens=sum(thread.meter.message(kept.message) for kept in thread.forwards(state.since)),
        tiers=tending.statistics(),
        forms=tending.writers(),
        events=dict(state.happened),
        faults=faults,
        held_messages=len(thread.held),
        held_characters=thread.held_characters,
    )
