"""A small document in little room, as facts: what names things stays first, with the keys that say what it is.

``host web-17, disks (sda1 (size 40, used 38); sdb1 (size 80, used 3)), state degraded`` says in half of the tokens
what the JSON says; what is left out is counted at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from holdfast.kernel.ports import Room
from holdfast.text import fit
from holdfast.text.identifiers import Kind, distinct
from holdfast.text.question import Question

from .values import Value, dump

MOST_LEAVES = 600  # a document with more is a table or an outline
_DEEPEST = 12
_LONG = 120  # characters: what is longer is prose, and loses its end
_NAMED: dict[Kind, float] = {
    "date": 2.0,
    "quantity": 1.5,
    "number": 1.0,
    "time": 1.0,
    "quoted": 1.0,
    "version": 1.5,
}
_NAME, _CODE, _WORDS, _FLAG, _AGAIN = 4.0, 3.0, 1.0, 0.5, 0.2
"""Worth of a leaf: an identifier, a code in capitals, some words, true or false or null; and the share of it that
is left where the same stands earlier in the text, or elsewhere in the conversation."""
_NAME_KEY = re.compile(r"\w*\d{3,}\w*")


@dataclass(slots=True)
class _Leaf:
    text: str
    worth: float
    cost: int


@dataclass(slots=True)
class _Node:
    """A value of the document: a leaf by its number, or members with their keys (no key in a list)."""

    leaf: int = -1
    members: list[tuple[str, int, _Node]] = field(default_factory=list["tuple[str, int, _Node]"])
    """Key, the number of its own leaf where the key is itself an identifier (-1 if it is none), value."""


class _Reader:
    """Walks a document and weighs its leaves."""

    def __init__(self, question: Question, elsewhere: Callable[[str], bool]) -> None:
        self.leaves: list[_Leaf] = []
        self._question, self._elsewhere = question, elsewhere
        self._seen: set[str] = set()

    def read(self, value: Value, key: str = "", depth: int = 0) -> _Node:
        """The value as a node."""
        if isinstance(value, dict | list) and value and depth < _DEEPEST:
            pairs = value.items() if isinstance(value, dict) else (("", item) for item in value)
            node = _Node()
            for name, child in pairs:
                own = self._leaf(name, name) if name and _is_name(name) else -1
                node.members.append((name, own, self.read(child, name or key, depth + 1)))
            return node
        text = value if isinstance(value, str) else dump(value)
        return _Node(self._leaf(text, key, flag=value is None or isinstance(value, bool)))

    def _leaf(self, text: str, key: str, *, flag: bool = False) -> int:
        worth = _FLAG if flag else _worth(text)
        if self._question:
            worth += self._question.score(f"{key} {text}")
        if not flag and (text in self._seen or self._elsewhere(text)):
            worth *= _AGAIN
        self._seen.add(text)
        shown = text if len(text) <= _LONG else f"{text[:_LONG]}…"
        self.leaves.append(_Leaf(shown, worth, len(shown) + len(key) // 2 + 4))
        return len(self.leaves) - 1


def facts(value: Value, room: Room) -> tuple[str, int, int] | None:
    """The text, how many values are left out of it, and of how many; None if there are too many, or no room."""
    if _size(value) > MOST_LEAVES:
        return None
    reader = _Reader(Question.of(room.question), room.elsewhere)
    node = reader.read(value)
    leaves = reader.leaves
    order = sorted(range(len(leaves)), key=lambda n: (-leaves[n].worth / leaves[n].cost ** 0.5, n))

    def written(chosen: Sequence[int]) -> str:
        left = len(leaves) - len(chosen)
        note = f" [{left} of {len(leaves)} values left out]" if left else ""
        return _written(node, frozenset(chosen), leaves) + note

    text = fit.fill(order, [leaf.cost for leaf in leaves], written, room.tokens, room.count)
    if text is None:
        return None
    left = int(text.rsplit("[", 1)[1].split(" ", 1)[0]) if text.endswith("values left out]") else 0
    return text, left, len(leaves)


def _written(node: _Node, chosen: frozenset[int], leaves: Sequence[_Leaf]) -> str:
    if node.leaf >= 0:
        return leaves[node.leaf].text if node.leaf in chosen else ""
    pieces: list[str] = []
    for key, own, child in node.members:
        inside = _written(child, chosen, leaves)
        if not inside and own not in chosen:
            continue
        nested = f"({inside})" if child.members and inside else inside
        pieces.append(f"{key} {nested}".strip())
    separator = "; " if any(not key and child.members for key, _, child in node.members) else ", "
    return separator.join(pieces)


def _worth(text: str) -> float:
    kinds = distinct(text[:_LONG])
    if len(kinds) == 1 and next(iter(kinds)) == text:
        return _NAMED.get(next(iter(kinds.values())), _NAME)
    if text.isupper() and text.isalnum() and len(text) > 3:
        return _CODE
    return _WORDS + 0.5 * bool(kinds)


def _is_name(key: str) -> bool:
    """Whether a key is itself an identifier: the name of a thing, not of a field."""
    return _NAME_KEY.fullmatch(key) is not None


def _size(value: Value) -> int:
    """Leaves of the value, no further than one more than is allowed."""
    count, waiting = 0, [value]
    while waiting and count <= MOST_LEAVES:
        here = waiting.pop()
        if isinstance(here, dict):
            waiting.extend(here.values())
        elif isinstance(here, list):
            waiting.extend(here)
        else:
            count += 1
    return count
