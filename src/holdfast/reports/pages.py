"""HTML pages that load nothing: what the pages of all reports share."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template

from holdfast.text.visible import visible

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
