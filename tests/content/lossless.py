"""The inverses of the lossless forms: they prove that a form has lost nothing."""

from __future__ import annotations

from holdfast.content import structured
from holdfast.content.shapes import Many, Same
from holdfast.text.json_values import DEEPEST, dump, parse


def expanded(kind: str, compacted: str) -> str:
    """The text of a form that this kind made, up to white space; any other text unchanged."""
    expand = _EXPANDED.get(kind)
    return expand(compacted) if expand else compacted


def _of_table(compacted: str) -> str:
    heading, _, body = compacted.partition("\n")
    if not heading.startswith("[") or not heading.endswith(" between cells]"):
        return compacted
    lines = body.split("\n")
    if "a bar" in heading:
        cells = [line.split(" | ") for line in lines]
        cells.insert(1, ["---"] * len(cells[0]))
        return "\n".join(f"| {' | '.join(row)} |" for row in cells)
    words = [line.split(" ", lines[0].count(" ")) for line in lines]
    widths = [max(map(len, column)) for column in zip(*words, strict=True)]
    padded = ((cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in words)
    return "\n".join("   ".join(row).rstrip() for row in padded)


def _of_json(text: str) -> str:
    return with_keys(text) or text


def with_keys(text: str) -> str | None:
    """The minified JSON from which ``structured.written`` made the text; None for other texts."""
    head = next((head for head in structured._HEADS if text.startswith(head)), None)
    if head is None:
        return None
    try:
        value = _records(parse(text[len(head) :])[0], 0)
    except (ValueError, KeyError, StopIteration):  # another text that begins like one of ours
        return None
    return "\n".join(map(dump, value)) if head == structured._HEADS[1] else dump(value)


def _shape(spec):
    shape = {}
    for entry in spec:
        if isinstance(entry, str):
            shape[entry] = None
            continue
        ((key, under),) = entry.items()
        if not isinstance(under, list):
            shape[key] = Same(under)
        elif under and isinstance(under[0], list):
            shape[key] = Many(_shape(under[0]))
        else:
            shape[key] = _shape(under)
    return shape


def _records(value, depth: int):
    """The value with its tables turned back into records."""
    if not isinstance(value, dict | list) or depth > DEEPEST:
        return value
    if isinstance(value, list):
        return [_records(child, depth + 1) for child in value]
    if "keys" not in value or "rows" not in value:
        return {key: _records(child, depth + 1) for key, child in value.items()}
    shape, absent, rows = _shape(value["keys"]), value["absent"], value["rows"]
    if isinstance(rows, dict):
        return {key: _record(row, shape, absent) for key, row in rows.items()}
    return [_record(row, shape, absent) for row in rows]


def _record(value, kind, absent):
    if not isinstance(value, list) or kind is None:
        return value
    if isinstance(kind, Many):
        return [_record(item, kind.shape, absent) for item in value]
    cells = iter(value)
    record = {}
    for key, one in kind.items():
        cell = one.value if isinstance(one, Same) else _record(next(cells), one, absent)
        if isinstance(one, Same) or cell != absent:
            record[key] = cell
    return record


_EXPANDED = {
    "json": _of_json,
    "table": _of_table,
}
