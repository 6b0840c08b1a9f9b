"""The calls of an act, which are JSON objects or elements with tags, and the pieces of each."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, starmap, takewhile

from .json_values import Value, dump, values_in
from .pieces import GAP, Piece, clauses, passages
from .words import elements, is_sentence, unfenced

Call = tuple[str, list[tuple[str, str]]]
"""A name, and the arguments, each with its key."""


class _Record(str):
    """The fields of one of several objects."""

    __slots__ = ()


def calls_of(name: str, text: str) -> list[Call]:
    """The calls of an act, each with its arguments: the JSON objects of which most of it consists.

    If the act is written as text, what stands before an object says what is called. Without such
    objects, the elements are the calls, and without these it is one call with one argument. A fence
    around the act is left out.
    """
    text = unfenced(text)
    found: list[Call] = []
    label, covered = name, 0
    for part, values in values_in(text):
        for value in values:
            found.append((" ".join(label.split()), list(_fields(value, told=bool(name)))))
            covered += len(part)
        label = "" if values else f"{label} {part}"
    if found and 2 * covered >= len(text):
        return found
    return (calls_in(text) if not name else []) or [(name, [("", text)])]


def _fields(value: Value, key: str = "", *, told: bool = True) -> Iterator[tuple[str, str]]:
    """The values inside a value that are no objects, as text, each with its key.

    A key that holds an object is ``told`` before the first value in it. One beside others in an act
    that is written as text may only hold all arguments; one that stands alone, as in ``{"click":
    {"index": 17}}``, is the name of what is done. Each of several objects in a list is one value,
    unless it has a long text.
    """
    if isinstance(value, dict):
        for name, each in value.items():
            above = name if isinstance(each, dict) and (told or len(value) == 1) else ""
            if above and not each:
                yield name, dump(each)
            for inner, text in _fields(each, name):
                yield f"{above} {inner}".strip(), text
                above = ""
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for each in value:
            fields = list(_fields(each, key))
            is_record = len(value) > 1 and all(len(text) <= _ARGUMENT for _, text in fields)
            joined = ", ".join(starmap(_labelled, fields))
            yield from [("", _Record(joined))] if is_record else fields
    else:
        yield key, value.strip("\n") if isinstance(value, str) else dump(value)


def calls_in(text: str) -> list[Call]:
    """The calls that a text consists of, each with its arguments; empty if it has other parts.

    An element is a call: what it holds is its argument, or each element in it is one. An element
    that holds nothing but such calls has no meaning of its own.
    """
    found: list[Call] = []
    for name, inner in elements(text):
        fields = elements(inner)
        nested = [elements(value) for _, value in fields]
        if nested and all(nested):
            found += [
                (label, arguments) for (label, _), arguments in zip(fields, nested, strict=True)
            ]
        else:
            found.append((name, fields or [("", inner)]))
    return found


# what notes tell of calls

# characters of an argument that are shown beside the name of the call; in recorded runs 200 kept
# less, and 50 as much
_ARGUMENT = 100
_WORD = re.compile(r"[^\W\d_]{2}")  # times and units have single letters
_LITERALS = {"true", "false", "null"}  # of JSON
# share of the different words of an argument, if the next one has them too; half and double kept
# as much of recorded runs
_REPLACED = 0.5
# removed lines of a patch, and the sign of added ones below, which replace them
_REMOVED = re.compile(r"^(?:-(?!--).*\n)++(\+)?", re.MULTILINE)


def shared_parts(acts: Iterable[Sequence[Piece]]) -> int:
    """The number of parts that all these acts have in common below their first lines."""
    parts = [_parts(pieces[1:]) for pieces in acts]
    return len(list(takewhile(lambda each: len({*each}) == 1, zip(*parts, strict=False))))


def _parts(pieces: Iterable[Piece]) -> list[str]:
    return [part for piece in pieces for part in clauses(piece.text, _ARGUMENT)]


def pieces_of_act(name: str, text: str, own: int | None = None) -> Iterator[Piece]:
    """The pieces of each call in an act: its short arguments on one line, under it the long ones.

    Short ones that are sentences, as why it is done, stand under it too.

    Without a short argument of words, the first passage stands on the line: a bare name says
    nothing, nor does one with a number or ``false``. Where other acts have the same first line,
    ``own`` is the number of the first part below it that they do not share, which stands there.
    """
    above = 0
    for label, fields in calls_of(name, text):
        at = above
        for piece in _call(label, fields, own):
            yield piece._replace(parent=above if at > above else -1)
            at += 1
        above = at


def _call(name: str, fields: Sequence[tuple[str, str]], own: int | None) -> Iterator[Piece]:
    fields = list(_without_what_is_replaced(fields))
    brief = [field for field in fields if _is_brief(field[1])]
    thoughts = [field for field in brief if is_sentence(field[1])]
    if len(thoughts) == len(fields):  # there is nothing else to be told
        thoughts = []
    brief = [field for field in brief if field not in thoughts]
    brief.sort(key=lambda field: "\n" in field[1])  # one of several lines ends the line
    short = [_labelled(*field) for field in brief]
    long = [
        piece if place else piece._replace(text=_labelled(key, piece.text))
        for key, value in fields
        if not _is_brief(value)
        for place, piece in enumerate(passages(_REMOVED.sub(_replaced, value)).pieces)
    ]
    is_bare = not any(_WORD.search(value) and value not in _LITERALS for _, value in brief)
    if long and is_bare:
        short.insert(0, long.pop(0).text)
    if long and own is not None and GAP not in [value for _, value in brief]:
        parts = [(at, part) for at, piece in enumerate(long) for part in _parts([piece])]
        at, part = parts[min(own, len(parts) - 1)]
        piece = long.pop(at)
        before, _, after = piece.text.partition(part)
        if rest := f" {GAP} ".join(filter(None, (before.strip(), after.strip()))):
            long.insert(at, piece._replace(text=rest, continues=piece.continues or not own))
        if own:
            short.append(f"{GAP} {part}")
        elif is_bare:
            short[0] += f" {part}"
        else:
            short.append(part)
    head = ", ".join(short)
    yield from passages(f"{name} {head}".strip()).pieces
    yield from long
    for key, value in thoughts:
        yield Piece(_labelled(key, value), 0)


def _replaced(removed: re.Match[str]) -> str:
    return f"{GAP}\n+" if removed[1] else removed[0]


def _is_brief(value: str) -> bool:
    return len(value) <= _ARGUMENT and not isinstance(value, _Record)


def _without_what_is_replaced(fields: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The arguments; one of several lines, or a long one, is left out if the next says most of it.

    So is one of which the next, if it is such a text too, repeats a part. An edit names the old
    text and the new one, and the new one is what is there now. Of keys that a program sorted, the
    order says nothing, and all are told.
    """
    keys = list(dict.fromkeys(key for key, _ in fields))
    if len(keys) > 1 and keys == sorted(keys):
        yield from fields
        return
    for (key, value), (_, following) in pairwise([*fields, ("", "")]):
        words, others = set(value.split()), set(following.split())
        least = (_is_text(following) and min(len(words), len(others))) or len(words)
        is_replaced = _is_text(value) and len(words & others) >= max(1, least * _REPLACED)
        # without its key: what follows is not it
        yield ("", GAP) if is_replaced else (key, value)


def _is_text(value: str) -> bool:
    return not isinstance(value, _Record) and (len(value) > _ARGUMENT or "\n" in value)


def _labelled(key: str, value: str) -> str:
    return f"{key}: {value}" if key else value


def called(name: str, arguments: str) -> str:
    """The call's name with its arguments, or the beginning of long ones."""
    ((label, fields), *_) = calls_of(name, arguments)
    told = ", ".join(f"{key} {value}".strip() for key, value in fields)
    name = name or (label if len(label) <= _ARGUMENT else "")
    return f"{name}({told if len(told) <= _ARGUMENT else f'{told[:_ARGUMENT]}…'})"
