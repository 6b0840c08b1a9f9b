"""Where the tiers of a thread stand between two runs: in the store, under a key for each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import uuid4

from holdfast.memory.segments import Segment
from holdfast.memory.tiers import TIERS, Tier, Tiers
from holdfast.stores.capabilities import SetsMany

from .thread import Thread, settled


@dataclass(frozen=True, slots=True)
class Shelved:
    """The tiers, and how much of the thread they take into account."""

    tiers: Tiers = field(default_factory=Tiers)
    next: int = 0
    """The first message that is in none of them yet."""

    events: int = 0
    tokens: int = 0
    """Of all messages, when the tiers were tended last."""


class Shelf:
    """Reads and writes the tiers of one thread; hot is written each time, and tells by that who wrote last."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._last: str | None = ""

    def load(self) -> Shelved | None:
        """What was kept, if it is not what this shelf read or wrote last; empty tiers for what cannot be read."""
        hot = settled(self._thread.store.get(self._key("hot")))
        if hot == self._last:
            return None
        self._last = hot
        texts = {tier: settled(self._thread.store.get(self._key(tier))) for tier in TIERS if tier != "hot"}
        try:
            kept = {tier: json.loads(text) for tier, text in ({"hot": hot} | texts).items() if text}
            held = {tier: tuple(_segment(each) for each in data["segments"]) for tier, data in kept.items()}
            newest = max(kept.values(), key=lambda data: data["next"], default={"next": 0})
            return Shelved(Tiers(**held), newest["next"], newest.get("events", 0), newest.get("tokens", 0))
        except (ValueError, KeyError, TypeError):
            return Shelved()

    def save(self, before: Tiers, now: Shelved) -> None:
        """Keep what differs from before. Raises StoreError if it cannot be kept."""
        changed: dict[str, str] = {}
        run = uuid4().hex  # what another session wrote is told by it, even if its hot is the same
        for tier in TIERS:
            if now.tiers.of(tier) != before.of(tier) or tier == "hot":
                segments = [asdict(segment) for segment in now.tiers.of(tier)]
                far = {"next": now.next, "events": now.events, "tokens": now.tokens, "run": run}
                told = json.dumps(far | {"segments": segments}, ensure_ascii=False, separators=(",", ":"))
                changed[self._key(tier)] = told
        store = self._thread.store
        if isinstance(store, SetsMany):
            settled(store.set_many(changed))
        else:
            for key, value in changed.items():
                settled(store.set(key, value))
        self._last = changed[self._key("hot")]

    def _key(self, tier: Tier) -> str:
        return f"tier:{tier}:{self._thread.name}"


def _segment(data: Mapping[str, Any]) -> Segment:
    fields: dict[str, Any] = {**data, "span": tuple(data["span"]) if data["span"] else None}
    return Segment(**fields)
