"""How things are used in a conversation: how often, how recently, by whom."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.selection.weights import Use

from .events import StreamEvent
from .tellings import Telling


def uses_of(events: Sequence[StreamEvent], tellings: Sequence[Telling]) -> dict[str, Use]:
    """The use of each name over all events; distances are counted in events."""
    uses: dict[str, Use] = {}
    for now, (event, telling) in enumerate(zip(events, tellings, strict=True)):
        is_act = event.function == "act"
        is_agents = is_act or event.by == "assistant"
        crowd = max(telling.crowd, 1)
        for thing, pieces in telling.names.items():
            use = uses.get(thing)
            if use is None:
                use = uses[thing] = Use(crowd, now)
            use.events += 1
            use.pieces += pieces
            use.last = now
            if is_agents:
                use.by_agent += 1
                use.last_by_agent = now
                use.acts += is_act
            use.crowd = min(use.crowd, crowd)
        for thing in telling.quoted:
            if thing in uses:
                uses[thing].is_quoted = True
    return uses
