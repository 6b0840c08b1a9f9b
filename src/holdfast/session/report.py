"""Reports about a thread: as numbers, as text for a terminal, and as one HTML page."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, NamedTuple

from holdfast.kernel.typed import attributes
from holdfast.memory.tiers import TIERS, Tier, TierStatistics
from holdfast.model_usage import ModelUsage
from holdfast.names import ReportForm
from holdfast.redact import redacted_text
from holdfast.reports.pages import PREVIEW, asset, fact_list, page, shown
from holdfast.reports.text import WIDTH
from holdfast.text.visible import amount, one_line

from .log import Thread
from .recall import EXPLAINED, Past
from .recent import LastFit
from .state import Event, EventKind
from .tiers import RULE, ThreadTiers


@dataclass(frozen=True, slots=True)
class Stats:
    """A thread in numbers. Tokens are those of ``counter``."""

    thread: str
    messages: int
    """Everything that was appended."""

    tokens: int
    counter: str
    deleted: int
    edited: int
    pinned: int
    notes: int
    """Notes of ``remember``."""

    since: int
    """The position from which every message is in the view."""

    recent_tokens: int
    """Tokens of the messages from there on."""

    tiers: Mapping[Tier, TierStatistics]
    """The size and the capacity of each tier in tokens, and its number of segments."""

    behind: bool
    """Whether messages are in no tier yet that would take long to put there."""

    forms: Mapping[str, int]
    """The number of warm and cold segments by writer: ``rule``, or the name of a model."""

    events: Mapping[str, int]
    """The number of events of each kind."""

    faults: Sequence[str]
    """Failures of maintenance since this session was opened, the newest last."""

    model_requests: int
    """Requests to models for views since this session was opened, retries included."""

    model_cost: float | None
    """The cost of these requests in US dollars; None if a price is not known."""

    cache_hits: int
    """Prompts and texts of these views that the cache answered."""

    net: float
    """US dollars that new views saved, over ``fits`` views, if costs decide."""

    slowest: float = field(compare=False)
    """Seconds of the slowest view, over ``fits`` views."""

    waited: int
    """How often, since this session was opened, it was cheaper to let a view grow above its
    trigger.
    """

    fits: int
    """The number of views, up to the last saved state, at the latest that of ``close``."""

    spared: int
    """Tokens that were not sent, over all these views: the thread's size minus the view's."""

    held_messages: int
    """Messages that this process has in memory; their number and characters are bounded."""

    held_characters: int

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        tiers = {
            name: asdict(tier) | {"utilization": tier.utilization}
            for name, tier in self.tiers.items()
        }
        return asdict(self) | {"tiers": tiers}


def stats_of(thread: Thread, tiers: ThreadTiers, faults: Sequence[str], last_fit: LastFit) -> Stats:
    """The present numbers of the thread."""
    state, usage = thread.state, ModelUsage(tuple(last_fit.calls))
    return Stats(
        **attributes(state, "messages tokens counter since net slowest fits spared"),
        thread=thread.name,
        deleted=len(state.deleted),
        edited=len(state.edits),
        pinned=len(state.pins),
        notes=len(state.notes),
        recent_tokens=sum(
            thread.meter.message(kept.message) for kept in thread.forwards(state.since)
        ),
        tiers=tiers.statistics(),
        behind=tiers.behind,
        forms=tiers.writers(),
        events=dict(state.happened),
        faults=faults,
        model_requests=usage.requests,
        model_cost=usage.cost,
        cache_hits=usage.cached,
        waited=last_fit.waited,
        held_messages=len(thread.held),
        held_characters=thread.held_characters,
    )


BEHIND = "some messages are in no tier yet: tiers() puts them there"
MOST_SHOWN = 200  # recalls, and other events of a kind, on a page: some screens of a person
_NEWEST = 10  # events of a kind in the text, so that all kinds fit a screen; the page shows more
_PREVIEW = WIDTH - len("    0.25  message 1,000: ")  # cells: with what stands before it, a line


class Story(NamedTuple):
    """A thread in numbers, its events, and the texts of recalled messages, without secrets."""

    stats: Stats
    events: Sequence[Event]
    recalls: Sequence[Event]
    """The events that recalled messages, oldest first."""

    texts: Mapping[int, str]

    def question(self, event: Event, cells: int) -> str:
        """The question of a recall on one line, with secrets masked."""
        return one_line(redacted_text(event.facts["question"])[0], cells)

    def preview(self, position: int) -> str:
        """The text of a recalled message on one line."""
        return one_line(self.texts.get(position, "(deleted since)"), _PREVIEW)

    def of(self, kind: EventKind) -> list[Event]:
        """The events of a kind, oldest first."""
        return [event for event in self.events if event.kind == kind]


def report(form: ReportForm, stats: Stats, events: Sequence[Event], past: Past) -> str:
    """The report in this form. Secrets are masked, since it may be passed on."""
    recalls = [event for event in events if event.kind == "recall" and event.facts["chosen"]]
    shown = {chosen[0] for event in recalls[-MOST_SHOWN:] for chosen in best(event, EXPLAINED)}
    found = past.texts(sorted(shown))
    texts = {place: redacted_text(text)[0] for place, text in found.items()}
    story = Story(stats, events, recalls, texts)
    return html_page(story) if form == "html" else text_page(story)


def reasons(why: dict[str, float]) -> str:
    """The factors of a score with their shares, the largest first."""
    ranked = sorted(why.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{name} {share:.2f}" for name, share in ranked if share > 0)


def text_page(story: Story) -> str:
    """The story for a terminal."""

    def moved(event: Event) -> Iterator[str]:
        begins = f"the view begins at {event.facts['to']:,}, not {event.facts['from']:,}"
        yield f"  at message {event.at:,}: {begins}; {event.reason}"

    def recalled(event: Event) -> Iterator[str]:
        question = story.question(event, _PREVIEW)
        found = amount(len(event.facts["chosen"]), "message")
        yield f"  at message {event.at:,}: {found} for “{question}”"
        for position, score, why in best(event, 3):
            yield f"    {score:.2f}  message {position:,}: {story.preview(position)}"
            yield f"          by {reasons(why)}"

    def failed(event: Event) -> Iterator[str]:
        yield f"  at message {event.at:,}: {one_line(event.reason, _PREVIEW)}"

    lines = [
        *_figures(story),
        *_tiers(story),
        *_section(story.of("compaction"), "Compactions ({})", moved),
        *_section(story.recalls, "Recalls ({})", recalled),
        *_section(story.of("fault"), "What went wrong ({}); nothing was lost by it", failed),
    ]
    return "".join(f"{line}\n" for line in lines)


def _figures(story: Story) -> Iterator[str]:
    stats = story.stats
    yield f"Thread {one_line(stats.thread, _PREVIEW) or '(no name)'}"
    counted = f"{amount(stats.tokens, 'token')} by {stats.counter}"
    yield f"  {amount(stats.messages, 'message')}, {counted}"
    told = [f"{number:,} {name}" for name, number in _changed(stats).items()]
    if told:
        yield f"  {', '.join(told)}"
    if stats.since:
        tokens = amount(stats.recent_tokens, "token")
        yield f"  recent turns begin at message {stats.since:,}: {tokens} unchanged"
    if stats.spared:
        views = amount(stats.fits, "view")
        worth = f"; new views saved ${stats.net:,.4f}" if stats.net else ""
        yield f"  {amount(stats.spared, 'token')} were not sent, over {views}{worth}"


def _changed(stats: Stats) -> dict[str, int]:
    """The numbers of changes by people and models, by kind, without zeros."""
    changed = attributes(stats, "deleted edited pinned") | {"remembered": stats.notes}
    return {name: number for name, number in changed.items() if number}


def _tiers(story: Story) -> Iterator[str]:
    yield ""
    yield "Tiers"
    for tier in TIERS:
        held = story.stats.tiers[tier]
        bar = "█" * round(held.utilization / 5)
        full = f"{held.size:>8,} of {held.capacity:>7,} tokens"
        yield f"  {tier:5} {full}  {amount(held.segment_count, 'segment'):>14}  {bar}".rstrip()
    if story.stats.behind:
        yield f"  {BEHIND}"
    written = [
        f"{number:,} by {name}" for name, number in story.stats.forms.items() if name != RULE
    ]
    if written:
        yield f"  of {amount(sum(story.stats.forms.values()), 'short form')} {', '.join(written)}"


def _section(
    found: Sequence[Event], title: str, tell: Callable[[Event], Iterator[str]]
) -> Iterator[str]:
    """The newest of the events under a title with their number; nothing without events."""
    if found:
        yield ""
        yield title.format(f"{len(found):,}")
        for event in found[-_NEWEST:]:
            yield from tell(event)


def best(event: Event, most: int) -> list[Any]:
    """The best recalled messages: position, score and factors."""
    return sorted(event.facts["chosen"], key=lambda chosen: (-chosen[1], chosen[0]))[:most]


_WIDTH, _HEIGHT = 1_000, 180  # of a chart, in its own units
_FEW = 5  # compactions that a page shows at once; the others are folded

Point = tuple[float, float]


def html_page(story: Story) -> str:
    """The page."""
    stats, searches = story.stats, story.of("recall")
    sent = [
        ("whole", "the whole thread", [(event.at, event.facts["of"]) for event in searches]),
        ("view", "the view", [(event.at, event.facts["tokens"]) for event in searches]),
    ]
    sized = [event for event in story.of("tiers") if "sizes" in event.facts]
    tiers = [
        (tier, tier, [(event.at, event.facts["sizes"][tier]) for event in sized]) for tier in TIERS
    ]
    return page(
        "$thread: Holdfast session",
        asset("session", "page.html"),
        asset("session", "page.css"),
        thread=shown(one_line(stats.thread, PREVIEW)) or "(no name)",
        messages=amount(stats.messages, "message"),
        tokens=f"{stats.tokens:,}",
        facts=_details(story),
        sent=_chart(sent) or '<p class="hint">The chart begins with the second new view.</p>',
        tiers=_chart(tiers),
        gauges="\n".join(_gauges(story)),
        compactions=_all_compactions(story.of("compaction")),
        recalls="\n".join(_recall(story, event) for event in reversed(story.recalls[-MOST_SHOWN:]))
        or "<p>Nothing was recalled yet.</p>",
    )


def _details(story: Story) -> str:
    stats = story.stats
    details = {
        "tokens not sent": f"{stats.spared:,}, over {amount(stats.fits, 'view')}",
        **({"new views saved": f"${stats.net:,.4f}"} if stats.net else {}),
        "compactions": f"{stats.events.get('compaction', 0):,}",
        "searches of the past": f"{stats.events.get('recall', 0):,}, {len(story.recalls):,} with "
        f"results",
        "recent turns": f"from message {stats.since:,}, {amount(stats.recent_tokens, 'token')} "
        f"unchanged",
        **{name: f"{number:,}" for name, number in _changed(stats).items()},
        "counted by": stats.counter,
    }
    faults = story.of("fault")
    if faults:
        details["failures"] = (
            f"{amount(len(faults), 'time')}, last: {one_line(faults[-1].reason, PREVIEW)}"
        )
    return fact_list(details)


def _chart(lines: Sequence[tuple[str, str, Sequence[Point]]]) -> str:
    """A step chart over the messages of the thread; a line is a class, a title and points."""
    points = [point for _, _, line in lines for point in line]
    times = {at for at, _ in points}
    if len(times) < 2:
        return ""
    first, last = min(times), max(times)
    most = max(value for _, value in points) or 1.0

    def steps(line: Sequence[Point]) -> Iterator[str]:
        for n, (at, value) in enumerate(line):
            x, y = _WIDTH * (at - first) / (last - first), _HEIGHT * (1 - value / most)
            yield f"M{x:.1f},{y:.1f}" if n == 0 else f"H{x:.1f}V{y:.1f}"

    paths = "".join(
        f'<path class="{name}" d="{"".join(steps(line))}"><title>{title}</title></path>'
        for name, title, line in lines
    )
    key = "".join(f'<span class="{name}">{title}</span>' for name, title, _ in lines)
    scale = f"up to {most:,.0f} tokens, message {first:,.0f} to {last:,.0f}"
    return (
        f'<svg class="chart" role="img" aria-label="{scale}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'preserveAspectRatio="none">{paths}</svg><p class="key">{key}<span '
        f'class="scale">{scale}</span></p>'
    )


def _gauges(story: Story) -> Iterator[str]:
    for tier in TIERS:
        held = story.stats.tiers[tier]
        width = min(100.0, held.utilization)
        yield (
            f'<tr><th scope="row">{tier}</th><td>{held.size:,}</td><td>{held.capacity:,}</td>'
            f'<td><svg class="gauge" role="img" aria-label="{width:.0f} percent"><rect '
            f'class="{tier}" '
            f'width="{width:.1f}%" height="10"/></svg> '
            f"{amount(held.segment_count, 'segment')}</td></tr>"
        )
    if story.stats.behind:
        yield f'<tr><td colspan="4">{BEHIND}</td></tr>'


def _all_compactions(events: Sequence[Event]) -> str:
    """The newest compactions in a table, and the earlier ones in one that unfolds."""
    if not events:
        return "<p>There was none.</p>"
    newest, rest = events[-_FEW:], events[:-_FEW]
    shown = _compaction_table(newest)
    if not rest:
        return shown
    told, older = amount(len(rest), "earlier one"), _compaction_table(rest[-MOST_SHOWN:])
    return f'{shown}<details class="all"><summary>{told}</summary>{older}</details>'


def _compaction_table(events: Sequence[Event]) -> str:
    rows = "\n".join(
        f'<tr><th scope="row">{event.at:,}</th>'
        f"<td>{event.facts['from']:,} → {event.facts['to']:,}</td>"
        f"<td>{shown(event.reason)}</td></tr>"
        for event in reversed(events)
    )
    return (
        '<table class="compactions"><thead><tr><th scope="col">at message</th>'
        '<th scope="col">the view begins</th><th scope="col">why</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _recall(story: Story, event: Event) -> str:
    chosen = event.facts["chosen"]
    rows = "".join(_chosen(story, *each) for each in best(event, EXPLAINED))
    more = (
        f"<p>and {amount(len(chosen) - EXPLAINED, 'message')} more</p>"
        if len(chosen) > EXPLAINED
        else ""
    )
    question = shown(story.question(event, PREVIEW))
    return (
        f'<details><summary><span class="at">{event.at:,}</span><span class="words" '
        f'dir="auto">{question}</span>'
        f'<span class="size">{amount(len(chosen), "message")}, {event.facts["tokens"]:,} tokens '
        f"sent of "
        f"{event.facts['of']:,}</span></summary>"
        f"<table><tbody>{rows}</tbody></table>{more}</details>"
    )


def _chosen(story: Story, position: int, score: float, why: dict[str, float]) -> str:
    """One recalled message, with the factors of its score as a bar."""
    told = shown(story.preview(position))
    names = escape(reasons(why))
    return (
        f'<tr><th scope="row">{position:,}</th><td><svg class="gauge" role="img" '
        f'aria-label="{names}">'
        f"{''.join(_parts(why))}</svg> {score:.2f}</td><td "
        f'dir="auto">{told}<br><small>{names}</small></td></tr>'
    )


def _parts(why: dict[str, float]) -> Iterator[str]:
    at = 0.0
    for name, share in sorted(why.items(), key=lambda entry: -entry[1]):
        title = f"<title>{escape(name)} {share:.2f}</title>"
        place = f'x="{at:.1f}%" width="{100 * max(0.0, share):.1f}%"'
        yield f'<rect class="{escape(name)}" {place} height="10">{title}</rect>'
        at += 100 * max(0.0, share)
