"""JSON, JSON lines and values that Python printed: records as tables or as pieces.

Without loss, a list or object of similar records becomes an object with their keys and rows.
Missing values have a mark, and a value that all records share is written once, with its key::

    keys once, and a row for each record:
    {"total":2,"orders":{"keys":["id",{"to":["city","zip"]},{"items":[["name","price"]]}],"rows":[
    [17,["Oslo","0150"],[["Desk",120.5],["Lamp",9.9]]],
    [18,["Bergen","5003"],[["Lamp",9.9]]]]}}

A piece is a record or a part of one, with its name and without JSON syntax:
``orders A-17 lines: item desk, price 120.5, size (width 140, depth 70)``. Many records of one shape
are rows under one piece with their columns.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress
from typing import cast
from zlib import crc32

from holdfast.kernel.registry import moved_names
from holdfast.text.json_values import (
    DEEPEST,
    MISSING,
    Literal,
    Member,
    Value,
    dump,
    minified,
    parse,
    quote,
    sources,
    values_in,
)
from holdfast.text.opaque import elide
from holdfast.text.pieces import LONGEST, Piece, Reading, clauses, passages
from holdfast.text.pieces import shape_of as shape_of_name
from holdfast.text.words import reads_as_words

from . import taken_apart
from .events import events_of
from .lossy import FEWEST, LossyKind
from .shapes import Column, Many, Record, Same, Shape, all_records, is_of, shape_of

_LEAST = 0.8  # least share of the text that is JSON; with less, recorded runs kept less


class Json(LossyKind):
    """One or more JSON objects or arrays; text may surround them and the end may be missing."""

    name = "json"
    takes_apart = True
    least = _LEAST

    def share(self, text: str) -> float:
        """The share of the text that is JSON and more than a scalar.

        It is 0 if numbers stand between the values, as before the lines of a file: whoever edits
        it needs the lines as they are.
        """
        found, size = sources(text), max(1, len(text.strip()))
        beside = [part for part, source in found if not source and any(map(str.isdigit, part))]
        if sum(not any(map(str.isalpha, part)) for part in beside) > 1:
            return 0.0
        return sum(len(part) for part, source in found if source) / size

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
        pieces, held = Pieces(len(text)), list[Value]()
        for part, values in values_in(text):
            held += values
            if values or not part.strip(_COMMAS):
                continue
            if held:
                pieces.add(held)
                held = []
            if part.strip(_COMMAS + _BRACKETS):
                pieces.add_text(part)
        if held:
            pieces.add(held)
        return pieces.reading()


# between the values of a list, and around those of one that is cut off
_COMMAS, _BRACKETS = " \t\r\n,", "[]{}"

_HEAD = "keys once, and a row for each record:\n"
_HEADS = (_HEAD, f"JSON lines, {_HEAD}")


def written(documents: list[Value]) -> str | None:
    """The documents with their keys written once; None if no records are alike."""
    lines = len(documents) > 1
    source = documents if lines else documents[0]
    try:
        value = _without_keys(source, 0)
    except _LooksLikeTableError:
        return None
    return None if value == source else _HEADS[lines] + dump(value)


class _LooksLikeTableError(Exception):
    """An object of the source would be read as a table."""


def _without_keys(value: Value, depth: int) -> Value:
    """The value, with lists of similar records as rows."""
    if not isinstance(value, dict | list) or depth > DEEPEST:
        return value
    children = list(value.values()) if isinstance(value, dict) else value
    records = all_records(children)
    if len(records) >= FEWEST and (shape := shape_of(records)):
        return _table(value, records, shape)
    if isinstance(value, list):
        return [_without_keys(child, depth + 1) for child in value]
    if {"keys", "rows"} <= value.keys():
        raise _LooksLikeTableError
    return {key: _without_keys(child, depth + 1) for key, child in value.items()}


def _table(value: Value, records: Sequence[Record], shape: Shape) -> Value:
    absent = quote("-" * (1 + max(map(len, _dashes(records)), default=0)))
    rows = [_row(record, shape, absent) for record in records]
    marks = "[]"
    if isinstance(value, dict):
        rows = [f"{quote(key)}:{row}" for key, row in zip(value, rows, strict=True)]
        marks = "{}"
    keys, told = dump(_spec(shape)), ",\n".join(rows)
    return Literal(f'{{"keys":{keys},"absent":{absent},"rows":{marks[0]}\n{told}{marks[1]}}}')


def _dashes(records: Iterable[Value]) -> Iterator[str]:
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


def _row(value: Value, kind: Column, absent: str) -> str:
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
    return dump(value)


def _spec(shape: Shape | Many | Same) -> Value:
    """The keys as JSON; a key with nested keys is an object, and one with a list holds a list."""
    if isinstance(shape, Same):
        return shape.value
    if isinstance(shape, Many):
        return [_spec(shape.shape)]
    return [key if kind is None else {key: _spec(kind)} for key, kind in shape.items()]


# records as pieces

# of the characters of a piece, the label before a record or the keys of rows have at most half, and
# the name or value of a record half of these
_LONGEST_LABEL, _LONGEST_NAME = LONGEST // 2, LONGEST // 4
# characters of the members of a record that stand together. Each has its own key and needs no
# context: in recorded runs longer parts kept less, and in single texts shorter ones too
_LONGEST_PART = 100
# of brackets on one line: else lists in lists are read again for each level; half and double kept
# as much of real texts
_LEVELS = 8
_MANY = 8  # records that are shown as rows; 4 kept less of JSON in the benchmark, and 16 as much
# what is unclear without quotation marks: brackets, line breaks, a comma before a space, a space at
# an edge. It begins with one set, so that the search can skip to it
_UNCLEAR = re.compile(r"[()\[\]\n, ](?:(?<![, ])|(?<=,)(?= )|(?<=\A )|(?<= )\Z)")
# entries of a map that are shown as rows; with 16 less was kept of recorded runs, where an entry
# with its keys counts for more, and with 64 less of made-up maps
_MANY_ENTRIES = 32
# share of all characters above which a text in a value is read as its own kind, so that few are;
# half and double kept as much of recorded runs
_OUTPUT = 0.125
_RARE = 0.1  # share of records that a column needs; half and double kept as much of made-up ones
_KEY = "[key]"  # heads the column of the keys of a map
_NAMELESS = frozenset({"word", "capitalised", "small_number", "path"})
"""Types of values that do not name a record."""


class Pieces:
    """Collects the pieces of values in order; their units are records."""

    def __init__(self, size: int) -> None:
        """``size``: the characters of the whole text."""
        self._pieces: list[Piece] = []
        self._most = size * _OUTPUT
        self._records = 0
        self._unit = "record"

    def reading(self) -> Reading:
        """The collected pieces; if some are of events, gaps have no notes."""
        return Reading(self._pieces, self._records, self._unit)

    def add(self, values: Sequence[Value]) -> None:
        """Add the pieces of one value, or of several in sequence."""
        if len(values) == 1:
            only = values[0]
            is_record = isinstance(only, dict) and not _wraps(only)
            self._value("", only, self._next() if is_record else self._records, 0)
        else:
            self._list("", values, self._records, 0)

    def add_text(self, text: str) -> None:
        """Add the pieces of text beside the values."""
        for piece in passages(text).pieces:
            self._put(piece.text, self._next())

    def _next(self) -> int:
        """Count a record, and return its number."""
        self._records += 1
        return self._records - 1

    def _put(
        self,
        text: str,
        record: int,
        label: str = "",
        parent: int = -1,
        tells: tuple[str, ...] = (),
        *,
        is_head: bool = False,
    ) -> int:
        said = f"{label}: {text}" if label else text
        units = int(record < self._records and not is_head)  # what wraps records is none
        self._pieces.append(Piece(said, record, units, tells, parent))
        return len(self._pieces) - 1

    def _value(self, label: str, value: Value, record: int, depth: int) -> None:
        may_be_rows = isinstance(value, list) and _shared_keys(value)
        most = _LONGEST_PART if may_be_rows else LONGEST
        short = _inline(value, most, label.rpartition(" ")[2])
        if short is not None:
            parts = [short[1:-1] if value and isinstance(value, dict | list) else short]
        elif depth > DEEPEST:
            parts = clauses(dump(value))
        elif isinstance(value, dict):
            if entries := _entries(value):
                return self._list(label, entries, record, depth)
            named = label if _wraps(value) else _path_label(label, _name(value))
            return self._members(label, named, _with_columns(value).items(), record, depth)
        elif isinstance(value, list):
            return self._list(label, _as_records(value), record, depth)
        else:
            # JSON that is kept as it was written would be read again for ever
            may_be_output = not isinstance(value, Literal)
            return self._text(label, elide(str(value)), record, may_be_output=may_be_output)
        for part in parts:
            self._put(part, record, label)
        return None

    def _text(self, label: str, text: str, record: int, *, may_be_output: bool) -> None:
        """Add the pieces of a long text under its label: it may be an output of another kind.

        Only the few large texts, and those that begin as JSON does, are tested for that.
        """
        is_one = len(text) > self._most or text.lstrip().startswith(("{", "["))
        reading = (taken_apart(text) if may_be_output and is_one else None) or passages(text)
        header = self._put(f"{label}:", record, is_head=True) if label else -1
        base, units = len(self._pieces), int(record < self._records)
        for piece in reading.pieces:
            parent = base + piece.parent if piece.parent >= 0 else header
            self._pieces.append(piece._replace(at=record, units=units, parent=parent))

    def _list(self, label: str, values: Sequence[Value], record: int, depth: int) -> None:
        if told := events_of(values):
            self._events(label, told)
            return
        records = all_records(values)
        shape = _usual(shape_of(records), records) if len(records) >= _MANY else {}
        if len(shape) > 1:
            # the columns, and under them each record; its other parts are under its first
            are_rows = [is_of(each, shape) for each in records]
            fitting = compress(records, are_rows)
            columns = f"{len(records):,} records, a row each: {_columns(shape, fitting)}"
            header = self._put(columns, record, label, is_head=True)
            for each, is_row in zip(records, are_rows, strict=True):
                number = self._next()
                if not is_row:
                    self._value(label, each, number, depth + 1)
                    continue
                row = [(_joined_cells(line), plain) for line, plain in _packed(_cells(each, shape))]
                whole, above = "".join([text for text, _ in row]), header
                for text, plain in row:
                    put = self._put(text, number, "", above, facts(" ".join(plain), whole))
                    above = put if above == header else above
        elif keys := _shared_keys(values):
            header = self._put(f"{label} ({keys}):".lstrip(), record)
            for each in records:
                cells = _joined_cells([_scalar(cell) for cell in each.values()])
                self._put(cells, self._next(), parent=header)
        else:
            self._members(label, label, (("", value) for value in values), record, depth)

    def _events(self, label: str, told: Reading) -> None:
        base, first = len(self._pieces), self._records
        for piece in told.pieces:
            parent = base + piece.parent if piece.parent >= 0 else -1
            self._pieces.append(piece._replace(at=first + piece.at, parent=parent))
        if label:
            header = self._pieces[base]
            self._pieces[base] = header._replace(text=f"{label}: {header.text}")
        self._records += told.total
        self._unit = ""

    def _members(
        self, label: str, named: str, members: Iterable[Member], record: int, depth: int
    ) -> None:
        """Join short members up to the length of a part; each record of a list is separate."""
        held: list[str] = []
        size = 0
        for key, value in members:
            is_record = not key and isinstance(value, dict) and len(value) > 1
            short = None if is_record else _inline(value, _LONGEST_PART, key)
            if held and (short is None or size + len(key) + len(short) > _LONGEST_PART):
                self._put(", ".join(held), record, label)
                held, size, label = [], 0, named
            if short is None:
                number = self._next() if is_record else record
                self._value(_path_label(named, key), value, number, depth + 1)
            else:
                bare = not key and isinstance(value, dict)
                held.append(_member(key, short) if key else short[1:-1] if bare else short)
                size += len(held[-1]) + 2
        if held:
            self._put(", ".join(held), record, label)


def _usual(shape: Shape, records: Sequence[Record]) -> Shape:
    """The shape without keys that hardly any record has: such a record is told with its keys."""
    held = Counter(chain.from_iterable(records))
    least = len(records) * _RARE
    return {key: kind for key, kind in shape.items() if held[key] >= least}


def _wraps(value: Record) -> bool:
    """Whether an object has a list or a map of records: what it says of them names none of them."""
    return any(isinstance(child, dict | list) and len(child) >= _MANY for child in value.values())


def _entries(value: Record) -> Sequence[Record]:
    """The entries of a map of similar records, each with its key; none of another object."""
    records = all_records(value.values())
    shape = shape_of(records) if len(records) >= _MANY_ENTRIES else {}
    if len(shape) < 2 or 2 * sum(is_of(each, shape) for each in records) <= len(records):
        return []
    both = list(zip(value, records, strict=True))
    if all(key in each.values() for key, each in both):
        return records
    return [{_KEY: key, **each} for key, each in both]


def _width(value: Value) -> int:
    """The length of each of many lists in a list; 0 for another value."""
    if not isinstance(value, list) or len(value) < _MANY or set(map(type, value)) != {list}:
        return 0
    widths = set(map(len, cast("Sequence[list[Value]]", value)))
    return max(widths) if len(widths) == 1 else 0


def _as_records(value: list[Value], names: Sequence[str] = ()) -> list[Value]:
    """Many lists of one length as records, with their columns' names or numbers as keys."""
    width = _width(value)
    if width < FEWEST:
        return value
    keys = names or list(map(str, range(width)))
    return [dict(zip(keys, cast("list[Value]", row), strict=True)) for row in value]


def _with_columns(value: Record) -> Record:
    """An object, with rows in it as records if it names their columns in a list beside them."""
    widths = {key: width for key, child in value.items() if (width := _width(child)) >= FEWEST}
    found = dict(value)
    for key, width in widths.items():
        for child in value.values():
            names = [_title(each) for each in child] if isinstance(child, list) else []
            if width == len(names) == len(set(names)) and all(names):
                found[key] = _as_records(cast("list[Value]", value[key]), names)
                break
    return found


def _title(value: Value) -> str:
    """The name of a column: a text, or the first value of an object that describes it."""
    first = next(iter(value.values()), None) if isinstance(value, dict) else value
    return first if isinstance(first, str) and not isinstance(first, Literal) else ""


def _shared_keys(values: Sequence[Value]) -> str:
    """The keys of a few records that all have the same ones, and short values; empty for others.

    Such records are shorter as rows: their keys are written once.
    """
    records = all_records(values)
    if not 1 < len(records) < _MANY or len(records[0]) < 2:
        return ""
    keys = list(records[0])
    columns = ", ".join(keys)
    are_rows = all(_is_row(each, keys) for each in records)
    return columns if are_rows and len(columns) <= _LONGEST_LABEL else ""


def _is_row(record: Record, keys: Sequence[str]) -> bool:
    return list(record) == keys and all(
        _inline(value, _LONGEST_NAME) is not None and not isinstance(value, dict | list)
        for value in record.values()
    )


def facts(text: str, row: str) -> tuple[str, ...]:
    """The words in a part of a row, as things that only this row and rows equal to it have.

    So the same words in another row count as new, but equal rows say one thing, in any table.
    """
    of_row = f" of {crc32(row.encode('utf-8', 'surrogatepass'))}"  # short: each word has it
    return tuple([word + of_row for word in text.replace(",", " ").replace(";", " ").split()])


def _packed(cells: Iterable[tuple[str, bool]]) -> Iterator[tuple[list[str], list[str]]]:
    """The cells in lines up to the length of a piece; a cell that begins a list begins a line.

    A line is a pair: its parts, and those of them that are no prose. The words of prose are no
    facts.
    """
    held, plain, size = list[str](), list[str](), 0
    for cell, begins in cells:
        is_text = len(cell) > _LONGEST_PART and reads_as_words(cell)
        for part in clauses(cell) if is_text else (cell,):
            if held and (begins or size + len(part) > LONGEST):
                yield held, plain
                held, plain, size = [], [], 0
            held.append(part)
            if not is_text:
                plain.append(part)
            size += len(part) + 2
    yield held, plain


def _joined_cells(cells: Sequence[str]) -> str:
    """The cells of a line, separated by a space or, if that is ambiguous, a comma."""
    text = cells[0]
    spaced = " " in text
    behind = chain.from_iterable(cell.split(",")[1:] for cell in cells)
    is_tight = not any(part[:1].isdigit() for part in behind)  # else a number seems to go on
    for cell in cells[1:]:
        before, spaced = spaced, " " in cell
        apart = (before or spaced) and not text.endswith(";")
        between = " " if not apart else "," if is_tight and cell[:1].isdigit() else ", "
        text += between + cell
    return text


def _path_label(label: str, name: str) -> str:
    """The path of names to a record; of a long path the last name."""
    joined = f"{label} {name}" if label and name else label or name
    if len(joined) <= _LONGEST_LABEL:
        return joined
    return joined[-_LONGEST_LABEL:].partition(" ")[2] or name[:_LONGEST_LABEL]


def _name(record: Record) -> str:
    """The first value of a record, if it can name the record."""
    first = next(iter(record.values()), None)
    if not isinstance(first, str) or not 0 < len(first) <= _LONGEST_NAME or " " in first:
        return ""
    return first if shape_of_name(first) not in _NAMELESS else ""


def _member(key: str, said: str) -> str:
    return f"{key} {said}" if key.isidentifier() else f"{key}: {said}"


def _scalar(value: Value) -> str:
    if isinstance(value, str):
        is_unclear = not value or _UNCLEAR.search(value)
        return f'"{value}"' if is_unclear and not isinstance(value, Literal) else value
    return dump(value)


def _inline(value: Value, room: int, named: str = "", levels: int = _LEVELS) -> str | None:
    """The value on one line, records and lists in brackets; None if it has too many characters.

    It has at most so many ``levels`` of brackets. A value that only repeats the record's name is
    left out.
    """
    if not isinstance(value, dict | list):
        scalar = _scalar(value)
        return scalar if len(scalar) <= room and "\n" not in scalar else None
    is_record = isinstance(value, dict)
    children = (
        value.items() if isinstance(value, dict) else [("", child) for child in value[: room + 1]]
    )
    parts: list[str] = []
    for key, child in children:
        room -= len(key) + 2
        text = _inline(child, room, key, levels - 1) if room > 0 and levels else None
        if text is None:
            return None
        if not is_record or text != named or len(value) == 1:
            room -= len(text)
            parts.append(_member(key, text) if is_record else text)
    opened, closed = "()" if is_record else "[]"
    return f"{opened}{', '.join(parts)}{closed}"


def _columns(shape: Shape, values: Iterable[Value]) -> str:
    """The keys of a row, with nested keys in brackets, as far as all of the values have them."""
    records = [value for value in values if type(value) is dict]
    found: list[str] = []
    for key, kind in shape.items():
        held = [record[key] for record in records if key in record]
        if isinstance(kind, Same):
            found.append(f"{key} always {_scalar(kind.value)}")
        elif isinstance(kind, Many):
            items = chain.from_iterable(value for value in held if type(value) is list)
            found.append(f"{key} [{_columns(kind.shape, items)}; …]")
        else:
            found.append(key if kind is None else f"{key} ({_columns(kind, held)})")
    others = any(not is_of(record, shape) for record in records)
    return ", ".join([*found, "or others"] if others else found)


def _cells(record: Record, shape: Shape) -> Iterator[tuple[str, bool]]:
    """The cells of a row, one for each list item, and whether each begins a list."""
    for key, kind in shape.items():
        if isinstance(kind, Same):
            continue
        value = record.get(key, MISSING)
        if isinstance(kind, Many) and type(value) is list and value:
            last = len(value) - 1
            for place, item in enumerate(value):
                yield _cell(item, kind.shape) + ";" * (place < last), place == 0
        elif type(kind) is dict and type(value) is dict and is_of(value, kind):
            yield from _cells(value, kind)
        else:
            yield _cell(value, kind), False


def _cell(value: Value, kind: Column) -> str:
    """The text of a cell; nested records show only values if the columns have their keys."""
    if type(value) is dict:
        if type(kind) is dict and is_of(value, kind):
            return _joined_cells([cell for cell, _ in _cells(value, kind)] or ["{}"])
        if value and all(isinstance(each, str) for each in value.values()):
            return " ".join(map(_scalar, value.values()))  # texts say what they are
        return _inline(value, len(dump(value))) or dump(value)
    if type(value) is list:
        items = list(map(_scalar, value))
        if any(" " in item for item in items):
            return _inline(value, len(dump(value))) or dump(value)
        return " ".join(items) or "[]"
    return _scalar(value)


__getattr__ = moved_names(__name__, {"cleaned": "holdfast.designs.llm4s"})
