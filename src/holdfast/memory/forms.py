"""The warm and the cold form of a segment, made by rules: notes of it, and names that they lack.

Decisions come first, and long statements are cut into clauses. Missing names and amounts are listed
at the end, as far as there is room. Both forms are made from the original.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, Protocol, runtime_checkable

from holdfast.compressors.notes import Shortlist, telling_of
from holdfast.compressors.summaries import Told, in_context, lines_of, under_their_acts, written
from holdfast.content import heading, taken_apart
from holdfast.kernel.messages import Role
from holdfast.kernel.ports import Ask
from holdfast.selection import ordered_by_form, shortlist, table, with_context
from holdfast.stream import StreamEvent
from holdfast.text.acts import called
from holdfast.text.fit import SENTENCE, Count, Numbers, choose, clip
from holdfast.text.importance import concludes
from holdfast.text.memo import Memo
from holdfast.text.pieces import GAP, LONGEST, WHOLE, Piece, Reading, Telling, clauses, things
from holdfast.text.sentences import sentences
from holdfast.text.words import NEGATIONS, READ, words

from .entities import HEAD, LETTERS, SPEAKER, add_names, codes, glimpsed, named_in, with_names

VERBATIM, LIGHT, HEAVY = 0, 1, 2
"""Levels of compression (V.3): the original, the warm form, and the cold form."""

FACTORS = {LIGHT: (4.0, 3.2), HEAVY: (11.0, 8.2)}
"""For each level, the ratio by which a form is to be smaller, and the least ratio.

V.2 asks for 3:1 to 5:1 and 8:1 to 15:1; the difference leaves room for the list of names.
"""

KEPT = {LIGHT: 0.95, HEAVY: 0.80}
"""For each level, the share of the text's names that a model's form should have; with .9 and .6
forms keep as many."""

# least share of the statements in a form that also lists names. Half kept .676 of the names in cold
# forms of recorded runs instead of .666, but fewer of the decisions of a talk, and double .625
_SAID = 0.2
_SHOWN = 0.5  # the same where there are acts or outputs; half kept as many names, and fewer rows
# times the room of a form: so many characters of each text are read closely, and at least those
# below. Half kept as many names and double .652, and half and double of those below as many
_CLOSELY = 4
_READ = 1_500


class Condenser(Protocol):
    """Makes the warm or cold form of a text."""

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form at the level, in fewer tokens than the text."""
        ...


class Form(NamedTuple):
    """A form for which a model was asked. ``refused`` is the reason why rules made it instead."""

    text: str
    refused: str = ""
    asked: bool = True
    """False if the text is too short to be worth a request; then rules made the form, too."""


@runtime_checkable
class AskingCondenser(Condenser, Protocol):
    """A condenser that can ask a model; ``condense`` returns a form in the meantime."""

    def asking(self, text: str, level: int, count: Count) -> Generator[Ask[object], Any, Form]:
        """The form at the level. Raises ModelError if the model does not answer."""
        ...


@dataclass(frozen=True, slots=True)
class RuleCondenser:
    """Makes notes of a segment, as a digest does of a conversation, and lists names they lack."""

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form at the level; the text itself if the form would not be smaller."""
        size = count(text)
        events, most = events_in(text), room_for(size, level)
        close = Shortlist(max(_READ, _CLOSELY * len(text) / FACTORS[level][1]))
        tellings = [_telling(event, close) for event in events]
        pieces, under = in_context(events, tellings, range(len(events)))
        places = [(n, at) for n, telling in enumerate(tellings) for at in telling.numbers]

        def notes(kept: Numbers) -> str:
            chosen: dict[int, list[int]] = {}
            for event, at in map(places.__getitem__, kept):
                chosen.setdefault(event, []).append(at)
            return written(
                [
                    Told(events[n], lines_of(tellings[n].reading.pieces, chosen[n]))
                    for n in under_their_acts(chosen, events)
                ],
                "",
            )

        said = {n for n, event in enumerate(events) if event.function not in ("act", "outcome")}
        spoken = named_in("\n".join(events[n].text for n in sorted(said)))
        named = codes(chain.from_iterable(telling.names for telling in tellings)) | spoken
        decided = [
            n for n, (event, _) in enumerate(places) if event in said and concludes(pieces[n].text)
        ]
        # what a kind names is worth a pattern: with half, .49 of the templates of real logs are
        # kept in cold forms instead of .64, and with double .64, but fewer of their failures
        ranked = ordered_by_form(
            [piece.text for piece in pieces],
            list(chain.from_iterable(telling.tells for telling in tellings)),
            decided,
            [table().pattern * len(piece.labels) for piece in pieces],
        )
        order = list(dict.fromkeys(chain.from_iterable(with_context(under, n) for n in ranked)))
        costs = [piece.cost for piece in pieces]
        room = max(int(size / FACTORS[level][0]), min(SENTENCE, most))
        share = _SAID if len(said) == len(events) else _SHOWN
        if count(with_names("", named)) <= (1 - share) * room:
            kept = choose(order, costs, lambda some: with_names(notes(some), named), room, count)
        else:
            owed = count(notes(decided))
            room = int(max(share * most, min(owed, (1 - _SAID) * most)))
            telling = [
                n for n in order if n in decided or any(name in pieces[n].text for name in named)
            ]
            kept = choose(telling, costs, notes, room, count)
        form = notes(kept)
        if order and order[0] not in kept and (decided or not named):
            form = clip(notes(order[:1]), room, count, mark=GAP)
        form = add_names(form, named, most, count, spoken)
        return form if form and count(form) <= size else text


def room_for(size: int, level: int) -> int:
    """The largest size of a form of a text with this size, in tokens."""
    return max(int(size / FACTORS[level][1]), min(SENTENCE, size - 1))


_SAYING = ("words", "notes")


def _telling(event: StreamEvent, close: Shortlist) -> Telling:
    """The pieces of the event; of what was said, these are clauses, which are shorter."""
    if event.function not in _SAYING:
        return telling_of(event, close)
    pieces = [
        Piece(clause, at, continues=number > 0)
        for at, line in enumerate(event.text.split("\n"))
        for number, clause in enumerate(chain.from_iterable(map(_clauses, sentences(line))))
        if LETTERS.search(clause)
    ]
    numbers = shortlist(pieces, close.most)
    chosen = tuple([pieces[number] for number in numbers])
    named = tuple([things(piece.text) for piece in chosen])
    return Telling(event.text, Reading(tuple(pieces), 1), numbers, chosen, named)


def _clauses(sentence: str) -> list[str]:
    """Its clauses; what denies or decides something is not parted, or might say the opposite."""
    longest = LONGEST // 2
    if len(sentence) <= longest:  # as most are
        return clauses(sentence)
    stays = concludes(sentence) or not NEGATIONS.isdisjoint(words(sentence))
    return clauses(sentence, longest, WHOLE if stays else 0)


# the text of a turn, in which each part begins with who said it

_ROLES: dict[str, Role] = {"User": "user", "Assistant": "assistant", "System": "system"}
CALL, RESULT = "Call", "Result"
_OUTPUT = 600  # characters of a message above which its kind is looked for, which takes time


class Block(NamedTuple):
    """A part of a text, from the name at its start on; ``body`` is what the name says."""

    start: int
    name: str
    body: str
    act: int = -1
    """Of a result, the number of its call in the text, or -1 if it is not there."""


@Memo
def blocks(text: str) -> tuple[Block, ...]:
    """The parts of the text; kept, since it is read again for each piece of a long turn."""
    heads = list(HEAD.finditer(text))
    if not heads and taken_apart(glimpsed(text)) is None:
        heads = list(SPEAKER.finditer(text))
    ends = [*(head.start() for head in heads), len(text)]
    found = [Block(0, "", text[: ends[0]].removesuffix("\n"))] if ends[0] else []
    waiting: deque[int] = deque()
    for head, end in zip(heads, ends[1:], strict=True):
        name, act = head.group()[:-2], -1
        if name == RESULT:
            act = waiting.popleft() if waiting else -1
        elif name != CALL or (found and found[-1].name == RESULT):
            waiting.clear()
        if name == CALL:
            waiting.append(len(found))
        found.append(Block(head.start(), name, text[head.end() : end].removesuffix("\n"), act))
    return tuple(found)


def opening(text: str, start: int, end: int) -> str:
    """The context of the piece from start to end: its calls, shortened, and its speaker.

    The calls are those whose results are in the piece. If it begins within a table, the header
    of the table follows.
    """
    parts = blocks(text)
    at = bisect_right(parts, start, key=lambda part: part.start) - 1
    after = bisect_left(parts, end, key=lambda part: part.start)
    answered = (part.act for part in parts[at:after] if 0 <= part.act < at)
    calls = "".join(f"{CALL}: {called(*_call(parts[act]))}\n" for act in answered)
    part = parts[at]
    if part.start == start or not part.name:
        return calls
    if part.name == CALL:
        return f"{calls}{CALL}: {_call(part)[0]}("
    header = heading(part.body[:READ]) if text[start - 1] == "\n" else ""
    return f"{calls}{part.name}: {header}\n" if header else f"{calls}{part.name}: "


def _call(part: Block) -> tuple[str, str]:
    """The name and the arguments of a call; a shortened one has no closing bracket."""
    name, _, arguments = part.body.partition("(")
    return name, arguments.removesuffix(")")


def events_in(text: str) -> list[StreamEvent]:
    """The events in the text of a segment or a piece.

    Text before the first named part is the end of a message: of a result, or of words.
    """
    return list(map(_event, blocks(text)))


def _event(part: Block) -> StreamEvent:
    name, body = part.name, part.body
    if name == CALL:
        return StreamEvent("act", *_call(part), 0, 0)
    is_output = (not name or len(body) > _OUTPUT) and taken_apart(body) is not None
    if name == RESULT or (is_output and not name):
        return StreamEvent("outcome", "tool", body, 0, 0, part.act)
    if name in _ROLES:
        return StreamEvent("material" if is_output else "words", _ROLES[name], body, 0, 0)
    return StreamEvent("notes", "assistant", body, 0, 0, speaker=name)
