"""JSON that is no table, pruned to a size: what is asked for and what lies near the root stays.

What is left out is written where it stood, in a form that no JSON has: ``{…5 keys}``, ``[…12 items]``, ``…+3``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.kernel.ports import Room
from holdfast.text import fit
from holdfast.text.importance import TROUBLE, alarm
from holdfast.text.question import Question

from .values import Literal, Value, dump, quote

_DEEPEST = 24  # levels that are pruned one by one; what lies deeper is cut as text
_CHARACTERS = 3.0  # a token of JSON, at the first try
_TRIES = 6
_LEAST, _LEAST_INNER = 24, 60  # characters with which a value, and an object or a list, says something
_TROUBLE = 3.0  # how much more of the room a member gets that reports trouble
_LONG = 400  # characters of a text of which trouble is looked for


@dataclass(slots=True)
class _Tree:
    """A value with what is needed to share out room: its length as JSON, and how much it matters."""

    value: Value
    size: int
    weight: float
    members: list[tuple[str, _Tree]]
    """The members of an object with their keys, the items of a list with an empty one."""


def pruned(value: Value, room: Room) -> str:
    """The value as JSON in so many tokens, with marks where something is left out."""
    tree = _Weigher(room.question).tree("", value)
    allowed = room.tokens * _CHARACTERS
    best = ""
    for _ in range(_TRIES):
        text = _written(tree, int(allowed))
        tokens = room.count(text)
        if tokens <= room.tokens:
            best = max(best, text, key=len)
            if tokens > 0.93 * room.tokens or tree.size <= allowed:
                break
        allowed *= min(room.tokens / max(tokens, 1), 4.0) * 0.99
    return best or fit.clip(dump(value), room.tokens, room.count, mark="…")


class _Weigher:
    """Builds trees: how much a value matters by the question and by the trouble that it reports."""

    def __init__(self, question: str) -> None:
        self._question = Question.of(question)
        self._known: dict[str, float] = {}

    def tree(self, key: str, value: Value, depth: int = 0) -> _Tree:
        """The value and all that it holds, down to a depth."""
        if isinstance(value, dict | list) and value and depth < _DEEPEST:
            pairs = value.items() if isinstance(value, dict) else (("", item) for item in value)
            members = [(name, self.tree(name, child, depth + 1)) for name, child in pairs]
            size = 1 + sum(len(name) + 4 * bool(name) + child.size for name, child in members) + len(members)
            weight = max(child.weight for _, child in members) + (self._weight(key) - 1.0 if key else 0.0)
            return _Tree(value, size, weight, members)
        text = value if isinstance(value, str) else dump(value)
        return _Tree(value, len(text) + 2, self._weight(f"{key}: {text}"), [])

    def _weight(self, line: str) -> float:
        known = self._known.get(line)
        if known is None:
            trouble = len(line) < _LONG and alarm(line) >= TROUBLE
            asked = self._question.score(line) if self._question else 0.0
            known = self._known[line] = (_TROUBLE if trouble else 1.0) + asked
        return known


def _written(tree: _Tree, allowed: int) -> str:
    """The value in about so many characters."""
    if tree.size <= allowed:
        return dump(tree.value)
    if not tree.members:
        return _cut(tree.value, allowed)
    keys = isinstance(tree.value, dict)
    chosen = _chosen(tree, allowed - 2)
    if not chosen:
        return f"{{…{len(tree.members)} keys}}" if keys else f"[…{len(tree.members)} items]"
    shares = _shares([tree.members[place] for place in chosen], allowed - 2)
    pieces: list[str] = []
    last = -1
    for place, share in zip(chosen, shares, strict=True):
        if place > last + 1:
            pieces.append(f"…+{place - last - 1}")
        name, child = tree.members[place]
        pieces.append((f"{quote(name)}:" if keys else "") + _written(child, share))
        last = place
    if last + 1 < len(tree.members):
        pieces.append(f"…+{len(tree.members) - last - 1}")
    return f"{{{','.join(pieces)}}}" if keys else f"[{','.join(pieces)}]"


def _cut(value: Value, allowed: int) -> str:
    if isinstance(value, str) and not isinstance(value, Literal):
        tail = allowed // 4 if allowed > 4 * _LEAST else 0
        head = max(allowed - tail - 3, 1)
        return quote(value[:head] + "…" + (value[-tail:] if tail else ""))
    return dump(value)[: max(allowed, 1)] + "…"


def _chosen(tree: _Tree, allowed: int) -> list[int]:
    """The members that stay, in order: all if each then has enough room to say something."""
    needed = [_needed(name, child) for name, child in tree.members]
    if sum(needed) <= allowed:
        return list(range(len(needed)))
    places = [0, len(needed) - 1, *range(1, len(needed) - 1)]
    chosen: list[int] = []
    for place in sorted(places, key=lambda place: -tree.members[place][1].weight):
        if needed[place] <= allowed:
            allowed -= needed[place]
            chosen.append(place)
    return sorted(set(chosen))


def _needed(name: str, child: _Tree) -> int:
    return len(name) + 4 + min(child.size, _LEAST_INNER if child.members else _LEAST)


def _shares(members: Sequence[tuple[str, _Tree]], allowed: int) -> list[int]:
    """The room of each member: small ones whole, the others by weight."""
    allowed -= sum(len(name) + 4 for name, _ in members)
    shares = [0] * len(members)
    weights = sum(child.weight for _, child in members)
    for place in sorted(range(len(members)), key=lambda place: members[place][1].size / members[place][1].weight):
        child = members[place][1]
        shares[place] = min(child.size, max(int(allowed * child.weight / weights), min(child.size, _LEAST)))
        allowed -= shares[place]
        weights -= child.weight
    return shares
