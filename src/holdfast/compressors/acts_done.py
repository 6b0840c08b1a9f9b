"""What became of acts: which were done again, which changed something, and what is left to do."""

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from holdfast.selection import Use, table
from holdfast.stream import Events, failed_acts, outcomes_of
from holdfast.text.pieces import IdFormat, TextPieces, id_format, shape_of

_AGAIN = 0.9  # share of their names that acts which do the same have in common; 0.8 kept as much
# share of the ids in what an act returns that may be new if it was done for what it changes; of
# made-up runs with 416 such outcomes .83 are told at 30% and .70 at 15% instead of .74 and .64
_NEWS = 0.25
_LISTING = 3  # rows that begin with ids of one format; fewer are no listing that acts go through
# factors of a row's value if an act took it, and if it was never named. In ten kinds of made-up
# runs .767 of what comes next is kept at 30% and .662 at 15% instead of .720 and .648, with 2 for
# the second .781 and .678, but less of agents that write acts as text and of customer service
_DONE, _TO_BE_DONE = 0.5, 1.5


class Repeats(NamedTuple):
    """Acts that do the same.

    They have the same ids, nearly the same words, and on the first line the same names in the same
    order.
    """

    again: dict[int, int]
    """For each act that is done again later, the newest.

    An act that failed is not the repetition of one that succeeded.
    """
    done_before: dict[int, int]
    """For each act that failed after it had succeeded, the newest that succeeded."""


def repeats(events: Events, texts: Sequence[TextPieces]) -> Repeats:
    """The acts that do the same."""
    newest: dict[tuple[str, Sequence[str], AbstractSet[str]], int] = {}
    again: dict[int, int] = {}
    done_before: dict[int, int] = {}
    failed = failed_acts(events)
    for number, event in reversed([*enumerate(events)]):
        if event.function != "act":
            continue
        names, line = texts[number].act_things, _first_line(texts[number])
        marks = [name for name in line if shape_of(name) != "word"]
        keys = [(event.by, tuple(marks), each) for each in (names, frozenset(texts[number].ids))]
        for last in filter(None, map(newest.get, keys)):
            others, other_line = texts[last].act_things, _first_line(texts[last])
            is_turned = line != other_line and sorted(line) == sorted(other_line)
            if is_turned or len(names & others) < _AGAIN * len(names | others):
                continue
            if last in failed and number not in failed:
                done_before.setdefault(last, number)
            else:
                again.setdefault(number, last)
        newest |= dict.fromkeys(keys, again.get(number, number))
    return Repeats(again, done_before)


def _first_line(text: TextPieces) -> Sequence[str]:
    return text.things[0] if text.things else ()


def superseded(events: Events, texts: Sequence[TextPieces], again: Mapping[int, int]) -> set[int]:
    """The numbers of acts that are done ``again``, and of their outcomes: the newest are enough.

    An act stays if its outcome is longer than one piece, did not fail, and has names that the
    outcome of the later act lacks.
    """
    found: set[int] = set()
    outcomes, names = outcomes_of(events), [text.counts.keys() for text in texts]
    for number, last in again.items():
        outcome = outcomes.get(number, number)
        is_clear = events[outcome].function == "outcome"  # else a person may have said it
        is_short = outcome == number or (is_clear and len(texts[outcome].numbers) <= 1)
        newest = outcomes.get(last, last)
        if is_short or events[outcome].failed or names[outcome] <= names[newest]:
            found |= {number, outcome}
    return found


def newest_outcomes(
    events: Events,
    texts: Sequence[TextPieces],
    again: Mapping[int, int],
    candidates: Mapping[int, Sequence[int]],
) -> dict[int, int]:
    """For the first piece of each act that is done ``again``, what is new in the newest outcome.

    It is the present state; what the act returned before is out of date. Pieces are told by their
    numbers among the ``candidates`` of all events.
    """
    outcomes = outcomes_of(events)
    found: dict[int, int] = {}
    for act, newest in again.items():
        outcome = outcomes.get(newest, -1)
        if outcome in candidates and act in candidates:
            known = texts[outcomes.get(act, act)].counts
            fresh = [
                (len({*things}.difference(known)), number)
                for things, number in zip(texts[outcome].things, candidates[outcome], strict=True)
            ]
            found[candidates[act][0]] = max(fresh)[1]
    return found


def worth_of_changes(
    events: Events, texts: Sequence[TextPieces], uses: Mapping[str, Use], again: Container[int]
) -> dict[tuple[int, int], float]:
    """The value of acts that were done for what they change, and of what is said of it.

    A key is the number of an event, and that of its first piece. Such acts return hardly an id that
    was not named before. What they name is told by what listed it, and only the act tells that it
    is done; of acts that are done ``again``, the newest. One that names nothing but itself says
    little.
    """
    worth: dict[tuple[int, int], float] = {}
    for act, number in outcomes_of(events).items():
        text, outcome = texts[number], events[number]
        if outcome.function != "outcome" or outcome.failed or not text.counts:
            continue
        fresh = sum(uses[name].first == number for name in text.ids)
        if fresh <= max(1, _NEWS * len(text.ids)) and len(texts[act].counts) > 1:
            if act not in again:
                worth[act, 0] = table().changed
            if len(text.numbers) == 1:
                worth[number, 0] = table().changed / 2
    return worth


def listing_factors(
    events: Events, texts: Sequence[TextPieces], uses: Mapping[str, Use]
) -> dict[tuple[int, int], float]:
    """The factors of the values of rows, where acts go through a listing one row after another.

    A key is the number of an event and that of its piece. The rows of a listing begin with ids of
    one format. A row that an act has named since is done and may be out of date; one that the agent
    has not named is yet to be done.
    """
    taken = _first_acts(events, texts)  # an act before a listing took its id from elsewhere
    worth: dict[tuple[int, int], float] = {}
    for number, event in enumerate(events):
        text = texts[number]
        done = {name for name in taken.keys() & text.ids if taken[name] > number}
        if event.function != "outcome" or not done:
            continue
        listings, ids = defaultdict[IdFormat, list[tuple[int, str]]](list), {*text.ids}
        for at, names in zip(text.numbers, text.things, strict=True):
            if names and names[0] in ids:
                listings[id_format(names[0])].append((at, names[0]))
        for rows in listings.values():
            if len(rows) < _LISTING or done.isdisjoint(name for _, name in rows):
                continue
            for at, name in rows:
                if name in done:
                    worth[number, at] = _DONE
                elif not uses[name].by_agent:
                    worth[number, at] = _TO_BE_DONE
    return worth


def _first_acts(events: Events, texts: Sequence[TextPieces]) -> dict[str, int]:
    """The first act that names each id on its first line."""
    return {
        name: number
        for number, (event, act) in reversed([*enumerate(zip(events, texts, strict=True))])
        if event.function == "act" and act.things
        for name in {*act.ids}.intersection(act.things[0])
    }


def note_taken_ids(events: Events, texts: Sequence[TextPieces], uses: Mapping[str, Use]) -> None:
    """Set ``taken`` of the ids beside those that a later act names on its first line.

    An agent that opens the entries of a list one by one needs the rest of the list.
    """
    opened = _first_acts(events, texts)
    for number, event in enumerate(events):
        if event.function == "act":
            continue
        text = texts[number]
        from_here = {t for t in opened.keys() & text.ids if opened[t] > number}
        for things in text.things if from_here else ():
            here = from_here.intersection(things)
            if not here:
                continue
            formats, taken = list(map(id_format, things)), list(map(id_format, here))
            for thing, own in zip(things, formats, strict=True):
                if own in taken and not (use := uses[thing]).by_agent:
                    use.taken = max(use.taken, taken.count(own) / (formats.count(own) - 1))
