"""What goes first when not everything fits: as few values as possible for the tokens that have to go.

Each column can be left whole or lose something: a value that is the same in every record is written once, long
texts are shortened, keys that differ from record to record are left out, the column goes. Among all combinations
that save enough, the one is taken that loses least.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias, cast

from holdfast.text.question import Question

from .columns import Fixed, Group, Leaf, Many, Node, Records, constant
from .survey import Column, ColumnPath, length
from .values import MISSING, Cell, Literal, Value

_SHORT = 40  # characters that stay of a text that is shortened
_LONG = 80  # characters: texts that are longer on average can be shortened
_FIXED_LOSS, _SHORT_LOSS, _KEY_LOSS = (
    0.35,
    0.5,
    0.1,
)  # of a value: out of its row; without its end; without its key
_ASKED, _TELLING = 4.0, 1.4  # how much more a value counts that the question names, or that tells records apart
_DEEPER = 0.4  # what an inner value counts, at least; the more room there is, the nearer to a record's own
_PLENTY = 0.6  # of a table: as long as so much of it stays, a long value counts no more than a short one
_SHORT_VALUE, _TELLS_MORE = 2.0, 0.6  # tokens; the power of its length by which a longer value can count more
_FEW_KINDS, _MANY_KINDS = 0.5, 12  # a value that is one of few says less; one of so many says all that it can
_DISTINCT = 0.9  # of the cells: the column tells records apart
_SHARES = (0.9, 0.7, 0.5, 0.35, 0.25, 0.15)  # of a table's tokens: from whole records to little of each
_ROWS_BEFORE_COLUMNS = 0.7  # below 1: twice as many rows are worth more than rows with twice as much in them
_PARTS = 160  # of the tokens that have to go: the precision of the choice
_FEWEST_PARTS, _MOST_CELLS = 8, 20_000  # of a table with very many columns it is less precise, and as fast


class Step(Enum):
    """What a column loses."""

    FIXED = auto()
    KEYLESS = auto()
    SHORT = auto()
    GONE = auto()


Steps: TypeAlias = Mapping[ColumnPath, Step]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done to columns that do not stay whole, the tokens that should then be left, and their worth."""

    steps: Steps
    tokens: float
    worth: float
    """Values that stay, by their weight."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """One combination of steps for some of the columns; ``before`` is the same without the last of them."""

    loss: float
    saved: float
    path: ColumnPath = ()
    step: Step = Step.GONE
    before: _Choice | None = None

    def steps(self) -> dict[ColumnPath, Step]:
        found: dict[ColumnPath, Step] = {}
        choice: _Choice | None = self
        while choice and choice.before:
            found[choice.path] = choice.step
            choice = choice.before
        return found


def plan(columns: list[Column], tokens: float, target: float, question: Question) -> Plan:
    """The steps that bring a table of so many tokens to the target, or as near to it as can be.

    The classic table of the knapsack problem: the least loss for each part of the tokens that have to go.
    """
    scale = tokens / max(sum(column.tokens for column in columns), 1)
    parts = max(_FEWEST_PARTS, min(_PARTS, _MOST_CELLS // max(len(columns), 1)))
    part = max(tokens - target, 1) / parts
    share = target / max(tokens, 1)
    key = key_column(columns)
    best: list[_Choice | None] = [_Choice(0.0, 0.0)] + [None] * parts
    worth = 0.0
    for column in columns:
        weight = _weight(column, question, share) * column.values
        worth += weight
        options = [
            (step, saved * scale, weight * loss) for step, saved, loss in _options(column, gone=column is not key)
        ]
        best = _with_column(best, column.path, options, part)
    made = next(choice for choice in reversed(best) if choice) if tokens > target else _Choice(0.0, 0.0)
    return Plan(made.steps(), tokens - made.saved, worth - made.loss)


def densest(columns: list[Column], tokens: float, question: Question) -> list[Plan]:
    """Plans for a table of which not all rows fit anyway, the one first after which a token says most."""
    made = [plan(columns, tokens, tokens * share, question) for share in _SHARES]
    return sorted(made, key=lambda one: -(one.worth**_ROWS_BEFORE_COLUMNS) / max(one.tokens, 1))


def _with_column(
    best: list[_Choice | None], path: ColumnPath, options: list[tuple[Step, float, float]], part: float
) -> list[_Choice | None]:
    """The best choices with one more column to choose from."""
    after = list(best)
    for step, saved, loss in options:
        parts = round(saved / part)
        for place, choice in enumerate(best):
            if choice is None:
                continue
            reached = min(place + parts, len(best) - 1)
            known = after[reached]
            if known is None or choice.loss + loss < known.loss:
                after[reached] = _Choice(choice.loss + loss, choice.saved + saved, path, step, choice)
    return after


def _options(column: Column, *, gone: bool) -> Iterator[tuple[Step, float, float]]:
    """What the column can lose: the step, the tokens that it saves, the share of each value that it loses."""
    if isinstance(column.node, Leaf):
        values = column.node.values
        if column.fixable and constant(values) is not MISSING:
            yield Step.FIXED, column.tokens * (1 - 1 / len(values)), _FIXED_LOSS
            return
        long = length(values)
        if long > _LONG:
            yield Step.SHORT, column.tokens * (1 - _SHORT / long), _SHORT_LOSS
    elif column.keys:
        yield Step.KEYLESS, column.keys, _KEY_LOSS
    if gone:
        yield Step.GONE, column.tokens, 1.0


def _weight(column: Column, question: Question, share: float) -> float:
    """How much each value of the column counts, where so large a share of the table stays.

    With plenty of room all values count alike. The less there is, the more counts what tells what a record is
    about: its own columns before those of its parts, words before bare numbers.
    """
    names = [part for part in column.path if isinstance(part, str)]
    weight: float = min(1.0, _DEEPER + share) ** (len(names) - 1 + isinstance(column.node, Records))
    if question.matches(" ".join(names)):
        weight *= _ASKED
    if isinstance(column.node, Records):
        return weight
    each = column.tokens / max(len(column.node.values), 1)
    weight *= max(1.0, each / _SHORT_VALUE) ** max(0.0, _TELLS_MORE * (1 - share / _PLENTY))
    if len(names) == 1 and _tells_apart(column):
        return weight * _TELLING
    kinds = len({value for value in column.node.values if isinstance(value, str)})
    return weight * min(1.0, _FEW_KINDS + kinds / _MANY_KINDS)


def _tells_apart(column: Column) -> bool:
    if not isinstance(column.node, Leaf) or len(column.node.values) < 2:
        return False
    texts = {value for value in column.node.values if isinstance(value, str)}
    return len(texts) >= _DISTINCT * len(column.node.values) and length(column.node.values) <= _SHORT


def key_column(columns: list[Column]) -> Column | None:
    """The first column that tells every record from all others."""
    return next((column for column in columns if column.fixable and _tells_apart(column)), None)


def applied(node: Node, steps: Steps, path: ColumnPath = ()) -> Node | None:
    """The columns after the steps, or None where nothing is left of them."""
    step = steps.get(path)
    if step is Step.GONE:
        return None
    if isinstance(node, Many):
        item = applied(node.item, steps, path)
        return Many(item, node.counts, node.others) if item else None
    if isinstance(node, Records):
        return node.without_keys() if step is Step.KEYLESS else _applied_records(node, steps, path)
    if isinstance(node, Leaf) and step is Step.FIXED:
        return Fixed(cast("Value", node.values[0]))
    if isinstance(node, Leaf) and step is Step.SHORT:
        return Leaf([_shortened(value) for value in node.values])
    return node


def _applied_records(node: Records, steps: Steps, path: ColumnPath) -> Node | None:
    groups: list[Group] = []
    for place, group in enumerate(node.groups):
        inner = path if node.is_plain() else (*path, place)
        after = ((name, applied(child, steps, (*inner, name))) for name, child in group.columns.items())
        columns = {name: child for name, child in after if child is not None}
        if not columns and node.is_plain():
            return None
        if not Group(columns).open_columns():
            name = next(iter(columns or group.columns))
            columns[name] = group.columns[name]
        groups.append(Group(columns))
    return Records(groups, node.which, node.others)


def _shortened(value: Cell) -> Cell:
    if isinstance(value, str) and not isinstance(value, Literal) and len(value) > _SHORT:
        return value[:_SHORT].rstrip() + "…"
    return value
