"""The pieces of events, and the text of notes that shows some of them.

``notes`` chooses the pieces. Notes that are handed back are read as events again, and a ``Draft``
has the edits that put notes and shortened parts into a conversation.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from holdfast.content import taken_apart
from holdfast.kernel.edits import Drop, Edit, Offload, Replace
from holdfast.kernel.messages import Texts, ToolResult
from holdfast.selection import shortlist
from holdfast.stream import Events, Function, StreamEvent
from holdfast.text.acts import pieces_of_act, shared_parts
from holdfast.text.importance import alarm
from holdfast.text.memo import Memo
from holdfast.text.pieces import (
    GAP,
    Piece,
    Reading,
    TextPieces,
    heading_of,
    passages,
    things_in,
    writer,
)
from holdfast.text.question import asks
from holdfast.text.visible import as_shown

from .references import Place
from .summaries import REFERENCE, Placed, mark
from .tool_outputs import left_out

if TYPE_CHECKING:
    from .select import Selection

# the pieces of events


class Shortlist(NamedTuple):
    """How many characters of a long text are ranked, and what else decides which."""

    most: float = inf
    question: str = ""
    used: frozenset[str] = frozenset()
    """Names that occur elsewhere in the conversation."""


_WHOLE = Shortlist()


def pieces_of(event: StreamEvent, limits: Shortlist = _WHOLE, own: int | None = None) -> TextPieces:
    """The pieces of the event; ``limits`` says which of a longer text are ranked.

    ``own`` is for an act if others have the same first line: see ``pieces_of_act``.
    """
    has_name = event.function == "act" or event.is_users_words
    name = event.by if has_name else ""
    return _pieces_of((event.function, name, event.content, limits, own))


@Memo
def _pieces_of(key: tuple[Function, str, str, Shortlist, int | None]) -> TextPieces:
    function, name, text, limits, own = key
    is_act = function == "act"
    if is_act:
        reading = Reading(tuple(pieces_of_act(name, text, own)), 1)
    elif function in ("outcome", "material"):
        text = as_shown(text)
        reading = taken_apart(text) or passages(text)
    else:
        reading = passages(text, said=name == "user")
    numbers, pieces = shortlist(reading.pieces, *limits), reading.pieces
    if len(numbers) < len(pieces):
        pieces = tuple([pieces[number] for number in numbers])
    named = tuple([things_in(piece.unnumbered) for piece in pieces])
    return TextPieces(text, reading, numbers, pieces, named, is_act)


def texts_of(events: Events, most: float, question: str) -> list[TextPieces]:
    """The pieces of each event; of a text of more than ``most`` characters, only a shortlist."""
    short = {n: pieces_of(event) for n, event in enumerate(events) if len(event.text) <= most}
    names = [each.counts for each in short.values()] if len(short) < len(events) else []
    limits = Shortlist(most, question, frozenset[str]().union(*names))
    texts = [short.get(n) or pieces_of(event, limits) for n, event in enumerate(events)]
    acts = {event[:3]: n for n, event in enumerate(events) if event.function == "act"}
    alike = defaultdict[tuple[str, Sequence[Piece]], list[int]](list)
    for (_, by, _), number in acts.items():
        alike[by, texts[number].reading.pieces[:1]].append(number)
    shared = {
        line: shared_parts([texts[n].reading.pieces for n in group])
        for line, group in alike.items()
        if len(group) > 1
    }
    for number, event in enumerate(events):
        line = event.by, texts[number].reading.pieces[:1]
        if event.function == "act" and line in shared:
            own = shared[line]
            texts[number] = pieces_of(event, _WHOLE if number in short else limits, own)
    return texts


def in_context(
    events: Events, texts: Sequence[TextPieces], among: Iterable[int]
) -> tuple[list[Piece], list[int]]:
    """The pieces of some events that may be chosen, and for each the place of its context, or -1.

    The pieces of an outcome are under the first piece of its act. Those of a failed outcome are
    under the reason of the failure: its last piece with the worst sign of trouble.
    """
    found: list[Piece] = []
    parents: list[int] = []
    heads: dict[int, int] = {}
    for number in among:
        text, base = texts[number], len(found)
        if text.numbers:  # a call without a name and arguments has no piece
            heads[number] = base
        act = heads.get(events[number].act, -1)
        found += text.pieces
        parents += [base + above if above >= 0 else act for above in text.parents]
        if events[number].failed and text.numbers:
            _, reason = max((alarm(piece.text), at) for at, piece in enumerate(found[base:], base))
            if parents[reason] == act:
                parents[base:] = [reason if above == act else above for above in parents[base:]]
                parents[reason] = act
    return found, parents


class PiecePlace(NamedTuple):
    """Where a piece is: the number of its event, and its own number there."""

    event: int
    number: int
    """The number of the piece within its event."""


# least share of the characters of a text's lines that a later version of it has; 0.25 and 0.75 kept
# as much
_MOST_LINES = 0.5
# least share of a piece's names in a version that replaces it; 0.25, 0.75 and 1 kept as much
_MOST_NAMES = 0.5


def older_versions(events: Events, texts: Sequence[TextPieces]) -> dict[PiecePlace, bool]:
    """The pieces that a later version of their text repeats (True) or replaces (False).

    The version is by the same speaker, and has most of what stands between the first and the last
    line that both have. A piece between them is replaced if the version has most of its names: a
    frame that is the same around every output is not enough. Pieces outside are not among them:
    the version may only show another part, as of a file.
    """
    older: dict[PiecePlace, bool] = {}
    spoken = defaultdict[tuple[str, str, str], dict[str, int]](dict)
    for number in reversed(range(len(events))):
        event, text = events[number], texts[number]
        newer = spoken[event.function, event.by, event.speaker]
        lines = text.all_lines
        shared = defaultdict[int, int](int)
        for line in newer.keys() & lines:
            shared[newer[line]] += len(line)
        newer.update(dict.fromkeys(lines, number))
        # empty lines say nothing, and a yes is told with its own question
        if not any(shared.values()) or is_answer(events, number):
            continue
        version = texts[max(shared, key=lambda n: (shared[n], n))]
        there = version.all_lines
        sizes = [sum(map(len, mine)) for mine in text.lines]
        same = [sum(len(line) for line in mine if line in there) for mine in text.lines]
        first, *_, last = 2 * [place for place, size in enumerate(same) if size]
        if sum(same) < _MOST_LINES * sum(sizes[first : last + 1]):
            continue
        for place in range(first, last + 1):
            things = text.things[place]
            is_repeated = same[place] == sizes[place]
            named = sum(thing in version.counts for thing in things)
            if is_repeated or named >= _MOST_NAMES * len(things):
                older[PiecePlace(number, text.numbers[place])] = is_repeated
    return older


# characters of an answer that means little without its question; with 80, .886 of planted
# statements stayed at 10% instead of .889
_ANSWER = 40


def is_answer(events: Events, number: int) -> bool:
    """Whether a user answers in a few words what an assistant asked directly before."""
    answer, question = events[number], events[number - 1]
    is_question = question.by == "assistant" and question.function == "words"
    is_short = number > 0 and answer.is_users_words and len(answer.text) <= _ANSWER
    return is_short and is_question and asks(question.content)


# pieces as the text of notes, and back

HEADING = "Notes on the main points so far (… marks what is left out):"
"""The usual first line."""

SAID = "What the user said:"
DONE = "What was said and done, step by step:"
ANSWERED = "user answered"
"""The label of a user's answer, below the question among the steps."""
_OURS = ("- ", "> ", SAID, DONE)
_LINE = re.compile(
    rf"\n(?:({SAID}|{DONE})(?=\n|\Z)"
    rf"|(?:(> )|- )(failed: )?(?:(?<=- )×(\d{{1,6}}) )?(?:(?<=- )(user|assistant|{ANSWERED}): )?)"
)
_AS_OURS = re.compile(f"^ (?={'|'.join(_OURS)})", re.MULTILINE)


class NoteEntry(NamedTuple):
    """An event, and the lines on it in the notes."""

    event: StreamEvent
    lines: Sequence[str]
    failed: bool = False
    """Whether it is an act that failed and whose outcome is not in the notes."""
    times: int = 1
    """How often it was done, if the notes tell only the last time."""
    answers: bool = False
    """Whether it is a user's answer to the question before it, which the notes tell too."""


def write_notes(entries: Sequence[NoteEntry], heading: str, tail: Sequence[str] = ()) -> str:
    """The text of the notes; without a heading it is a bare list in order of time."""
    said: list[str] = []
    done: list[str] = []
    for each in entries:
        users = f"- {ANSWERED}: " if each.answers else "- "
        label = _label(each, users if heading else "- user: ")
        name = f"{each.event.speaker}: " if each.event.speaker else ""
        first, *others = "\n".join(each.lines).split("\n")
        is_act = label == "- " and not each.event.is_users_words
        # what looks like one of the notes' own lines, or an act like an answer, is indented
        if first.startswith(_OURS if not label else f"{ANSWERED}: " if is_act else ()):
            first = f" {first}"
        others = [f" {line}" if line.startswith(_OURS) else line for line in others]
        is_said = heading and each.event.is_users_words and not each.answers
        lines = said if is_said else done
        lines += [f"{label}{name}{first}", *others]
    if heading:
        said = [heading, SAID, *said] if said else [heading]
        done = [DONE, *done] if done else []
    return "\n".join([*said, *done, *tail])


def read_notes(body: str, role: str) -> list[StreamEvent]:
    """The events of notes that are handed back, as if of message 0; a summary is one event.

    What users said is read as their words again, unless the notes are an assistant's message, whose
    words are no orders. References to originals at the end are left out: they are saved with the
    notes.
    """
    user = "assistant" if role == "assistant" else "user"
    found: list[StreamEvent] = []
    section, last_act = "", -1
    lines = body.split("\n")
    while lines and lines[-1].startswith(REFERENCE):
        lines.pop()
    _, *parts = _LINE.split("\n".join(lines))
    for title, returned, failed, times, speaker, lines in zip(*[iter(parts)] * 6, strict=True):
        section = title or section
        if title or not section:
            continue
        function: Function = "words"
        by, text, act = user, _AS_OURS.sub("", lines), -1
        if section == SAID:  # what looks like a label here was typed by a user
            labels = failed, times and f"×{times} ", speaker and f"{speaker}: "
            text = "".join(filter(None, [*labels, text]))
        elif speaker == ANSWERED:
            pass
        elif speaker:  # another entry of a user among the steps is material that was passed on
            function, by = "words" if speaker == "assistant" else "material", speaker
        elif returned:
            function, by, act = "outcome", "tool", last_act
        else:
            function, last_act = "act", len(found)
            name, space, arguments = text.partition(" ")
            by, text = space and name, arguments or name
        fails = bool(failed) and section == DONE
        event = StreamEvent(function, by, text, 0, 0, act, fails, from_notes=True)
        found.append(event._replace(times=int(times or 1)))
    return found or [StreamEvent("notes", role, body, 0, 0, from_notes=True)]


def outcomes_below_acts(numbers: Collection[int], events: Events) -> list[int]:
    """The numbers of events in their order, but each outcome's after its act's, if that is there.

    Calls may be made together, and then their outcomes come after the last of them.
    """
    acts = ((events[number].act, number) for number in numbers)
    return [n for _, n in sorted([(act if act in numbers else n, n) for act, n in acts])]


def lines_of(pieces: Sequence[Piece], chosen: Sequence[int]) -> list[str]:
    """The chosen pieces of an event in lines, with marks for gaps; ``chosen`` is ascending."""
    reached = 0
    lines: list[str] = []
    for number in chosen:
        piece = pieces[number]
        if piece.continues and number == reached:
            lines[-1] += f" {piece.text}"
        else:
            if number > reached:
                if lines:
                    lines[-1] = with_gap(lines[-1])
                lines += heading_of(piece, pieces[number - 1])
            lines += piece.text.split("\n")
        reached = number + 1
    if reached < len(pieces):
        lines[-1] = with_gap(lines[-1])
    lines[0] = lines[0].lstrip()
    if chosen[0] and not lines[0].startswith(GAP):
        lines[0] = f"{GAP} {lines[0]}"
    return lines


def with_gap(line: str) -> str:
    """The line with a mark that something is left out behind it."""
    return line if line.endswith(GAP) else f"{line} {GAP}"


def _label(entry: NoteEntry, users: str) -> str:
    event = entry.event
    if event.function == "notes":
        return ""
    if event.function == "outcome" or event.is_unclear:
        return "> failed: " if event.failed else "> "
    if event.function in ("words", "material"):
        return users if event.is_users_words else f"- {event.by}: "
    if entry.failed:
        return "- failed: "
    return f"- ×{entry.times} " if entry.times > 1 else "- "


# the draft of a plan

TOLD, LEFT_OUT = "in the notes", "not in the notes"
"""The reason of a drop: notes have pieces of the message, or none of its whole exchange."""
IN_PART = "shortened"
"""The reason for a new text of a part that stays."""
ASIDE = "[…]"
"""Stands for a text of which no piece is kept."""
_TASK = "too long for the budget: its middle is left out"

ShorterTask = Mapping[int, Texts]
"""New texts of the user's first message, under its position; empty if it stays whole."""
Written = tuple[str, dict[int, str]]
"""The notes, and the new text of each shortened event that stays in place."""


@dataclass(slots=True)
class Draft:
    """What a plan says, once the pieces are chosen; what was counted is not written again."""

    selection: "Selection"
    tail: tuple[str, ...]
    """The last lines of the notes."""
    place: Placed | None
    """Where the notes are inserted; None if nothing goes."""
    ends: Mapping[int, str]
    """The beginning and end of shortened events, in case no piece of them is chosen."""
    _known: dict[tuple[int, ...], Written] = field(default_factory=dict[tuple[int, ...], Written])

    def tokens(self, chosen: Sequence[int]) -> int:
        """Tokens of the chosen pieces, in notes and in place."""
        notes, texts = self._written(chosen)
        meter, place = self.selection.meter, self.place
        tokens = sum(map(meter.text, texts.values()))
        if notes and place:
            tokens += meter.text(mark(notes, place.role)) + place.tokens(meter)
        return tokens

    def edits(self, chosen: Sequence[int], task: ShorterTask) -> Iterator[Edit]:
        """The edits, with these new texts of the ``task``."""
        notes, texts = self._written(chosen)
        going = self.selection.going
        if not notes:
            going = sorted(self.selection.without_notes(set(going)))
        if self.place is not None:
            # notes replace messages with the calls and results that belong to them
            candidates = self.selection.candidates
            told = {candidates.events[candidates.places[n].event].message for n in chosen}
            units = (unit for unit in self.selection.transcript.units if not told.isdisjoint(unit))
            noted = set(chain.from_iterable(units)).intersection(going)
            for reason, some in ((TOLD, noted), (LEFT_OUT, set(going) - noted)):
                if some:
                    yield Drop(tuple(sorted(some)), reason)
            if notes:
                text, covers = mark(notes, self.place.role), (going[0], going[-1])
                yield from self.place.inserts(text, TOLD, covers)
        for (i, part), text in self._parts(texts):
            reference = self.selection.references.get((i, part))
            is_users = self.selection.transcript.messages[i].role == "user"
            if reference and not is_users:
                yield Offload(i, part, text, reference.key, IN_PART)
            else:
                yield Replace(i, part, text, IN_PART, asked=is_users)
        for i, shorter in task.items():
            for part, text in shorter.items():
                yield Replace(i, part, text, _TASK, asked=True)

    def _written(self, chosen: Sequence[int]) -> Written:
        key = tuple(chosen)
        if key in self._known:
            return self._known[key]
        candidates, in_place = self.selection.candidates, self.selection.in_place
        found = candidates.by_event(chosen)
        entries = candidates.entries(found, in_place)
        texts = {number: self.ends.get(number, ASIDE) for number in sorted(in_place)}
        for number, pieces in found.items():
            if number in in_place:
                reading = candidates.texts[number].reading
                event, is_whole = candidates.events[number], len(pieces) == len(reading.pieces)
                shown = event.content if is_whole else writer(reading)(pieces)
                texts[number] = event.text.replace(event.content, shown, 1)
        heading = self.selection.knobs.heading
        notes = write_notes(entries, heading, self.tail) if entries or self.tail else ""
        self._known[key] = notes, texts
        return notes, texts

    def _parts(self, texts: Mapping[int, str]) -> Iterator[tuple[Place, str]]:
        """The place and new text of each part with a shortened event."""
        events = self.selection.candidates.events
        parts = defaultdict[Place, list[str]](list)
        for number, event in enumerate(events):
            parts[event.message, event.part].append(texts.get(number, event.text))
        for place in sorted({(events[number].message, events[number].part) for number in texts}):
            lines = parts[place]
            if "\n".join(lines) == self.selection.text_at(place):
                continue  # nothing is left out
            part = self.selection.transcript.messages[place[0]].parts[place[1]]
            if isinstance(part, ToolResult) and part.media:
                lines.append(left_out(part.media))
            if reference := self.selection.references.get(place):
                lines.append(reference.line)
            yield place, "\n".join(lines)
