"""The story of a thread as one page that needs nothing else: no address is fetched, what was said stays text."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template

from holdfast.memory.tiers import TIERS
from holdfast.reports.visible import amount, one_line, visible

from .state import Event
from .story import MOST_SHOWN, MOST_TOLD, Story, best, reasons

_WIDTH, _HEIGHT = 1_000, 180  # of a chart, in its own units
_PREVIEW = 160  # cells

Point = tuple[float, float]


def html_page(story: Story) -> str:
    """The page."""
    style = files("holdfast.reports").joinpath("page", "page.css").read_text("utf-8")
    style += files("holdfast.session").joinpath("page.css").read_text("utf-8")
    fingerprint = b64encode(sha256(style.encode()).digest()).decode()
    stats = story.stats
    return Template(files("holdfast.session").joinpath("page.html").read_text("utf-8")).substitute(
        policy=f"default-src 'none'; style-src 'sha256-{fingerprint}'; base-uri 'none'; form-action 'none'",
        style=style,
        thread=_shown(one_line(stats.thread, _PREVIEW)) or "(no name)",
        messages=amount(stats.messages, "message"),
        tokens=f"{stats.tokens:,}",
        facts=_facts(story),
        sent=_sent(story),
        tiers=_tiers(story),
        gauges="\n".join(_gauges(story)),
        compactions="\n".join(map(_compaction, reversed(story.of("compaction")[-MOST_SHOWN:]))) or _none(3),
        recalls="\n".join(_recall(story, event) for event in reversed(story.recalls[-MOST_SHOWN:]))
        or "<p>Nothing was recalled yet.</p>",
    )


def _shown(text: str) -> str:
    return escape(visible(text))


def _none(columns: int) -> str:
    return f'<tr><td colspan="{columns}">There was none.</td></tr>'


def _facts(story: Story) -> str:
    stats = story.stats
    facts = {
        "tokens not sent": f"{story.saved:,}",
        "compactions": f"{stats.events.get('compaction', 0):,}",
        "looks into the past": f"{stats.events.get('recall', 0):,}, {len(story.recalls):,} brought something back",
        "recent turns": f"from message {stats.since:,}, {amount(stats.recent_tokens, 'token')} as they were said",
        "edited, deleted, pinned, kept in mind": (
            f"{stats.edited:,}, {stats.deleted:,}, {stats.pinned:,}, {stats.notes:,}"
        ),
        "counted by": stats.counter,
    }
    faults = story.of("fault")
    if faults:
        facts["went wrong"] = f"{amount(len(faults), 'time')}, last: {one_line(faults[-1].reason, _PREVIEW)}"
    return "".join(f"<div><dt>{name}</dt><dd>{_shown(value)}</dd></div>" for name, value in facts.items())


def _sent(story: Story) -> str:
    """What the whole thread would have taken at each recall, and what the view took."""
    recalls = story.of("recall")
    whole = [(float(event.at), float(event.facts["of"])) for event in recalls]
    view = [(float(event.at), float(event.facts["tokens"])) for event in recalls]
    return _chart([("whole", "the whole thread", whole), ("view", "the view", view)], "tokens")


def _tiers(story: Story) -> str:
    """How much each tier held after each change."""
    events = [event for event in story.of("tiers") if "sizes" in event.facts]
    lines = [
        (tier, tier, [(float(event.at), float(event.facts["sizes"][tier])) for event in events]) for tier in TIERS
    ]
    return _chart(lines, "tokens")


def _chart(lines: Sequence[tuple[str, str, Sequence[Point]]], unit: str) -> str:
    """Steps over the messages of the thread, one line a name."""
    points = [point for _, _, line in lines for point in line]
    if len({at for at, _ in points}) < 2:
        return "<p>There is too little yet for a chart.</p>"
    first, last = min(at for at, _ in points), max(at for at, _ in points)
    most = max(value for _, value in points) or 1.0
    paths = "".join(
        f'<path class="{name}" d="{_path(line, first, last, most)}"><title>{title}</title></path>'
        for name, title, line in lines
    )
    key = "".join(f'<span class="{name}">{title}</span>' for name, title, _ in lines)
    scale = f"up to {most:,.0f} {unit}, message {first:,.0f} to {last:,.0f}"
    return (
        f'<svg class="chart" role="img" aria-label="{scale}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'preserveAspectRatio="none">{paths}</svg><p class="key">{key}<span class="scale">{scale}</span></p>'
    )


def _path(line: Sequence[Point], first: float, last: float, most: float) -> str:
    steps: list[str] = []
    for n, (at, value) in enumerate(line):
        x, y = _WIDTH * (at - first) / (last - first), _HEIGHT * (1 - value / most)
        steps.append(f"M{x:.1f},{y:.1f}" if n == 0 else f"H{x:.1f}V{y:.1f}")
    return "".join(steps)


def _gauges(story: Story) -> Iterator[str]:
    for tier in TIERS:
        held = story.stats.tiers[tier]
        width = min(100.0, held.utilization)
        yield (
            f'<tr><th scope="row">{tier}</th><td>{held.size:,}</td><td>{held.capacity:,}</td>'
            f'<td><svg class="gauge" role="img" aria-label="{width:.0f} percent"><rect class="{tier}" '
            f'width="{width:.1f}%" height="10"/></svg> {amount(held.segment_count, "segment")}</td></tr>'
        )


def _compaction(event: Event) -> str:
    facts = event.facts
    return (
        f'<tr><th scope="row">{event.at:,}</th><td>{facts["from"]:,} → {facts["to"]:,}</td>'
        f"<td>{_shown(event.reason)}</td></tr>"
    )


def _recall(story: Story, event: Event) -> str:
    chosen = event.facts["chosen"]
    rows = "".join(_chosen(story, *each) for each in best(event, MOST_TOLD))
    more = f"<p>and {amount(len(chosen) - MOST_TOLD, 'message')} more</p>" if len(chosen) > MOST_TOLD else ""
    question = _shown(one_line(event.facts["question"], _PREVIEW))
    return (
        f'<details><summary><span class="at">{event.at:,}</span><span class="words" dir="auto">{question}</span>'
        f'<span class="size">{amount(len(chosen), "message")}, {event.facts["tokens"]:,} tokens sent of '
        f"{event.facts['of']:,}</span></summary><table><tbody>{rows}</tbody></table>{more}</details>"
    )


def _chosen(story: Story, position: int, score: float, why: dict[str, float]) -> str:
    """One message that came back, and what gave it its score as a bar of parts."""
    told = _shown(story.told(position))
    names = escape(reasons(why))
    return (
        f'<tr><th scope="row">{position:,}</th><td><svg class="gauge" role="img" aria-label="{names}">'
        f'{"".join(_parts(why))}</svg> {score:.2f}</td><td dir="auto">{told}<br><small>{names}</small></td></tr>'
    )


def _parts(why: dict[str, float]) -> Iterator[str]:
    at = 0.0
    for name, share in sorted(why.items(), key=lambda entry: -entry[1]):
        title = f"<title>{escape(name)} {share:.2f}</title>"
        place = f'x="{at:.1f}%" width="{100 * max(0.0, share):.1f}%"'
        yield f'<rect class="{escape(name)}" {place} height="10">{title}</rect>'
        at += 100 * max(0.0, share)
