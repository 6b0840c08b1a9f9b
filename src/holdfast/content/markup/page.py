"""An HTML page as blocks of text: headings, paragraphs, list items, table rows, form fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from .scan import Token, tokens

MAIN, ROW, FIELD, ASIDE = 1.0, 0.7, 0.6, 0.4
"""What a block is worth: content, one of many rows, a field of a form, navigation and the like."""

_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_BLOCKS = frozenset(
    """
    address article blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure hr
    html legend main ol optgroup p section summary table tbody tfoot thead title tr ul head
    """.split()
)
_ASIDES = frozenset({"nav", "footer", "aside", "header", "menu"})
_HIDDEN = frozenset({"svg", "template", "iframe", "object", "audio", "video", "canvas", "math", "datalist"})
_CELLS = frozenset({"td", "th"})
_META = frozenset({"description", "author", "og:title", "og:description", "article:published_time", "date"})
_FIELD = ("type", "name", "id", "value", "placeholder", "required", "checked", "disabled")
_CELL_MARK, _BREAK_MARK, _FIELD_END = "\ufdd0", "\ufdd1", "\ufdd2"  # no character of any text
_NAMELESS = re.compile(r"\[(?:button|select)[^\[\]:]{0,300}: ?\]")  # nothing says what it is for
_LONG_ROW = 300  # characters; what is longer is a layout made with a table
_DEEPEST = 6  # levels of lists that are shown by indentation
_FREE_ROWS = 4  # rows of a table or items of a list before the rest counts as one of many
_LONGEST_LINK = 200  # characters of an address that are shown


@dataclass(frozen=True, slots=True)
class Block:
    """One line of the page's text, or the lines of a preformatted part."""

    text: str
    worth: float


def blocks(source: str) -> list[Block]:
    """The blocks in the order of the page; what is empty, hidden or only for a browser is not among them."""
    return list(_Reader().read(source))


class _Reader:
    """Gathers the words of a block until a tag ends it."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._prefix = ""
        self._links: list[tuple[str, int]] = []
        self._lists: list[int] = []  # the number of the item of each open list; below zero if it is not numbered
        self._rows = 0  # of the table that is open
        self._in_row = False
        self._asides = 0
        self._preformatted = 0
        self._hidden = ""  # the element whose content is passed over
        self._hidden_depth = 0

    def read(self, source: str) -> Iterator[Block]:
        """The blocks of a page."""
        for token in tokens(source):
            if self._passes_over(token):
                continue
            if token.event == "text":
                self._words.append(token.value)
            elif token.event == "open":
                yield from self._open(token, token.value.lower())
            else:
                yield from self._close(token.value.lower())
        yield from self._flush()

    def _passes_over(self, token: Token) -> bool:
        name = token.value.lower() if token.event != "text" else ""
        if self._hidden:
            self._hidden_depth += (name == self._hidden) * (1 if token.event == "open" else -1)
            if self._hidden_depth == 0:
                self._hidden = ""
            return True
        if token.event == "open" and name in _HIDDEN and not token.empty:
            self._hidden, self._hidden_depth = name, 1
            return True
        return False

    def _open(self, token: Token, name: str) -> Iterator[Block]:
        if name in _HEADINGS:
            yield from self._flush()
            self._prefix = _HEADINGS[name]
        elif name in _CELLS:
            self._words.append(_CELL_MARK)
        elif name == "li":
            yield from self._flush()
            self._item()
        elif name in _ASIDES:
            yield from self._flush()
            self._asides += not token.empty
        elif name == "pre":
            yield from self._flush()
            self._preformatted += 1
        elif name in _BLOCKS:
            yield from self._block(name)
        else:
            yield from self._inline(token, name)

    def _close(self, name: str) -> Iterator[Block]:
        if name == "a" and self._links:
            self._link()
        elif name in {"select", "button"}:
            self._words.append(_FIELD_END)
        elif name in _HEADINGS or name in {"li", "form", "pre"} or name in _ASIDES:
            yield from self._flush()
            self._prefix = ""
            self._asides = max(0, self._asides - (name in _ASIDES))
            self._preformatted = max(0, self._preformatted - (name == "pre"))
        elif name in _BLOCKS:
            if name in {"ul", "ol"} and self._lists:
                self._lists.pop()
            if name in {"tr", "table"} or not self._in_row:
                yield from self._flush()
            self._words.append(_BREAK_MARK)

    def _block(self, name: str) -> Iterator[Block]:
        if name in {"tr", "table", "ul", "ol"} or not self._in_row:
            yield from self._flush()
        if name == "table":
            self._rows = 0
        elif name == "tr":
            self._in_row = True
            self._rows += 1
        elif name in {"ul", "ol"}:
            self._lists.append(0 if name == "ol" else -1_000_000)
        elif name == "title":
            self._prefix = "title: "
        self._words.append(_BREAK_MARK)

    def _inline(self, token: Token, name: str) -> Iterator[Block]:
        if name == "a":
            self._links.append((token.attribute("href"), len(self._words)))
        elif name == "img":
            alt = token.attribute("alt").strip()
            self._words.append(f" [image: {alt}] " if alt else " ")
        elif name in {"input", "textarea"} and token.attribute("type").lower() != "hidden":
            self._words.append(f" [{name}{_shown(token)}] ")
        elif name in {"select", "button"}:
            self._words.append(f" [{name}{_shown(token)}: ")
        elif name == "option":
            self._words.append(" · ")
        elif name == "form":
            yield from self._flush()
            method, action = token.attribute("method").upper() or "GET", token.attribute("action")
            yield Block(f"[form {method} {action}]".replace(" ]", "]"), MAIN)
        elif name == "meta":
            label = token.attribute("name") or token.attribute("property")
            content = token.attribute("content").strip()
            if label.lower() in _META and content:
                yield Block(f"{label}: {' '.join(content.split())}", MAIN)

    def _item(self) -> None:
        indent = "  " * (min(len(self._lists), _DEEPEST) - 1)
        if self._lists:
            self._lists[-1] += 1
        number = self._lists[-1] if self._lists else -1
        self._prefix = f"{indent}{number}. " if number > 0 else f"{indent}- "

    def _link(self) -> None:
        address, start = self._links.pop()
        if not address or address.startswith(("#", "javascript:")) or len(self._words) <= start:
            return
        said = "".join(self._words[start:]).strip()
        if said and said not in {address, unquote(address)}:
            self._words.append(f" ({address[:_LONGEST_LINK]})")

    def _flush(self) -> Iterator[Block]:
        """The block that is open, if anything is in it."""
        said = "".join(self._words).replace(_FIELD_END, "]")
        self._words.clear()
        self._links.clear()
        prefix, self._prefix = self._prefix, ""
        self._in_row, row = False, self._in_row
        texts = [said.replace(_BREAK_MARK, "\n").strip("\n").rstrip()] if self._preformatted else _texts(said)
        for text in texts:
            if any(map(str.isalnum, text)):
                yield Block(prefix + text, self._worth(prefix, row=row, bare=text.startswith("[")))
                prefix = ""
        if not said.strip() or not texts:
            self._prefix = prefix

    def _worth(self, prefix: str, *, row: bool, bare: bool) -> float:
        if self._asides:
            return ASIDE
        if bare:
            return FIELD
        return ROW if row and self._rows > _FREE_ROWS and not prefix else MAIN


def _texts(said: str) -> list[str]:
    """The text of a block: as one line, or, if it is a long row of a table, by the breaks in it."""
    parts = said.split(_BREAK_MARK) if len(said) > _LONG_ROW else [said.replace(_BREAK_MARK, " ")]
    lines = (" | ".join(" ".join(cell.split()) for cell in part.split(_CELL_MARK)).strip(" |") for part in parts)
    return [line for line in (_NAMELESS.sub("", line) for line in lines) if line]


def _shown(token: Token) -> str:
    named = token.named()
    return "".join(f" {key}={named[key]}" if named[key] else f" {key}" for key in _FIELD if key in named)
