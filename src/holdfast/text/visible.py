"""Making foreign text safe and short to show: no control character reaches a terminal or page."""

import re
import unicodedata
from collections.abc import Collection

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls: escape sequences, carriage returns, NUL
    # marks that change the direction of text
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\u2028\u2029\ud800-\udfff]"  # other line ends; lone surrogates, which no encoding writes
)

COLOUR = (  # ECMA-48: control sequences and links
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[()][0-9A-Z])"
)
_COLOUR = re.compile(COLOUR)


def as_shown(text: str) -> str:
    """The text without the colours of a terminal; a return alone begins a line, as others do.

    Most texts have neither, and are returned as they are: kinds, readings and notes all ask.
    """
    if "\x1b" not in text and "\r" not in text:
        return text
    ends = "\r\n"  # stay, since they may be in bytes that tell the type of a file
    return ends.join([part.replace("\r", "\n") for part in _COLOUR.sub("", text).split(ends)])


def visible(text: str) -> str:
    """The text with control characters written as escapes; newline and tab are kept."""
    return _HIDDEN.sub(_escape, text.replace("\r\n", "\n"))


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


GLANCE = 300
"""Characters of a message, a question or another program's error that show what it is about: three
lines of a terminal.
"""

LISTED = 20
"""Names or numbers that one message of an error lists; more would fill a screen."""


def first_of(names: Collection[object]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(map(str, [*names][:LISTED])) + more


def fault_line(fault: object) -> str:
    """An error or its text on one line of limited length."""
    line = " ".join(str(fault).split())
    return line if len(line) <= GLANCE else f"{line[:GLANCE]}…"


def one_line(text: str, cells: int = 60) -> str:
    """The beginning of the text on one line, at most this many terminal cells wide."""
    return clip(" ".join(visible(text.lstrip()[: 4 * cells]).split()), cells)


def clip(text: str, cells: int) -> str:
    """The beginning of the text, with an ellipsis if it is cut."""
    width = room = 0
    for i, character in enumerate(text):
        width += _cells(character)
        if width > cells:
            return f"{text[:room]}…"
        if width < cells:
            room = i + 1
    return text


def pad(text: str, cells: int) -> str:
    """The text with spaces after it, to this many cells."""
    return text + " " * (cells - sum(map(_cells, text)))


_BESIDE = frozenset("Mn Me Cf".split())
"""Categories of characters without a cell of their own, which stand above, below or in others."""


def _cells(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in _BESIDE:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def amount(number: int, noun: str) -> str:
    """``1 line``, ``1,204 lines``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def plain(reason: str) -> str:
    """A reason in words: a code without underscores, a sentence as it is."""
    return reason if " " in reason else reason.replace("_", " ")


def encodable(text: str) -> str:
    """The text without lone surrogates, which no provider accepts."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
