"""JSON and JSON lines: records as tables, without loss if that is enough.

Without loss, a list or object of similar records becomes an object with their keys and rows.
Missing values have a mark, and a value that all records share is written once, with its key::

    keys once, and a row for each record:
    {"total":2,"orders":{"keys":["id",{"to":["city","zip"]},{"items":[["name","price"]]}],"rows":[
    [17,["Oslo","0150"],[["Desk",120.5],["Lamp",9.9]]],
    [18,["Bergen","5003"],[["Lamp",9.9]]]]}}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from holdfast.content.lossy import FEWEST, LossyKind
from holdfast.content.structured.records import Many, Pieces, Same, Shape, is_of, shape_of
from holdfast.content.structured.values import (
    CHECKER,
    DEEPEST,
    MISSING,
    Cell,
    Literal,
    Value,
    dump,
    minified,
    parse,
    quote,
    values_in,
)
from holdfast.kernel.registry import moved_names
from holdfast.selection.pieces import Reading

_LEAST = 0.8  # least share of the text that is JSON; with less, recorded runs kept less


class Json(LossyKind):
    """One or more JSON objects or arrays; text may surround them and the end may be missing."""

    name = "json"
    takes_apart = True
    least = _LEAST

    def fit(self, text: str) -> float:
        """The share of the text that is JSON and more than a scalar.

        It is 0 if numbers stand between the values, as before the lines of a file: whoever edits
        it needs the lines as they are.
        """
        found, size = list(values_in(text, CHECKER)), max(1, len(text.strip()))
        beside = [part for part, values in found if not values and any(map(str.isdigit, part))]
        if sum(not any(map(str.isalpha, part)) for part in beside) > 1:
            return 0.0
        return sum(len(part) for part, values in found if values) / size

    def compact(self, text: str) -> str | None:
        """Records with their keys once, the rest minified; None if that saves nothing."""
        try:
            documents = parse(text)
        except ValueError:
            return None
        plain = "\n".join(map(dump, documents)) if len(documents) > 1 else minified(text)
        best = min(written(documents) or plain, plain, key=len)
        return best if len(best) < len(text) else None

    def read(self, text: str) -> Reading:
        """The pieces of the records, and the text around them."""
        pieces, held = Pieces(), list[Value]()
        for part, values in values_in(text):
            held += values
            if held and not values and not part.isspace():
                pieces.add(held)
                held = []
            if not values:
                pieces.add_text(part)
        if held:
            pieces.add(held)
        return pieces.reading()


_HEADS = (
    "keys once, and a row for each record:\n",
    "JSON lines, keys once, and a row for each record:\n",
)
_KEYS, _ROWS, _ABSENT = "keys", "rows", "absent"


def written(documents: list[Value]) -> str | None:
    """The documents with their keys written once; None if no records are alike."""
    lines = len(documents) > 1
    writing = _Writing()
    value = writing.without_keys(list(documents) if lines else documents[0], 0)
    return _HEADS[lines] + dump(value) if writing.tables and not writing.ambiguous else None


class _Writing:
    def __init__(self) -> None:
        self.tables = 0
        self.ambiguous = False
        """Whether an object of the source looks like a table."""

    def without_keys(self, value: Value, depth: int) -> Value:
        """The value, with lists of similar records as rows."""
        if not isinstance(value, dict | list) or depth > DEEPEST:
            return value
        children = list(value.values()) if isinstance(value, dict) else value
        if (
            len(children) >= FEWEST
            and set(map(type, children)) == {dict}
            and (shape := shape_of(children))
        ):
            self.tables += 1
            return self._table(value, children, shape)
        if isinstance(value, list):
            return [self.without_keys(child, depth + 1) for child in value]
        self.ambiguous = self.ambiguous or {_KEYS, _ROWS} <= value.keys()
        return {key: self.without_keys(child, depth + 1) for key, child in value.items()}

    def _table(self, value: Value, records: list[Value], shape: Shape) -> Value:
        absent = quote("-" * (1 + max(map(len, _dashes(records)), default=0)))
        rows = [_row(record, shape, absent) for record in records]
        if isinstance(value, dict):
            rows = [f"{quote(key)}:{row}" for key, row in zip(value, rows, strict=True)]
        marks = "{}" if isinstance(value, dict) else "[]"
        return Literal(
            f'{{"{_KEYS}":{dump(_spec(shape))},"{_ABSENT}":{absent},"{_ROWS}":{marks[0]}\n'
            + ",\n".join(rows)
            + f"{marks[1]}}}"
        )


def _dashes(records: list[Value]) -> Iterator[str]:
    """The texts in them that could be mistaken for the mark of a missing value."""
    waiting: list[Value] = list(records)
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here
        elif isinstance(here, str) and here.startswith("-") and not here.strip("-"):
            yield here


def _row(value: Cell, kind: Shape | Many | Same | None, absent: str) -> str:
    if isinstance(value, str):
        return value if type(value) is Literal else quote(value)
    if value is MISSING:
        return absent
    if type(kind) is dict and type(value) is dict and is_of(value, kind):
        found = [
            _row(value.get(key, MISSING), one, absent)
            for key, one in kind.items()
            if type(one) is not Same
        ]
        return f"[{','.join(found)}]"
    if type(kind) is Many and type(value) is list:
        return f"[{','.join([_row(item, kind.shape, absent) for item in value])}]"
    return dump(cast("Value", value))


def _spec(shape: Shape) -> Value:
    """The keys as JSON; a key with nested keys is an object."""
    return [key if kind is None else {key: _under(kind)} for key, kind in shape.items()]


def _under(kind: Shape | Many | Same) -> Value:
    if isinstance(kind, Same):
        return kind.value
    return [_spec(kind.shape)] if isinstance(kind, Many) else _spec(kind)


__getattr__ = moved_names(__name__, {"cleaned": "holdfast.designs.llm4s"})
