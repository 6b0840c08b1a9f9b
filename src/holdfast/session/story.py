"""What happened to a thread, in the order in which a person wants to know it; written as text here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.memory.tiers import TIERS
from holdfast.reports.visible import amount, one_line
from holdfast.text.concealed import redacted_text

from .state import Event, EventKind
from .stats import Stats
from .tending import RULE

MOST_SHOWN = 200  # recalls, and other events of a kind, that a page holds
MOST_TOLD = 8  # messages of one recall
_NEWEST = 10  # events of a kind that the text shows; the page shows more
_PREVIEW = 90  # cells


@dataclass(frozen=True, slots=True)
class Story:
    """A thread in numbers, its events, and of the messages that were recalled what they say."""

    stats: Stats
    events: Sequence[Event]
    texts: dict[int, str]

    def told(self, position: int) -> str:
        """What a message that was recalled says, in one line."""
        return one_line(self.texts.get(position, "(deleted since)"), _PREVIEW)

    def of(self, kind: EventKind) -> list[Event]:
        """The events of a kind, oldest first."""
        return [event for event in self.events if event.kind == kind]

    @property
    def recalls(self) -> list[Event]:
        """Those that brought something back."""
        return [event for event in self.of("recall") if event.facts["chosen"]]

    @property
    def saved(self) -> int:
        """Tokens that were not sent, over all recalls: the whole thread, less the view."""
        return sum(max(0, event.facts["of"] - event.facts["tokens"]) for event in self.of("recall"))


def masked(story: Story) -> Story:
    """The story without secrets in what was asked and recalled, as far as it is shown."""
    shown = {event.number for event in story.recalls[-MOST_SHOWN:]}
    events = [
        replace(event, facts={**event.facts, "question": redacted_text(event.facts["question"])[0]})
        if event.number in shown
        else event
        for event in story.events
    ]
    return Story(story.stats, events, {place: redacted_text(text)[0] for place, text in story.texts.items()})


def recalled_positions(events: Sequence[Event]) -> list[int]:
    """The messages that recalls brought back, in order, as far as they are shown."""
    recalls = [event for event in events if event.kind == "recall" and event.facts["chosen"]]
    return sorted({chosen[0] for event in recalls[-MOST_SHOWN:] for chosen in best(event, MOST_TOLD)})


def reasons(why: dict[str, float]) -> str:
    """What gave a message its score, the most first."""
    ranked = sorted(why.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{name} {share:.2f}" for name, share in ranked if share > 0)


def text_page(story: Story) -> str:
    """The story for a terminal."""
    return (
        "\n".join([*_figures(story), *_tiers(story), *_compactions(story), *_recalls(story), *_faults(story)])
        + "\n"
    )


def _figures(story: Story) -> Iterator[str]:
    stats = story.stats
    yield f"Thread {one_line(stats.thread, _PREVIEW) or '(no name)'}"
    yield f"  {amount(stats.messages, 'message')}, {amount(stats.tokens, 'token')} by {stats.counter}"
    changed = {
        "deleted": stats.deleted,
        "edited": stats.edited,
        "pinned": stats.pinned,
        "kept in mind": stats.notes,
    }
    told = [f"{number:,} {name}" for name, number in changed.items() if number]
    if told:
        yield f"  {', '.join(told)}"
    if stats.since:
        tokens = amount(stats.recent_tokens, "token")
        yield f"  recent turns begin at message {stats.since:,}: {tokens} as they were said"
    if story.saved:
        looks = amount(len(story.of("recall")), "look")
        yield f"  {amount(story.saved, 'token')} were not sent, over {looks} into the past"


def _tiers(story: Story) -> Iterator[str]:
    yield ""
    yield "Tiers"
    for tier in TIERS:
        held = story.stats.tiers[tier]
        bar = "█" * round(held.utilization / 5)
        full = f"{held.size:>8,} of {held.capacity:>7,} tokens"
        yield f"  {tier:5} {full}  {amount(held.segment_count, 'segment'):>14}  {bar}".rstrip()
    written = [f"{number:,} by {name}" for name, number in story.stats.forms.items() if name != RULE]
    if written:
        yield f"  of {amount(sum(story.stats.forms.values()), 'short form')} {', '.join(written)}"


def _section(found: Sequence[Event], title: str, tell: Callable[[Event], Iterator[str]]) -> Iterator[str]:
    """The newest of the events under a title with their number; nothing where there are none."""
    if found:
        yield ""
        yield title.format(f"{len(found):,}")
        for event in found[-_NEWEST:]:
            yield from tell(event)


def _compactions(story: Story) -> Iterator[str]:
    def tell(event: Event) -> Iterator[str]:
        moved = f"the view begins at {event.facts['to']:,}, not {event.facts['from']:,}"
        yield f"  at message {event.at:,}: {moved}; {event.reason}"

    return _section(story.of("compaction"), "Compactions ({})", tell)


def _recalls(story: Story) -> Iterator[str]:
    def tell(event: Event) -> Iterator[str]:
        question = one_line(event.facts["question"], _PREVIEW)
        yield f"  at message {event.at:,}: {amount(len(event.facts['chosen']), 'message')} for “{question}”"
        for position, score, why in best(event, 3):
            yield f"    {score:.2f}  message {position:,}: {story.told(position)}"
            yield f"          by {reasons(why)}"

    return _section(story.recalls, "Recalls ({})", tell)


def _faults(story: Story) -> Iterator[str]:
    def tell(event: Event) -> Iterator[str]:
        yield f"  at message {event.at:,}: {one_line(event.reason, _PREVIEW)}"

    return _section(story.of("fault"), "What went wrong ({}); nothing was lost by it", tell)


def best(event: Event, most: int) -> list[Any]:
    """Of what a recall brought back, the messages with the highest scores: position, score, what gave it."""
    return sorted(event.facts["chosen"], key=lambda chosen: (-chosen[1], chosen[0]))[:most]
