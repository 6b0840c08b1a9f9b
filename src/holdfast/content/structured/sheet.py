"""A table that does not fit: which columns and which records stay, and the note that says what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.kernel.ports import Room
from holdfast.text import fit, rows
from holdfast.text.question import Question

from .cells import cell
from .columns import WHOLE_ROWS, Leaf, Node, Records, infer_table
from .outline import pruned
from .plan import Plan, Step, Steps, applied, densest, plan
from .survey import ColumnPath, survey
from .tables import Table, path_text
from .values import dump
from .write import ROW_END, render

_FLOOR = 0.15  # of a record's tokens: with less of each, fewer records say more
_NAMED_SHARE = 0.7  # of the room, at most, for whole records that the question names
_SLACK = 0.04  # of the room: less is not worth another try
_CAUTION = 0.01  # of the room, kept free in the next try after one that was too long
_TRIES = 4
_SAMPLE = 60  # rows that show how long they are
_FEWEST_ROWS = 8
_FEW_ROWS = 3
_TOKENS_A_ROW = 4  # no row that says something has fewer
_LISTED = 8  # columns that a note names
_WORDS = {
    Step.GONE: "columns left out",
    Step.SHORT: "texts shortened",
    Step.KEYLESS: "keys left out",
}


@dataclass(frozen=True, slots=True)
class Part:
    """What stays of a piece of JSON, and in a few words what does not."""

    text: str
    omitted: str = ""


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A table, its columns, and its rows with what stands in these columns."""

    table: Table
    node: Records
    spec: str
    lines: list[str]
    steps: Steps

    @classmethod
    def of(cls, table: Table) -> _Sheet:
        """The table with all its columns."""
        node = infer_table(table.records, keep=WHOLE_ROWS)
        return cls(table, node, *render(node, (ROW_END,)), steps={})

    def order(self, first: Sequence[int]) -> list[int]:
        """The rows, the most telling in front."""
        return rows.order(list(_record_columns(self.node)), self.lines, first)

    def lines_with_keys(self) -> list[str]:
        """The rows, each behind the keys that its record has and others have not."""
        every = set(self.table.records[0]).intersection(*self.table.records)
        own = (" ".join(key for key in record if key not in every) for record in self.table.records)
        return [f"{keys} {line}" for keys, line in zip(own, self.lines, strict=True)]

    def after(self, steps: Steps) -> _Sheet:
        """The table after the steps."""
        node = applied(self.node, steps)
        if not isinstance(node, Records):
            return self
        return _Sheet(self.table, self.node, *render(node, (ROW_END,)), steps=steps)

    def text(self, chosen: Sequence[int], whole: Mapping[int, str], total: int) -> str:
        """The records ``whole`` as written there, the chosen ones as rows, above them what is left out."""
        note = self.note(len(chosen), len(whole), total)
        pieces = [f"[{note}]"] if note else []
        pieces += whole.values()
        if chosen:
            pieces.append(self.table.headed(self.spec, [self.lines[row] for row in chosen]))
        return ROW_END.join(pieces)

    def note(self, chosen: int, whole: int, total: int) -> str:
        """What is left out, in a few words."""
        noun, where = self.table.noun, path_text(self.table.path)
        parts = [f"{whole} of {total} {noun} first: the question names them"] if whole else []
        if chosen + whole < total:
            parts.append(f"{total - chosen - whole} of {total} {noun} left out")
        if chosen:
            parts += [
                f"{words}: {_names(self.steps, step)}"
                for step, words in _WORDS.items()
                if step in self.steps.values()
            ]
        return f"{where}: {'; '.join(parts)}" if where and parts else "; ".join(parts)


def _names(steps: Steps, step: Step) -> str:
    names = list(dict.fromkeys(_name(path) for path, done in steps.items() if done is step))
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _name(path: ColumnPath) -> str:
    return path_text(tuple(part for part in path if isinstance(part, str)))


def shrunk(table: Table, room: Room) -> Part:
    """The most useful part of the table that fits the room."""
    sheet = _Sheet.of(table)
    total = len(table.records)
    named = rows.named(sheet.lines_with_keys() if room.question else [], Question.of(room.question))
    most = room.tokens // _TOKENS_A_ROW + _FEWEST_ROWS
    if most < total:
        order = sheet.order(named)[:most]
        table, order = _narrowed(table, order)
        sheet, named = _Sheet.of(table), order[: len(named)]
    return _fitted(sheet, _whole(table, named, room), named, total, room)


def _narrowed(table: Table, order: list[int]) -> tuple[Table, list[int]]:
    """The table with these records only, and their order in its numbers."""
    kept = sorted(order)
    places = {row: place for place, row in enumerate(kept)}
    return replace(table, records=[table.records[row] for row in kept]), [places[row] for row in order]


def _whole(table: Table, named: Sequence[int], room: Room) -> dict[int, str]:
    """The records that the question names as JSON: as many as fit a part of the room, or the first one pruned."""
    left = int(room.tokens * _NAMED_SHARE)
    found: dict[int, str] = {}
    for row in named:
        text = dump(table.records[row])
        if not found:
            text = pruned(table.records[row], replace(room, tokens=max(left, 1)))
        left -= room.count(text) + 1
        if left < 0:
            break
        found[row] = text
    return found


def _fitted(sheet: _Sheet, whole: Mapping[int, str], named: list[int], total: int, room: Room) -> Part:
    question = Question.of(room.question)
    columns, chosen = survey(sheet.node, room.count), [row for row in range(len(sheet.lines)) if row not in whole]
    tokens = _tokens(sheet, chosen, room)
    allowed = base = room.tokens - float(room.count(sheet.text((), whole, total)))
    best, done = "", Plan({}, 0.0, -1.0)
    for _ in range(_TRIES):
        made = plan(columns, tokens, allowed, question)
        if allowed < tokens * _FLOOR or (made == done and best):
            break
        view, done = sheet.after(made.steps), made
        text = view.text(chosen, whole, total)
        left = base - _tokens(view, chosen, room)
        if left >= 0:
            left = room.tokens - room.count(text)
        if left < 0 and best:
            break
        best = text if left >= 0 else ""
        if 0 <= left <= room.tokens * _SLACK:
            break
        allowed = min(allowed, made.tokens) + left - room.tokens * _CAUTION if left < 0 else made.tokens + left
    if best:
        return _part(best)
    order = [row for row in sheet.order(named) if row not in whole]
    views = (sheet.after(made.steps) for made in densest(columns, tokens, question))
    return _with_fewer_rows(views, whole, order, total, room) or _nothing(sheet, whole, total, room)


def _tokens(sheet: _Sheet, chosen: list[int], room: Room) -> float:
    """About how many tokens the chosen rows have with all their columns."""
    sample = [sheet.lines[row] for row in chosen[:: -(-len(chosen) // _SAMPLE)]]
    each = room.count(ROW_END.join(sample)) / max(len(sample), 1)
    return room.count(sheet.spec) + each * len(chosen)


def _with_fewer_rows(
    views: Iterable[_Sheet], whole: Mapping[int, str], order: list[int], total: int, room: Room
) -> Part | None:
    """As many rows as fit; of the views the first with which these are more than one or two."""
    best: fit.Choice | None = None
    for view in views:

        def written(chosen: Sequence[int], view: _Sheet = view) -> str:
            return view.text(sorted(chosen), whole, total)

        sizes = [len(line) + 1 for line in view.lines]
        found = fit.choose(order, sizes, written, room.tokens, room.count)
        if found and (best is None or len(found.pieces) > len(best.pieces)):
            best = found
        if best and len(best.pieces) >= min(_FEW_ROWS, len(order)):
            break
    return _part(best.text) if best else None


def _nothing(sheet: _Sheet, whole: Mapping[int, str], total: int, room: Room) -> Part:
    """The records that the question names, or at least what there was to know."""
    text = sheet.text((), whole, total)
    if not whole or room.count(text) > room.tokens:
        names = ", ".join(dict.fromkeys(_name(column.path) for column in survey(sheet.node, room.count)))
        text = fit.clip(f"[{total} {sheet.table.noun} left out: {names}]", room.tokens, room.count, mark="…")
    return _part(text)


def _part(text: str) -> Part:
    """The text, and the note with which it begins."""
    note, _, _ = text.partition(ROW_END)
    return Part(text, note[1:-1] if note.startswith("[") else "")


def _record_columns(node: Node) -> Iterator[list[str]]:
    """The columns that hold one scalar for each record."""
    if isinstance(node, Leaf):
        yield [value if isinstance(value, str) else cell(value, ()) for value in node.values]
    elif isinstance(node, Records) and node.is_plain():
        for child in node.groups[0].columns.values():
            yield from _record_columns(child)
