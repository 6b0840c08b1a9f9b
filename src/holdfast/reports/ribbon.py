"""The conversation as two ribbons, before and after: each message as wide as its tokens."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from .account import Account, Entry

_HEIGHT = 26
_DENSE = 120  # messages: more of them are too narrow to have an edge


def anchor(entry: Entry) -> str:
    """The name of the message within the page."""
    journey = entry.journey
    return f"m{journey.before}" if journey.before is not None else f"n{journey.after}"


def ribbon(account: Account) -> str:
    """Both ribbons on one scale, with a mark at the budget. Every message leads to its row."""
    metrics, limit = account.result.metrics, account.result.usage.limit
    whole = max(metrics.tokens_before, metrics.tokens_after, limit, 1)
    beside = account.beside or 0
    before = "".join(_segments(account, [entry.tokens_before for entry in account.entries], beside, whole))
    after = "".join(_segments(account, [entry.tokens_after for entry in account.entries], beside, whole))
    mark = 100 * limit / whole
    side = "end" if mark > 50 else "start"
    dense = " dense" if len(account.entries) > _DENSE else ""
    return (
        f'<svg class="ribbon{dense}" role="img" height="{2 * _HEIGHT + 34}" '
        f'aria-label="{metrics.tokens_before:,} tokens before, {metrics.tokens_after:,} after, '
        f'budget {limit:,}">'
        f'<g>{before}</g><svg y="{_HEIGHT + 8}">{after}</svg>'
        f'<line class="mark" x1="{mark:.3f}%" x2="{mark:.3f}%" y1="0" y2="{2 * _HEIGHT + 16}"/>'
        f'<text x="{mark:.3f}%" y="{2 * _HEIGHT + 30}" text-anchor="{side}">budget {limit:,}</text></svg>'
    )


def _segments(account: Account, sizes: list[int], beside: int, whole: int) -> Iterator[str]:
    at = 100 * beside / whole
    if beside:
        yield (
            f'<rect class="beside" x="0" width="{at:.3f}%" height="{_HEIGHT}">'
            f"<title>beside the messages: {beside:,} tokens</title></rect>"
        )
    for entry, tokens in zip(account.entries, sizes, strict=True):
        width = 100 * tokens / whole
        if tokens:
            place = "new" if entry.journey.before is None else entry.journey.before
            title = escape(f"{place} {entry.role}, {entry.state}: {tokens:,} tokens")
            yield (
                f'<a href="#{anchor(entry)}" tabindex="-1"><rect class="{entry.state}" x="{at:.3f}%" '
                f'width="{width:.3f}%" height="{_HEIGHT}"><title>{title}</title></rect></a>'
            )
        at += width


def message_bar(entry: Entry, largest: int) -> str:
    """One message against the largest: what it was, and in front of it what it is."""
    before = 100 * entry.tokens_before / max(largest, 1)
    after = 100 * entry.tokens_after / max(largest, 1)
    return (
        f'<svg class="bar" aria-hidden="true"><rect class="was" width="{before:.2f}%" height="8"/>'
        f'<rect class="is" width="{after:.2f}%" height="8"/></svg>'
    )
