"""What each kind of text keeps at a tenth of its size: this writes docs/content.md.

The texts and what a reader must still find in them stand in tests/content/texts, a folder a kind.
"""

import json
import sys
from pathlib import Path

from holdfast.content import kind, recognise
from holdfast.kernel.ports import Room
from holdfast.tokens import meter_for

ROOT = Path(__file__).parents[1]
TEXTS = ROOT / "tests" / "content" / "texts"
PAGE = ROOT / "docs" / "content.md"
HEAD = """# What each kind of text keeps

Real texts, each shortened to a tenth of its tokens: the recognised kind, the tokens before and
after, how many of the facts that a reader needs are kept, and what is left out.
`python -m benchmarks.content_table` writes this page from `tests/content/texts`, and a test checks
that it is up to date.

| kind | text | read as | tokens | at a tenth | found | left out |
|---|---|---|---:|---:|---:|---|
"""


def rows() -> list[str]:
    """A row for each text."""
    count = meter_for("gpt-4o").text
    found: list[str] = []
    for path in sorted(TEXTS.glob("*/*.must.json")):
        must = json.loads(path.read_text("utf-8"))
        name = path.name.removesuffix(".must.json")
        text = path.with_name(f"{name}.txt").read_bytes().decode("utf-8", "surrogateescape")
        tokens = count(text)
        shrunk = kind(path.parent.name).shrink(
            text, Room(tokens // 10, count, must.get("query") or "")
        )
        kept = sum(piece in shrunk.text for piece in must["must"])
        cells = (
            path.parent.name,
            name,
            recognise(text).name,
            f"{tokens:,}",
            f"{count(shrunk.text):,}",
            f"{kept} of {len(must['must'])}",
            shrunk.omitted.replace("|", "\\|").replace("\n", " "),
        )
        found.append(f"| {' | '.join(cells)} |")
    return found


def page() -> str:
    """The whole page."""
    return HEAD + "\n".join(rows()) + "\n"


def main() -> int:
    """Write the page."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
