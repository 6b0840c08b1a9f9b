"""HTML and XML: a page is read as text, a document as records."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from itertools import count, groupby, repeat
from typing import Literal, NamedTuple
from urllib.parse import unquote

from holdfast.text.json_values import DEEPEST, Member, Value, record_of
from holdfast.text.pieces import LONGEST, Reading, passages
from holdfast.text.words import READ

from .lossy import FEWEST, MOSTLY, LossyKind, sampled
from .structured import Pieces

# characters per tag, a paragraph; a text with fewer tags only mentions some. Half and double read
# recorded runs alike
_SPARSEST = 300

_BEGINS = re.compile(
    r"[\s\ufeff]{0,200}<(?:[A-Za-z_][\w.:-]{0,80}(?:\s[^<>]{0,4000})?/?>|!--|!doctype|\?xml)",
    re.IGNORECASE,
)
_PAGE = re.compile(
    r"<(?:!doctype\s+html|html|head|body|div|p|span|table|tr|td|ul|ol|li|h[1-6]|br|nav|form"
    r"|section|article|main)\b",
    re.IGNORECASE,
)
_INDENTED = re.compile(r">(\s*+)<")
_SPACE_MATTERS = re.compile(
    # white space between tags in them is content
    r"<!--|<!\[CDATA|xml:space|<(?:script|pre|code)\b"
    # unchanged if an element has both text and elements
    r"|</[^<>]*+>\s*+[^<\s]|[^<>\s]\s*+<[A-Za-z_]",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z_][^\s/<>]*+)(?P<attributes>(?:[^<>\"']++|\"[^\"]*+\""
    r"|'[^']*+')*+)>"
    r"|(?P<comment><!--)|(?P<data><!\[CDATA\[)|(?P<declaration><[!?][^<>]*+>)|(?P<text>[^<]++|<)"
)
_ATTRIBUTE = re.compile(r"([^\s\"'=/>]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++)))?")
_NAMELESS = re.compile(r"\[(?:button|select)[^\[\]:]{0,300}: ?\]")  # a control without a label


class Markup(LossyKind):
    """An HTML page or an XML document, or a part of one."""

    name = "markup"
    least = MOSTLY

    def share(self, text: str) -> float:
        """The share of the text inside tags; none if it neither begins nor ends with one."""
        if not _BEGINS.match(text):
            return 0.0
        sample = sampled(text)
        tags = [token for token in tokens(sample) if token.event != "text"]
        closes = any(tag.event == "close" or tag.empty for tag in tags)
        return (
            min(1.0, len(tags) * _SPARSEST / len(sample)) if closes and len(tags) >= FEWEST else 0.0
        )

    def compact(self, text: str) -> str | None:
        """XML without the indentation between its tags, unless that white space is content."""
        if _is_page(text) or _SPACE_MATTERS.search(text):
            return None
        shorter = _INDENTED.sub(lambda gap: "><" if "\n" in gap[1] else gap.group(), text)
        return shorter if len(shorter) < len(text) else None

    def read(self, text: str) -> Reading:
        """The text of a page, or the elements of a document as records."""
        if _is_page(text):
            return passages("\n".join(_Page().read(text)))
        pieces = Pieces(len(text))
        pieces.add([_document(text)])
        return pieces.reading()


def _is_page(text: str) -> bool:
    return _PAGE.search(text, 0, READ) is not None


Event = Literal["open", "close", "text"]


class Token(NamedTuple):
    """A start tag, end tag or text; ``value`` is the tag's name or the text, entities resolved."""

    event: Event
    value: str
    attributes: str = ""
    """The source of the attributes."""
    empty: bool = False
    """A start tag that is its own end (``<br/>``)."""

    def named(self) -> dict[str, str]:
        """All attributes in order; one without a value has an empty one."""
        found = _ATTRIBUTE.findall(self.attributes)
        return {name: unescape("".join(values)) for name, *values in found}


def tokens(source: str) -> Iterator[Token]:
    """The tokens without comments, declarations, scripts and styles; open tags are not closed.

    Never fails, and reads each character once; the standard library's parser is lenient too, but
    slower, and takes quadratic time for some broken documents.
    """
    at = 0
    while found := _TOKEN.match(source, at):
        at = found.end()
        kind = found.lastgroup
        if kind == "text":
            yield Token("text", unescape(found.group()))
        elif kind == "comment":
            at = _behind(source, "-->", at)
        elif kind == "data":
            end = _behind(source, "]]>", at)
            yield Token("text", source[at:end].removesuffix("]]>"))
            at = end
        elif kind != "declaration":
            name, attributes = found["name"], found["attributes"]
            empty = attributes.endswith("/") or source.startswith("/", at - 2)
            yield Token("close" if found["close"] else "open", name, attributes, empty)
            if name.lower() in {"script", "style"} and not found["close"] and not empty:
                close = re.compile(f"</{name}", re.IGNORECASE).search(source, at)
                at = close.start() if close else len(source)


def _behind(source: str, mark: str, at: int) -> int:
    place = source.find(mark, at)
    return len(source) if place < 0 else place + len(mark)


@dataclass(slots=True)
class _Element:
    """An open element and its content so far."""

    name: str
    attributes: dict[str, str]
    texts: list[str] = field(default_factory=list[str])
    """Its text, and that of the elements within."""
    says: bool = False
    """Whether it has text of its own."""
    children: list[Member] = field(default_factory=list[Member])

    def value(self) -> Value:
        """Its text if it has any, else its attributes and elements as a record."""
        text = " ".join("".join(self.texts).split()) if self.says else ""
        if not self.attributes and (text or not self.children):
            return text
        told: list[Member] = list(self.attributes.items())
        return record_of([*told, ("text", text)] if text else [*told, *_grouped(self.children)])


def _grouped(children: Iterable[Member]) -> Iterator[Member]:
    """The children; neighbours with one name become a list."""
    for name, group in groupby(children, lambda child: child[0]):
        values = [value for _, value in group]
        yield name, values if len(values) > 1 else values[0]


def _document(source: str) -> Value:
    """The elements as a value; a parent's end closes its children, stray end tags are ignored."""
    around = [_Element("", {})]
    names = Counter[str]()

    def close() -> str:
        closed = around.pop()
        names[closed.name] -= 1
        parent = around[-1]
        parent.children.append((closed.name, closed.value()))
        if len(around) <= DEEPEST:
            parent.texts += closed.texts
        return closed.name

    for token in tokens(source):
        if token.event == "text":
            around[-1].texts.append(token.value)
            around[-1].says |= not token.value.isspace()
        elif token.event == "open":
            shown = {
                key: value
                for key, value in token.named().items()
                if not key.startswith(("xmlns", "xsi:"))
            }
            around.append(_Element(token.value, shown))
            names[token.value] += 1
            if token.empty:
                close()
        elif names[token.value]:
            while close() != token.value:
                pass
    while len(around) > 1:
        close()
    return record_of(list(_grouped(around[0].children))) or around[0].value()


# as Markdown writes the six levels that HTML has
_PREFIXES = {"title": "title: ", **{f"h{level}": "#" * level + " " for level in range(1, 7)}}
_BLOCKS = frozenset(
    """
    address article blockquote body br caption center dd details dialog
    div dl dt fieldset figcaption figure hr
    html legend main ol optgroup p section summary table tbody tfoot thead title tr ul head form
    nav footer aside header menu
    """.split()
)
_HIDDEN = frozenset("svg template iframe object audio video canvas math datalist".split())
_META = frozenset("description author og:title og:description article:published_time date".split())
_FIELDS = "type name id value placeholder required checked disabled".split()
_STRUCK = {"del", "s", "strike"}
"""What no longer holds, which Markdown writes between ``~~``."""
_WIDEST = 60  # rows and columns that a cell may span, so that no page makes more cells than it has
_CELL_MARK, _BREAK_MARK = "\ufdd0", "\ufdd1"  # no character of any text


class _Page:
    """Collects the words of each block: the lines of a page, without scripts and controls."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._prefix = ""
        self._links: list[tuple[str, int]] = []
        self._lists: list[Iterator[str]] = []  # what is before the items of each open list
        self._in_row = False
        self._columns = -1, 0  # where the last cell began, and the next one after it
        self._rows_left: dict[int, int] = {}  # of the cells above that go on, by column
        self._preformatted = 0
        self._hidden = ""  # the element whose content is skipped
        self._hidden_depth = 0

    def read(self, source: str) -> Iterator[str]:
        """The lines of a page in their order."""
        for token in tokens(source):
            name = token.value.lower() if token.event != "text" else ""
            if self._hidden:
                self._hidden_depth += (name == self._hidden) * (1 if token.event == "open" else -1)
                self._hidden = self._hidden if self._hidden_depth else ""
            elif token.event == "text":
                self._words.append(token.value)
            elif token.event == "close":
                yield from self._close(name)
            elif name in _HIDDEN and not token.empty:
                self._hidden, self._hidden_depth = name, 1
            else:
                yield from self._open(token, name)
        yield from self._flush()

    def _open(self, token: Token, name: str) -> Iterator[str]:
        if name in {"td", "th"}:
            self._words.append(_CELL_MARK * self._cell(token))
            return
        if name in {*_PREFIXES, "li", "pre", "form", "tr", "table", "ul", "ol"} or (
            name in _BLOCKS and not self._in_row  # inside a table row it does not end the line
        ):
            yield from self._flush()
        self._prefix = _PREFIXES.get(name, self._prefix)
        if name == "li":
            indent = "  " * (min(len(self._lists), DEEPEST) - 1)
            self._prefix = indent + (next(self._lists[-1]) if self._lists else "- ")
        elif name == "pre":
            self._preformatted += 1
        elif name == "tr":
            self._below(self._columns[1], _WIDEST)  # what the row before did not reach
            self._in_row, self._columns = True, (-1, 0)
        elif name == "table":
            self._rows_left = {}
        elif name in {"ul", "ol"}:
            first = re.fullmatch(r"-?\d{1,9}", token.named().get("start", ""))
            numbers = (f"{number}. " for number in count(int(first[0]) if first else 1))
            self._lists.append(numbers if name == "ol" else repeat("- "))
        elif name not in _BLOCKS or name == "form":
            yield from self._inline(token, name)
        if name in _BLOCKS:
            self._words.append(_BREAK_MARK)

    def _cell(self, token: Token) -> int:
        """By how many columns a cell comes behind the beginning of the one before."""
        named = token.named() if token.attributes else {}
        wide, high = (_spanned(named.get(key, "")) for key in ("colspan", "rowspan"))
        before, at = self._columns
        at = self._below(at, at + _WIDEST)
        self._rows_left |= dict.fromkeys(range(at, at + wide), high - 1)
        self._columns = at, at + wide
        return at - before

    def _below(self, at: int, end: int) -> int:
        """The first of these columns that no cell above has, each of which has a row less left."""
        while at < end and self._rows_left.get(at, 0) > 0:
            self._rows_left[at] -= 1
            at += 1
        return at

    def _close(self, name: str) -> Iterator[str]:
        if name == "a" and self._links:
            address, start = self._links.pop()
            said = "".join(self._words[start:]).strip()
            shown = address and not address.startswith(("#", "javascript:"))
            if shown and said not in {"", address, unquote(address)}:
                self._words.append(f" ({address[:LONGEST]})")
        elif name in {"select", "button"}:
            self._words.append("]")
        elif name in _STRUCK:
            self._words.append("~~")
        elif name in {*_PREFIXES, "li", "pre"}:
            yield from self._flush()
            self._prefix = ""
            self._preformatted = max(0, self._preformatted - (name == "pre"))
        elif name in _BLOCKS:
            if name in {"ul", "ol"} and self._lists:
                self._lists.pop()
            if name in {"tr", "table"} or not self._in_row:
                yield from self._flush()
            self._words.append(_BREAK_MARK)

    def _inline(self, token: Token, name: str) -> Iterator[str]:
        named = token.named()
        shown = "".join(
            f" {key}={named[key]}" if named[key] else f" {key}" for key in _FIELDS if key in named
        )
        if name == "a":
            self._links.append((named.get("href", ""), len(self._words)))
        elif name == "img":
            alt = named.get("alt", "").strip()
            self._words.append(f" [image: {alt}] " if alt else " ")
        elif name in {"input", "textarea"} and named.get("type", "").lower() != "hidden":
            self._words.append(f" [{name}{shown}] ")
        elif name in {"select", "button"}:
            self._words.append(f" [{name}{shown}: ")
        elif name in _STRUCK:
            self._words.append("~~")
        elif name == "option":
            self._words.append(" · ")
        elif name == "form":
            method = named.get("method", "").upper() or "GET"
            yield f"[form {method} {named.get('action', '')}".rstrip() + "]"
        elif name == "meta":
            label = named.get("name") or named.get("property", "")
            content = " ".join(named.get("content", "").split())
            if label.lower() in _META and content:
                yield f"{label}: {content}"

    def _flush(self) -> Iterator[str]:
        """The open block, if it has any text."""
        said = "".join(self._words)
        self._words.clear()
        self._links.clear()
        prefix, self._prefix = self._prefix, ""
        self._in_row = False
        texts = (
            [said.replace(_BREAK_MARK, "\n").strip("\n").rstrip()]
            if self._preformatted
            else _texts(said)
        )
        for text in texts:
            if any(map(str.isalnum, text)):
                yield prefix + text
                prefix = ""
        if not said.strip() or not texts:
            self._prefix = prefix


def _spanned(number: str) -> int:
    return min(max(int(number), 1), _WIDEST) if re.fullmatch("[0-9]{1,9}", number) else 1


def _texts(said: str) -> list[str]:
    """The text of a block: one line, or several if it is a long row of a table with line breaks."""
    parts = said.split(_BREAK_MARK) if len(said) > LONGEST else [said.replace(_BREAK_MARK, " ")]
    rows = (map(str.split, part.split(_CELL_MARK)) for part in parts)
    # what stands before the first cell is none of the row, but an empty first cell is
    lines = (_NAMELESS.sub("", _row(list(map(" ".join, row)))) for row in rows)
    return list(filter(None, lines))


def _row(cells: list[str]) -> str:
    """The cells of a row, without empty ones at its end, and without what stands before it."""
    said = " | ".join(cells[1:] if len(cells) > 1 and not cells[0] else cells)
    return said.rstrip(" |").removeprefix(" ")
