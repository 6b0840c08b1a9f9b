"""HTML pages that load nothing, and escape all text: the report as one, and what all share."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template

from holdfast.reports import Account, MessageAccount
from holdfast.text.visible import amount, one_line, plain, visible

from .text import (
    DiffPiece,
    difference,
    exactness,
    folded,
    outcome,
    spoken_for,
    trust,
    verdict,
    worth,
)

PREVIEW = 160
"""Cells of a text that a page shows in one line, as a wide window shows it."""


def asset(*path: str) -> str:
    """A file of the package."""
    return files("holdfast").joinpath(*path).read_text("utf-8")


def page(title: str, body: str, more: str = "", script: str = "", **parts: str) -> str:
    """The page in the common style and ``more``; its policy allows only these and the script.

    ``title`` and ``body`` are templates of the parts.
    """
    style = asset("reports", "page", "page.css") + more
    allowed = f"style-src {_fingerprint(style)}; "
    allowed += f"script-src {_fingerprint(script)}; " if script else ""
    return Template(asset("reports", "page", "frame.html")).substitute(
        policy=f"default-src 'none'; {allowed}base-uri 'none'; form-action 'none'",
        style=style,
        title=Template(title).substitute(parts),
        body=Template(body).substitute(parts, script=script),
    )


def _fingerprint(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def shown(text: str) -> str:
    """The text, escaped, with signs for control characters."""
    return escape(visible(text))


def fact_list(facts: Mapping[str, str]) -> str:
    """The items of a list of names and values."""
    return "".join(
        f"<div><dt>{shown(name)}</dt><dd>{shown(value)}</dd></div>" for name, value in facts.items()
    )


def table_page(origin: str, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A page with one table; titles are text, cells are HTML."""
    body = (f'<tr><th scope="row">{row[0]}</th>{_cells(heads[1:], row[1:])}</tr>' for row in rows)
    return page(
        "$name: Holdfast $origin",
        asset("reports", "page", "table.html"),
        asset("reports", "page", "table.css"),
        origin=escape(origin),
        name=escape(title),
        heads="".join(f'<th scope="col">{escape(each)}</th>' for each in heads),
        rows="\n".join(body),
    )


def _cells(heads: Sequence[str], cells: Sequence[str]) -> str:
    """The cells of a row; a narrow page shows the head of each beside it."""
    pairs = zip(heads, cells, strict=True)
    return "".join(f'<td data-head="{escape(head)}">{cell}</td>' for head, cell in pairs)


_HEIGHT = 26  # pixels of one bar; WCAG 2.2 asks for 24 of what a pointer must meet (2.5.8)
_DENSE = 120  # messages; a bar of 1,000 pixels has 8 for each, of which edges would take 2


def anchor(entry: MessageAccount) -> str:
    """The id of the message in the page."""
    return f"m{entry.before}" if entry.before is not None else f"n{entry.after}"


def ribbon(account: Account) -> str:
    """Two bars, before and after, with a mark at the budget; each message is a link."""
    result, entries = account.result, account.entries
    metrics, limit = result.metrics, result.limit
    whole = max(metrics.tokens_before, metrics.tokens_after, limit, 1)
    sizes = ([each.tokens_before for each in entries], [each.tokens_after for each in entries])
    before, after = ("".join(_segments(account, each, whole)) for each in sizes)
    mark = 100 * limit / whole
    side = "end" if mark > 50 else "start"
    dense = " dense" if len(entries) > _DENSE else ""
    return (
        f'<svg class="ribbon{dense}" role="img" height="{2 * _HEIGHT + 34}" '
        f'aria-label="{metrics.tokens_before:,} tokens before, {metrics.tokens_after:,} after, '
        f'budget {limit:,}">'
        f'<g>{before}</g><svg y="{_HEIGHT + 8}">{after}</svg>'
        f'<line class="mark" x1="{mark:.3f}%" x2="{mark:.3f}%" y1="0" y2="{2 * _HEIGHT + 16}"/>'
        f'<text x="{mark:.3f}%" y="{2 * _HEIGHT + 30}" text-anchor="{side}">budget {limit:,}</text>'
        "</svg>"
    )


def _segments(account: Account, sizes: Sequence[int], whole: int) -> Iterator[str]:
    beside = account.beside or 0
    at = 100 * beside / whole
    if beside:
        yield (
            f'<rect class="beside" x="0" width="{at:.3f}%" height="{_HEIGHT}">'
            f"<title>beside the messages: {beside:,} tokens</title></rect>"
        )
    for entry, tokens in zip(account.entries, sizes, strict=True):
        width = 100 * tokens / whole
        if tokens:
            place = "new" if entry.before is None else entry.before
            title = escape(f"{place} {entry.role}, {entry.state}: {tokens:,} tokens")
            yield (
                f'<a href="#{anchor(entry)}" tabindex="-1">'
                f'<rect class="{entry.state}" x="{at:.3f}%" '
                f'width="{width:.3f}%" height="{_HEIGHT}"><title>{title}</title></rect></a>'
            )
        at += width


_MOST = 40_000  # characters of a text in the page, some ten screens of a person who reads


def html_report(account: Account) -> str:
    """The page."""
    result, entries = account.result, account.entries
    largest = max([1, *(max(entry.tokens_before, entry.tokens_after) for entry in entries)])
    sent = (_message(entry, largest) for entry in entries if entry.after is not None)
    return page(
        "$before to $after tokens: Holdfast report",
        asset("reports", "page", "page.html"),
        script=asset("reports", "page", "page.js"),
        strategy=shown(result.strategy_name),
        format=shown(result.format),
        before=f"{result.metrics.tokens_before:,}",
        after=f"{result.metrics.tokens_after:,}",
        met="met" if result.budget_met else "missed",
        verdict=shown(f"Budget of {result.limit:,} tokens {verdict(result)}"),
        ribbon=ribbon(account),
        facts=_facts(account),
        steps="\n".join(
            f'<tr class="{step.status}"><th scope="row">{shown(step.name)}</th>'
            f"<td>{step.before:,}</td><td>{step.after:,}</td><td>{shown(outcome(step))}</td></tr>"
            for step in result.steps
        )
        or '<tr><td colspan="4">No step was needed.</td></tr>',
        filters="".join(
            f'<button type="button" class="{state}" data-state="{state}" aria-pressed="true">'
            f"{state} <b>{number:,}</b></button>"
            for state, number in account.states.items()
        ),
        messages="\n".join(sent) or "<li>Nothing is left.</li>",
        left=_left([entry for entry in entries if entry.after is None], largest),
        originals=_originals(account),
    )


def _facts(account: Account) -> str:
    metrics, result = account.result.metrics, account.result
    facts = {
        "messages": f"{metrics.messages_before:,} → {metrics.messages_after:,}",
        "tokens left": f"{metrics.compression_ratio:.0%}",
        "tokens saved": f"{metrics.tokens_saved:,}",
        "counts": trust(result.accuracy),
    }
    if result.net:
        facts["worth"] = worth(result.net)
    if account.beside is None:
        facts["single messages"] = f"counted by {account.counter}, not as the totals"
    elif account.beside:
        facts["beside the messages"] = f"{account.beside:,} tokens"
    return fact_list(facts)


def _left(entries: list[MessageAccount], largest: int) -> str:
    """The messages that are no longer sent, behind one line that unfolds."""
    if not entries:
        return ""
    rows = "\n".join(_message(entry, largest) for entry in entries)
    tokens = sum(entry.tokens_before for entry in entries)
    heading = f"{amount(len(entries), 'message')} not sent, {amount(tokens, 'token')}"
    return f'<details class="left"><summary>{heading}</summary><ol>\n{rows}\n</ol></details>'


def _message(entry: MessageAccount, largest: int) -> str:
    words = one_line(entry.text_after or entry.text_before, PREVIEW)
    opened = " open" if entry.state == "inserted" else ""  # notes are shown unfolded
    before, after = (100 * n / largest for n in (entry.tokens_before, entry.tokens_after))
    size = f"{entry.tokens_after:,}"
    if entry.state != "kept":
        size = f"{entry.tokens_before:,} → {size}"
    return (
        f'<li id="{anchor(entry)}" class="{entry.state}" data-state="{entry.state}">'
        f"<details{opened}><summary>"
        f'<span class="at">{entry.position}</span><span class="role">{entry.role}</span>'
        f'<span class="state">{entry.state}</span>'
        f'<svg class="bar" aria-hidden="true"><rect class="was" width="{before:.2f}%" height="8"/>'
        f'<rect class="is" width="{after:.2f}%" height="8"/></svg>'
        f'<span class="size">{size}</span><span class="words" dir="auto">{escape(words)}</span>'
        f'</summary><div class="inside">{"".join(_inside(entry))}</div></details></li>'
    )


def _inside(entry: MessageAccount) -> Iterator[str]:
    """The details of a message: the reason, the changes, and the whole text."""
    if entry.touches:
        yield '<ul class="why">'
        for touch in entry.touches:
            told = f"<li><b>{shown(touch.step)}</b> {touch.state} it"
            if touch.reason:
                told += f": {shown(plain(touch.reason))}"
            if touch.key:
                told += f"; the original is kept under <code>{shown(touch.key)}</code>"
            yield f"{told}</li>"
        yield "</ul>"
    if entry.covers:
        first, last = entry.covers
        yield f'<p>It replaces <a href="#m{first}">{spoken_for(first, last)}</a>.</p>'
    if entry.state in ("changed", "offloaded"):
        pieces = folded(difference(entry.text_before, entry.text_after))
        yield f'<div class="diff" dir="auto">{"".join(map(_piece, pieces))}</div>'
        yield f"<details><summary>Original, {amount(entry.tokens_before, 'token')}</summary>"
        yield f"{_text(entry.text_before)}</details>"
    else:
        yield _text(entry.text_after if entry.state in ("kept", "inserted") else entry.text_before)


def _text(text: str) -> str:
    """The text, or its beginning and end if it is very long."""
    left_out = len(text) - _MOST
    if left_out > 0:
        gap = f"\n\n… {left_out:,} characters are left out of this page …\n\n"
        text = f"{text[: _MOST - _MOST // 3]}{gap}{text[-(_MOST // 3) :]}"
    return f'<pre dir="auto" tabindex="0">{shown(text)}</pre>' if text else "<p>It has no text.</p>"


def _piece(piece: DiffPiece) -> str:
    text = shown(piece.text)
    if piece.kind == "left_out":
        return f"<p>{text}</p>"
    tag = {"gone": "del", "new": "ins", "same": "span"}[piece.kind]
    return f"<pre><{tag}>{text}</{tag}></pre>"


def _originals(account: Account) -> str:
    away = account.restorable
    if not away:
        return "Every message is as it was."
    return (
        f"The originals of {amount(away, 'message')} are in the result and come back "
        f"{exactness(account.result)}: "
        "<code>holdfast.restore(result)</code>, or <code>holdfast restore</code> on the file that "
        "<code>compress --result</code> writes. This page holds copies for reading."
    )
