"""One HTML page with one table, in the style of the other reports."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from holdfast.reports.html import asset, fingerprint

_STYLE = """main { overflow-x: auto; }
main :is(th, td):nth-child(n) { width: auto; padding: .4rem 0 .4rem 1.4rem; text-align: right;
  white-space: nowrap; overflow-wrap: normal; }
main th:first-child { padding-left: 0; text-align: left; white-space: normal;
  overflow-wrap: anywhere; }
details ul { max-width: 40rem; text-align: left; white-space: normal; }
@media (max-width: 52rem) {
  thead { display: none; }
  tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  main :is(th, td):nth-child(n) { display: flow-root; padding: 0; border: 0; }
  main td:empty:nth-child(n) { display: none; }
  td::before { content: attr(data-head); float: left; color: var(--quiet); }
}"""


def table_page(origin: str, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The page; titles are text, cells are HTML."""
    style = f"{asset('page.css')}\n{_STYLE}"
    policy = (
        f"default-src 'none'; style-src '{fingerprint(style)}'; base-uri 'none'; form-action 'none'"
    )
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    body = "\n".join(
        f'<tr><th scope="row">{row[0]}</th>{_cells(heads[1:], row[1:])}</tr>' for row in rows
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


def _cells(heads: Sequence[str], cells: Sequence[str]) -> str:
    """The cells of a row; a narrow page shows the head of each beside it."""
    pairs = zip(heads, cells, strict=True)
    return "".join(f'<td data-head="{escape(head)}">{cell}</td>' for head, cell in pairs)
