"""An XML document as lines: one an element, with its attributes and its short children, indented by depth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from holdfast.text.opaque import elide

from .scan import Token, tokens

ROOT = -1
"""The parent of the outermost elements."""

_DEEPEST = 12  # levels that are shown by indentation
_LONGEST_FIELD = 80  # characters of a child's text that still stands in its parent's line
_MOST_FIELDS = 24  # children that stand in their parent's line
_FOR_PARSERS = ("xmlns", "xsi:")
_FEWEST_ROWS = 3
_LONGEST_VALUE = 200  # characters of an attribute that are shown


@dataclass(slots=True)
class _Element:
    name: str
    attributes: Fields
    parent: int
    depth: int
    said: list[str] = field(default_factory=list[str])
    text: str = ""
    children: int = 0
    hidden: bool = False
    """It is said elsewhere."""
    short: bool = True
    """Every child is a leaf that can stand in this element's line."""


Fields = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Line:
    """What one element says; ``parent`` is the number of its parent's line, ``sibling`` how many were like it."""

    name: str
    text: str
    parent: int
    depth: int
    sibling: int
    fields: Fields
    """Its attributes and short children, if it says nothing else."""

    @property
    def indent(self) -> str:
        """White space by depth."""
        return "  " * min(self.depth, _DEEPEST)

    @property
    def shape(self) -> tuple[int, str, tuple[str, ...]] | None:
        """What lines have in common that can stand as the rows of one table."""
        keys = tuple(key for key, _ in self.fields)
        return (self.parent, self.name, keys) if len(keys) > 1 else None


def lines(source: str) -> list[Line]:
    """The lines in the order of the document; a short leaf stands in the line of its parent."""
    elements = _elements(source)
    inner: dict[int, list[tuple[str, str]]] = {}
    for element in elements:
        if not element.hidden and _in_parent(element, elements):
            inner.setdefault(element.parent, []).append((element.name + _bracketed(element), element.text))
    found: list[Line] = []
    numbers: dict[int, int] = {ROOT: ROOT}
    alike: Counter[tuple[int, str]] = Counter()
    for number, element in enumerate(elements):
        if element.hidden or _in_parent(element, elements):
            continue
        parent = numbers[element.parent]
        numbers[number] = len(found)
        children = inner.get(number, [])
        fields = (
            (*element.attributes, *children)
            if not element.text and bool(children) == bool(element.children)
            else ()
        )
        text = _said(element, children)
        found.append(Line(element.name, text, parent, element.depth, alike[parent, element.name], fields))
        alike[parent, element.name] += 1
    return found


def written(every: Sequence[Line], shown: Mapping[int, Line]) -> Iterator[str]:
    """The lines by their numbers, those of one shape as rows below what they share; gaps are counted."""
    shapes = Counter(line.shape for line in shown.values())
    told: set[object] = set()
    shape: object = None  # of the rows that are being written
    following = 0
    for number, line in sorted(shown.items()):
        yield from _gap(every[following:number], shape)
        following = number + 1
        shape = line.shape
        if line.shape is None or shapes[line.shape] < _FEWEST_ROWS:
            yield f"{line.indent}{line.text}"
            continue
        if line.shape not in told:
            told.add(line.shape)
            yield f"{line.indent}{line.name}: {' | '.join(key for key, _ in line.fields)}"
        yield f"{line.indent}  {' | '.join(value for _, value in line.fields)}"
    yield from _gap(every[following:], shape)


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
    if elements and elements[0].name == "plist":
        _name_values(elements)
    for element in elements:
        if element.parent != ROOT:
            elements[element.parent].children += not element.hidden
    for element in elements:
        if element.parent != ROOT and (element.children or len(element.text) > _LONGEST_FIELD):
            elements[element.parent].short = False


def _name_values(elements: Sequence[_Element]) -> None:
    """Give each value of a property list the name that its key says, in the key's place."""
    for key, value in pairwise(elements):
        if key.name == "key" and value.parent == key.parent:
            key.hidden = True
            if value.name in {"true", "false"}:
                value.text = value.name
            value.name = key.text or value.name


def _in_parent(element: _Element, elements: Sequence[_Element]) -> bool:
    parent = elements[element.parent] if element.parent != ROOT else None
    return parent is not None and parent.short and parent.children <= _MOST_FIELDS


def _attributes(token: Token) -> list[tuple[str, str]]:
    named = token.named().items()
    return [
        (key, elide(" ".join(value.split()))[:_LONGEST_VALUE])
        for key, value in named
        if not key.startswith(_FOR_PARSERS)
    ]


def _bracketed(element: _Element) -> str:
    attributes = ", ".join(f"{key}={value}" for key, value in element.attributes)
    return f"({attributes})" if attributes else ""


def _said(element: _Element, children: Fields) -> str:
    attributes = "".join(f" {key}={value}" for key, value in element.attributes)
    fields = (f"{key}={value}" if value else key for key, value in children)
    content = ", ".join(filter(None, (element.text, *fields)))
    return f"{element.name}{attributes}: {content}" if content else f"{element.name}{attributes}"


def _gap(omitted: Sequence[Line], shape: object) -> Iterator[str]:
    """What stands for lines that are left out: the outermost of them, counted, by name unless they are rows."""
    if not omitted:
        return
    if shape is not None and all(line.shape == shape for line in omitted):
        yield f"{omitted[0].indent}  [… {len(omitted):,}]"
        return
    outermost = min(omitted, key=lambda line: line.depth)
    names = Counter(line.name for line in omitted if line.depth == outermost.depth)
    told = ", ".join(f"{times:,} × {name}" for name, times in names.most_common(3))
    yield f"{outermost.indent}[… {told}{', …' if len(names) > 3 else ''}]"
