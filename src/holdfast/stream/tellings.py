"""The pieces of events, the things in each piece, and their use; cached by content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import inf
from typing import NamedTuple

from holdfast.content import recognise
from holdfast.content.lossy import LossyKind
from holdfast.content.structured.values import Value, dump, values_in
from holdfast.selection.order import shortlist
from holdfast.selection.pieces import Piece, Reading, of_line, passages
from holdfast.selection.things import WORDS, Form, form, look, quoted, shape, things
from holdfast.selection.weights import Use
from holdfast.text.memo import Memo

from .events import StreamEvent
from .texts import unfenced

_ARGUMENT = 100  # characters of an argument that are shown beside the name of the call


class Telling(NamedTuple):
    """The pieces of an event (``reading``); ``numbers`` are those that may be chosen, ascending.

    Of these, ``tells`` are the things in each, ``forms`` its form, and ``costs`` its characters, as
    ``Piece.cost`` counts them. ``names`` counts the pieces that have each name; ``crowd`` is the
    number of all things.
    """

    reading: Reading
    numbers: Sequence[int]
    tells: tuple[tuple[str, ...], ...]
    forms: tuple[Form, ...]
    costs: tuple[int, ...]
    names: Mapping[str, int]
    crowd: int
    quoted: frozenset[str]


class Closely(NamedTuple):
    """How many characters of a long text are ranked, and what else decides which."""

    most: float = inf
    question: str = ""
    used: frozenset[str] = frozenset()
    """Names that occur elsewhere in the conversation."""


_WHOLE = Closely()


def telling_of(event: StreamEvent, closely: Closely = _WHOLE) -> Telling:
    """The pieces of the event; ``closely`` says which of a longer text are ranked."""
    if event.function == "act":
        return _TELLINGS(("act", event.by, event.text, closely))
    if event.function in ("outcome", "material"):
        return _TELLINGS(("returned", "", event.text, closely))
    return _TELLINGS(("said", "", event.text, closely))


def _make_telling(key: tuple[str, str, str, Closely]) -> Telling:
    how, name, text, closely = key
    if how == "act":
        reading = Reading(tuple(_act(name, text)), 1)
    elif how == "returned":
        kind = recognise(text)
        reading = (
            kind.reading(text)
            if isinstance(kind, LossyKind) and kind.takes_apart
            else passages(text)
        )
    else:
        reading = passages(text)
    numbers = shortlist(reading.pieces, *closely)
    pieces = [reading.pieces[number] for number in numbers]
    named = [things(piece.names) for piece in pieces]
    names = Counter(chain.from_iterable(named))
    crowd = len({thing for piece in pieces for thing in piece.things if thing not in names})
    return Telling(
        reading,
        numbers,
        tuple([(*mine, *piece.things) for mine, piece in zip(named, pieces, strict=True)]),
        tuple(map(form, named)),
        tuple([piece.cost for piece in pieces]),
        names,
        len(names) + crowd,
        frozenset(quoted(text) if how != "act" else ()),
    )


_TELLINGS: Memo[tuple[str, str, str, Closely], Telling] = Memo(_make_telling)


def _act(name: str, text: str) -> Iterator[Piece]:
    """The pieces of each call in an act: its short arguments on one line, under it the long ones.

    Without a short argument, the first passage stands on the line: a bare name says nothing.
    """
    above = 0
    for label, fields in _calls(name, text):
        at = above
        for piece in _call(label, fields):
            yield piece._replace(under=above if at > above else -1)
            at += 1
        above = at


def _calls(name: str, text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """The calls of an act, each with its arguments: the JSON objects of which most of it consists.

    If the act is written as text, what stands before an object says what is called. An act without
    such objects is one call with one argument.
    """
    bare = unfenced(text)
    found: list[tuple[str, list[tuple[str, str]]]] = []
    label, covered = name, 0
    for part, values in values_in(bare):
        for value in values:
            found.append((" ".join(label.split()), list(_fields(value))))
            covered += len(part)
        label = "" if values else f"{label} {part}"
    return found if found and 2 * covered >= len(bare) else [(name, [("", bare)])]


def _call(name: str, fields: Sequence[tuple[str, str]]) -> Iterator[Piece]:
    short = [_labelled(*field) for field in fields if len(field[1]) <= _ARGUMENT]
    long = [
        piece if place else piece._replace(text=_labelled(key, piece.text))
        for key, value in fields
        if len(value) > _ARGUMENT
        for place, piece in enumerate(passages(value).pieces)
    ]
    head = ", ".join(short)
    if long and not short:
        head = long.pop(0).text
    yield from of_line(f"{name} {head}".strip(), 0)
    yield from long


def _labelled(key: str, value: str) -> str:
    return f"{key}: {value}" if key else value


def _fields(value: Value, key: str = "") -> Iterator[tuple[str, str]]:
    """The values inside a value that are no objects, as text, each with its key."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _fields(each, name)
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for each in value:
            yield from _fields(each, key)
    else:
        yield key, str(value) if isinstance(value, str) else dump(value)


def called(name: str, arguments: str) -> str:
    """The call's name with its arguments, or the beginning of long ones."""
    ((_, fields), *_) = _calls(name, arguments)
    told = ", ".join(f"{key} {value}".strip() for key, value in fields)
    return f"{name}({told if len(told) <= _ARGUMENT else f'{told[:_ARGUMENT]}…'})"


def uses_of(events: Sequence[StreamEvent], tellings: Sequence[Telling]) -> dict[str, Use]:
    """The use of each name over all events; distances are counted in events."""
    uses: dict[str, Use] = {}
    for now, (event, telling) in enumerate(zip(events, tellings, strict=True)):
        is_act = event.function == "act"
        is_agents = is_act or event.by == "assistant"
        crowd = max(telling.crowd, 1)
        for thing, pieces in telling.names.items():
            use = uses.get(thing)
            if use is None:
                use = uses[thing] = Use(crowd, now)
            elif crowd < use.crowd:
                use.crowd = crowd
            use.events += 1
            use.pieces += pieces
            use.last = now
            if is_agents:
                use.by_agent += 1
                use.last_by_agent = now
                use.acts += is_act
        for thing in telling.quoted:
            if thing in uses:
                uses[thing].is_quoted = True
    _note_what_is_next(events, tellings, uses)
    return uses


def _note_what_is_next(
    events: Sequence[StreamEvent], tellings: Sequence[Telling], uses: Mapping[str, Use]
) -> None:
    """Set ``taken`` of the ids beside those that a later act names on its first line.

    An agent that opens the entries of a list one by one needs the rest of the list.
    """
    opened = _opened(events, tellings, uses)
    for number, (event, telling) in enumerate(zip(events, tellings, strict=True)):
        if event.function == "act":
            continue
        from_here = {t for t in opened.keys() & telling.names.keys() if opened[t] > number}
        for told in telling.tells if from_here else ():
            here = from_here.intersection(told)
            if not here:
                continue
            looks = list(map(look, told))
            all_alike, taken = Counter(looks), Counter(map(look, here))
            for thing, like in zip(told, looks, strict=True):
                if like in taken and (use := uses.get(thing)) and not use.by_agent:
                    use.taken = max(use.taken, taken[like] / (all_alike[like] - 1))


def _opened(
    events: Sequence[StreamEvent], tellings: Sequence[Telling], uses: Mapping[str, Use]
) -> dict[str, int]:
    """The ids that an act names on its first line after they appeared, and the first such act."""
    opened: dict[str, int] = {}
    for now, (event, telling) in enumerate(zip(events, tellings, strict=True)):
        if event.function == "act" and telling.tells:
            for thing in telling.tells[0]:
                if shape(thing) not in WORDS and uses[thing].first < now:
                    opened.setdefault(thing, now)
    return opened
