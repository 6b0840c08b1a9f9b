"""A small document in little room, as facts: what names things stays first, with the keys that say what it is.

``host web-17, disks (sda1 (size 40, used 38); sdb1 (size 80, used 3)), state degraded`` says in half of the tokens
what the JSON says; what is left out is counted at the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from holdfast.content.excerpt import counted
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
is left where the same stands earlier in the text."""
_KIN = 0.5  # of the worth of the best in its record that each value has: alone, a name says little
_RECORD = 12  # members that a record usually has; those of a longer one say less of each other
_BRACKETS = 4  # characters, about, that set one value apart from the next
_NAME_KEY = re.compile(r"\w*\d{3,}\w*")


class _Group:
    """What encloses values: the name in front of its brackets, if it has any, and what sets its members apart."""

    __slots__ = ("best", "label", "members", "separator")

    def __init__(self, label: str | None, separator: str) -> None:
        self.label, self.separator, self.best, self.members = label, separator, 0.0, 0

    @property
    def shared(self) -> float:
        """What each member is worth because it stands beside the best of them."""
        return _KIN * self.best * min(1.0, _RECORD / self.members)


class _Leaf(NamedTuple):
    text: str
    worth: float
    path: tuple[_Group, ...]


class _Reader:
    """Walks a document and weighs its leaves."""

    def __init__(self, question: Question) -> None:
        self.leaves: list[_Leaf] = []
        self._question = question
        self._seen: set[str] = set()

    def read(self, value: Value, key: str = "", path: tuple[_Group, ...] = (), *, named: bool = True) -> None:
        """The leaves of the value in its order; ``key`` is the name above it, ``named`` whether it is its own."""
        if isinstance(value, dict) and value and len(path) < _DEEPEST:
            inside = (*path, _Group(key if path and named else None, ", "))
            for name, child in value.items():
                if isinstance(child, dict | list) and _is_name(name):
                    self._leaf(name, name, "", inside)
                self.read(child, name, inside)
        elif isinstance(value, list) and value and len(path) < _DEEPEST:
            deep = isinstance(value[0], dict | list)
            inside = (*path, _Group(key if path and named else "" if path else None, "; " if deep else ", "))
            for child in value:
                self.read(child, key, inside, named=False)
        else:
            text = value if isinstance(value, str) else dump(value)
            is_flag = value is None or isinstance(value, bool)
            self._leaf(text, key, key if named else "", path, is_flag=is_flag)

    def _leaf(self, text: str, key: str, shown: str, path: tuple[_Group, ...], *, is_flag: bool = False) -> None:
        worth = _FLAG if is_flag else _worth(text[:_LONG])
        if self._question:
            worth += self._question.score(f"{key} {text}")
        if text in self._seen and not is_flag:
            worth *= _AGAIN
        self._seen.add(text)
        if len(text) > _LONG:
            text = f"{text[:_LONG].rstrip()}…"
        if path:
            path[-1].best = max(path[-1].best, worth)
            path[-1].members += 1
        self.leaves.append(_Leaf(f"{shown} {text}" if shown else text, worth, path))


def facts(value: Value, room: Room) -> tuple[str, str] | None:
    """The text, and what is left out of it; None if there are too many values, or no room for one."""
    if not value or _size(value) > MOST_LEAVES:
        return None
    reader = _Reader(Question.of(room.question))
    reader.read(value)
    leaves = reader.leaves
    weights = [(leaf.worth + leaf.path[-1].shared) / (len(leaf.text) + _BRACKETS) ** 0.5 for leaf in leaves]
    order = sorted(range(len(leaves)), key=lambda n: (-weights[n], n))

    def written(chosen: Sequence[int]) -> str:
        left = len(leaves) - len(chosen)
        note = f" [{left} of {len(leaves)} values left out]" if left else ""
        return _written([leaves[n] for n in chosen]) + note

    choice = fit.choose(order, [len(leaf.text) + _BRACKETS for leaf in leaves], written, room.tokens, room.count)
    if choice is None:
        return None
    left = len(leaves) - len(choice.pieces)
    omitted = [f"{left} of {len(leaves)} values"] if left else []
    cut = sum(leaves[n].text.endswith("…") for n in choice.pieces)
    omitted += [f"the end of {counted(cut, 'long text')}"] if cut else []
    return choice.text, "; ".join(omitted) or "the layout"


def _written(chosen: Sequence[_Leaf]) -> str:
    pieces: list[str] = []
    within: tuple[_Group, ...] = ()
    for place, (text, _, path) in enumerate(chosen):
        if place + 1 < len(chosen) and _names(text, path, chosen[place + 1].path):
            continue
        if path is not within:
            shared = 0
            for one, other in zip(within, path, strict=False):
                if one is not other:
                    break
                shared += 1
            pieces += [")" for group in within[shared:] if group.label is not None]
            if shared:
                pieces.append(path[shared - 1].separator)
            pieces += [f"{group.label} (".lstrip() for group in path[shared:] if group.label is not None]
            within = path
        elif pieces:
            pieces.append(path[-1].separator)
        pieces.append(text)
    pieces += [")" for group in within if group.label is not None]
    return "".join(pieces)


def _names(text: str, path: tuple[_Group, ...], following: tuple[_Group, ...]) -> bool:
    """Whether what follows stands in brackets that this very name opens."""
    depth = len(path)
    return len(following) > depth and following[depth].label == text and following[:depth] == path


@lru_cache(maxsize=1 << 14)
def _worth(text: str) -> float:
    kinds = distinct(text)
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
