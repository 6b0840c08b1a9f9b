"""Where the tiers of a thread stand between two runs: in the store, under a key for each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from uuid import uuid4

from holdfast.kernel.errors import CorruptError
from holdfast.memory.segments import Segment
from holdfast.memory.tiers import TIERS, Tier, Tiers
from holdfast.stores.protocols import SetsMany

from .settling import settled
from .thread import Thread

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_FIELDS = tuple(each.name for each in fields(Segment))


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
        self._written: dict[int, tuple[Segment, str]] = {}
        """The segments that were written last, by their identity, with their JSON: most stay what they are."""

    def load(self) -> Shelved | None:
        """What was kept, if it is not what this shelf read or wrote last; empty tiers for what cannot be read."""
        hot = self._text("hot")
        if hot == self._last:
            return None
        self._last = hot
        texts = {tier: self._text(tier) for tier in TIERS if tier != "hot"}
        try:
            kept = {tier: json.loads(text) for tier, text in ({"hot": hot} | texts).items() if text}
            held = {tier: tuple(_segment(each) for each in data["segments"]) for tier, data in kept.items()}
            newest = max(kept.values(), key=lambda data: data["next"], default={"next": 0})
            return Shelved(Tiers(**held), newest["next"], newest.get("events", 0), newest.get("tokens", 0))
        except (ValueError, KeyError, TypeError):
            return Shelved()

    def save(self, before: Tiers, now: Shelved) -> None:
        """Keep what differs from before. Raises StoreError if it cannot be kept."""
        run = uuid4().hex  # what another session wrote is told by it, even if its hot is the same
        head = _json({"next": now.next, "events": now.events, "tokens": now.tokens, "run": run})
        written = {id(each): self._line(each) for tier in TIERS for each in now.tiers.of(tier)}
        changed: dict[str, str] = {}
        for tier in TIERS:
            held = now.tiers.of(tier)
            if held != before.of(tier) or tier == "hot":
                lines = ",".join(written[id(each)][1] for each in held)
                changed[self._key(tier)] = f'{head[:-1]},"segments":[{lines}]}}'
        store = self._thread.store
        if isinstance(store, SetsMany):
            settled(store.set_many(changed))
        else:
            for key, value in changed.items():
                settled(store.set(key, value))
        self._last, self._written = changed[self._key("hot")], written

    def _line(self, segment: Segment) -> tuple[Segment, str]:
        known = self._written.get(id(segment))
        return known or (segment, _json({name: getattr(segment, name) for name in _FIELDS}))

    def _text(self, tier: Tier) -> str | None:
        try:
            return settled(self._thread.store.get(self._key(tier)))
        except CorruptError:
            return "damaged"  # as good as any text that cannot be read

    def _key(self, tier: Tier) -> str:
        return f"tier:{tier}:{self._thread.name}"


def _segment(data: Mapping[str, Any]) -> Segment:
    fields: dict[str, Any] = {**data, "span": tuple(data["span"]) if data["span"] else None}
    return Segment(**fields)
