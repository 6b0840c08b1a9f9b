"""An XML document as lines: one an element, with its attributes and its short children, indented by depth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from holdfast.text.opaque import elide

from .scan import Token, tokens

ROOT = -1
"""The parent of the outermost elements."""

_DEEPEST = 12  # levels that are shown by indentation
_LONGEST_FIELD = 80  # characters of a child's text that still stands in its parent's line
_MOST_FIELDS = 24  # children that stand in their parent's line
_LONGEST_VALUE = 200  # characters of an attribute that are shown


@dataclass(slots=True)
class _Element:
    name: str
    attributes: str
    parent: int
    depth: int
    said: list[str] = field(default_factory=list[str])
    text: str = ""
    children: int = 0
    short: bool = True
    """Every child is a leaf that can stand in this element's line."""


@dataclass(frozen=True, slots=True)
class Line:
    """What one element says; ``parent`` is the number of its parent's line, ``sibling`` how many were like it."""

    name: str
    text: str
    parent: int
    depth: int
    sibling: int

    def __str__(self) -> str:
        return f"{'  ' * min(self.depth, _DEEPEST)}{self.text}"


def lines(source: str) -> list[Line]:
    """The lines in the order of the document; a short leaf stands in the line of its parent."""
    elements = _elements(source)
    fields: dict[int, list[str]] = {}
    for element in elements:
        if _in_parent(element, elements):
            fields.setdefault(element.parent, []).append(_field(element))
    found: list[Line] = []
    numbers: dict[int, int] = {ROOT: ROOT}
    alike: Counter[tuple[int, str]] = Counter()
    for number, element in enumerate(elements):
        if _in_parent(element, elements):
            continue
        parent = numbers[element.parent]
        numbers[number] = len(found)
        text = _said(element, fields.get(number, ()))
        found.append(Line(element.name, text, parent, element.depth, alike[parent, element.name]))
        alike[parent, element.name] += 1
    return found


def _elements(source: str) -> list[_Element]:
    """Every element; a missing end tag ends where its parent ends, a stray one is passed over."""
    found: list[_Element] = []
    around: list[_Element] = []
    numbers: list[int] = [ROOT]  # of those around
    names: Counter[str] = Counter()
    for token in tokens(source):
        if token.event == "text":
            if around and not token.value.isspace():
                around[-1].said.append(token.value)
        elif token.event == "open":
            element = _Element(token.value, _attributes(token), numbers[-1], len(around))
            found.append(element)
            if not token.empty:
                around.append(element)
                numbers.append(len(found) - 1)
                names[token.value] += 1
        elif names[token.value]:
            closed = ""
            while closed != token.value:
                closed = around.pop().name
                numbers.pop()
                names[closed] -= 1
    _settle(found)
    return found


def _settle(elements: Sequence[_Element]) -> None:
    """What is only known at the end: the text of each, and whose children fit into its line."""
    for element in elements:
        element.text = " ".join(elide("".join(element.said)).split())
        if element.parent != ROOT:
            elements[element.parent].children += 1
    for element in elements:
        if element.parent != ROOT and (element.children or len(element.text) > _LONGEST_FIELD):
            elements[element.parent].short = False


def _in_parent(element: _Element, elements: Sequence[_Element]) -> bool:
    parent = elements[element.parent] if element.parent != ROOT else None
    return parent is not None and parent.short and parent.children <= _MOST_FIELDS


def _attributes(token: Token) -> str:
    named = token.named().items()
    return "".join(
        f" {key}={elide(value)[:_LONGEST_VALUE]}" for key, value in named if not key.startswith("xmlns")
    )


def _field(element: _Element) -> str:
    attributes = f"({element.attributes.strip()})" if element.attributes else ""
    return f"{element.name}{attributes}={element.text}" if element.text else f"{element.name}{attributes}"


def _said(element: _Element, fields: Sequence[str]) -> str:
    content = ", ".join(filter(None, (element.text, *fields)))
    return f"{element.name}{element.attributes}: {content}" if content else f"{element.name}{element.attributes}"


def gap(omitted: Sequence[Line]) -> Iterator[str]:
    """What stands for lines that are left out: the outermost of them, counted by name."""
    if omitted:
        depth = min(line.depth for line in omitted)
        names = Counter(line.name for line in omitted if line.depth == depth)
        told = ", ".join(f"{times:,} × {name}" for name, times in names.most_common(3))
        more = ", …" if len(names) > 3 else ""
        yield f"{'  ' * min(depth, _DEEPEST)}[… {told}{more}]"
