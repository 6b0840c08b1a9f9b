"""One HTML page with one table, in the style of the other reports."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from holdfast.reports.html import asset, fingerprint

_STYLE = "th, td { width: auto !important; } details ul { max-width: 40rem; }"


def table_page(origin: str, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The page; titles are text, cells are HTML."""
    style = f"{asset('page.css')}\n{_STYLE}"
    policy = (
        f"default-src 'none'; style-src '{fingerprint(style)}'; base-uri 'none'; form-action 'none'"
    )
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    body = "\n".join(
        f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>'
        for row in rows
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}: Holdfast {escape(origin)}</title>
<style>{style}</style>
</head>
<body>
<header><p class="origin">Holdfast · {escape(origin)}</p><h1>{escape(title)}</h1></header>
<main><table><thead><tr>{head}</tr></thead><tbody>
{body}
</tbody></table></main>
</body>
</html>
"""
