"""Tags and texts of HTML and XML in the order of the document: never fails, never looks at a character twice.

The standard library's parser is lenient too, but slower, and some broken documents take it quadratic time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Literal

_TOKEN = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z_][^\s/<>]*+)(?P<attributes>(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+)>"
    r"|(?P<comment><!--)|(?P<data><!\[CDATA\[)|(?P<declaration><[!?][^<>]*+>)|(?P<text>[^<]++|<)"
)
_ATTRIBUTE = re.compile(r"([^\s\"'=/>]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++)))?")
_RAW = frozenset({"script", "style"})  # their content is no markup

Event = Literal["open", "close", "text"]


@dataclass(frozen=True, slots=True)
class Token:
    """A start tag, an end tag or a text; ``value`` is the tag's name, or the text with its entities resolved."""

    event: Event
    value: str
    attributes: str = ""
    """The source of the attributes."""
    empty: bool = False
    """A start tag that is its own end (``<br/>``)."""

    def attribute(self, name: str) -> str:
        """One attribute, or an empty string."""
        return self.named().get(name, "")

    def named(self) -> dict[str, str]:
        """All attributes in order; one without a value has an empty one."""
        found = _ATTRIBUTE.finditer(self.attributes)
        return {one[1]: unescape(one[2] or one[3] or one[4] or "") for one in found}


def tokens(source: str) -> Iterator[Token]:
    """The tokens, without comments, declarations, scripts and styles; what is open at the end is not closed."""
    at = 0
    while at < len(source):
        found = _TOKEN.match(source, at)
        if found is None:  # cannot be: the last alternative takes any character
            return
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
            if name.lower() in _RAW and not found["close"] and not empty:
                at = _raw_end(source, name, at)


def _behind(source: str, mark: str, at: int) -> int:
    place = source.find(mark, at)
    return len(source) if place < 0 else place + len(mark)


def _raw_end(source: str, name: str, at: int) -> int:
    """Where the end tag of a script starts; of one that is never closed, the end of the document."""
    close = re.compile(f"</{name}", re.IGNORECASE).search(source, at)
    return close.start() if close else len(source)
