"""Notes on a conversation: the pieces of its events, their value, and the best that fit.

Notes have a fixed order: first the user's words, then the steps, each outcome under its act.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, repeat
from math import fsum, inf
from typing import NamedTuple

from holdfast.selection import (
    VALUED_PER_TOKEN,
    Use,
    Valued,
    ordered,
    table,
    until,
    valued,
    with_context,
    worth_of,
)
from holdfast.stream import UNCLEAR, Events, StreamEvent, failed_acts, has_acts
from holdfast.text.fit import Cost, Numbers, beginning, filled
from holdfast.text.importance import alarm
from holdfast.text.pieces import Piece, TextPieces, places_in, shape_of
from holdfast.text.question import asks

from . import acts_done
from .note_text import (
    NoteEntry,
    PiecePlace,
    in_context,
    is_answer,
    lines_of,
    older_versions,
    outcomes_below_acts,
    texts_of,
    with_gap,
)


def uses_of(events: Events, texts: Sequence[TextPieces]) -> dict[str, Use]:
    """The use of each name over all events; distances are counted in events."""
    uses: dict[str, Use] = {}
    for now, event in enumerate(events):
        text = texts[now]
        is_act = event.function == "act"
        is_agents = is_act or event.by == "assistant"
        crowd = max(text.crowd, 1)
        for thing, pieces in text.counts.items():
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
        for thing in uses.keys() & text.quoted:
            uses[thing].is_quoted = True
    if has_acts(events):
        acts_done.note_taken_ids(events, texts, uses)
    return uses


# the best pieces of a conversation

# share of the room that may stay unused; if more is left, later pieces that fit have it. With half,
# .723 of recorded runs at 15% were kept instead of .721, and with double as much
IDLE = 0.05
# how far the order is tried, as a multiple of the room, since candidates may cost less than
# estimated; with half, .881 of recorded runs were kept instead of .887
REACH = 2
# the multiple that is tried first, which is enough for most conversations; with double as much,
# choosing takes a third longer
NEARER = 1.25
# rarity that a user's words have at least; with 0.6 less was kept of recorded runs, and with 0.4
# decisions were left out whose names are those of the whole conversation
_USERS = 0.5
# characters with which a piece of words has its usual value. A shorter one has less, or
# interjections would come first for being short; where nobody acts, a longer one has more: of the
# known facts of made-up chats .76 were kept at 30% so, and .72 without. Half and double kept as
# much
_USUAL = 40
# factors of the value of words where nobody acts, of a user's (True) and of others': no act uses
# names there, so that words must count for more. With 1.5 and with 2.5 as many known facts of
# made-up chats stayed; without it .65 of planted pairs of statements stayed at 30% instead of .88.
# With 1 for others, .11 of what assistants were made to say in talks stays at 30% instead of .87,
# and as many names
_TALK = {True: 2.0, False: 3.0}
# rarity of a plain word where nobody acts, as a share of a name's or a number's: explanations have
# as many rare words as facts. In nine made-up talks .70 of the names that come next stay at 30% and
# .37 at 15%, and .38 of the rare words; with 0.6 .69, .36 and .39, and with 1 .61, .27 and .45
_PLAIN = 0.5
# if users said less than the first share of the text of a conversation, their words are worth up to
# the second times as much: few words cost little, and what somebody wants is said once. Of the
# users' sentences in four made-up runs .89 were kept at 15% instead of .55, with half of the share
# .59, and as much of recorded runs
_SELDOM, _MOST_SELDOM = 0.13, 2.0
# pieces at either end of a long message, which its sender typed; half and double kept as much
_ENDS = 2
_NEARLY_ALL = 0.8  # share of all candidates' tokens that makes them one text; 0.9 kept as much


class Candidates:
    """The pieces of some events of a conversation."""

    def __init__(
        self,
        events: Events,
        among: Collection[int],
        rate: Callable[[StreamEvent], float],
        question: str = "",
        share: float = 0.0,
        room: float = inf,
    ) -> None:
        """Read and value the pieces of the events with the numbers ``among``, which may be chosen.

        ``rate`` returns an event's tokens for each character. ``share`` is the value of the best
        answer to the question, and ``room`` the tokens that all pieces together may take.
        """
        self.events, self.texts = events, texts_of(events, room * VALUED_PER_TOKEN, question)
        self.failed, texts = failed_acts(events), self.texts
        # the acts that returned something
        self._returned = {event.act for event in events if event.act >= 0 and event.content.strip()}
        is_talk = not has_acts(events)
        again, done_before = ({}, {}) if is_talk else acts_done.repeats(events, texts)
        superseded = again and acts_done.superseded(events, texts, again)
        # for each act that goes and is done again later, the newest that does the same
        self._again = {n: last for n, last in again.items() if n in among and n not in self.failed}
        numbers = sorted(set(among).difference(superseded))

        # a candidate is an index into these lists
        self.places = [PiecePlace(n, at) for n in numbers for at in texts[n].numbers]
        rates = [(rate(events[n]), texts[n].costs) for n in numbers]
        self.costs = [tokens * cost for tokens, costs in rates for cost in costs]
        self._templates = [template for n in numbers for template in texts[n].templates]
        things = [each for n in numbers for each in texts[n].things]
        pieces, parents = in_context(events, texts, numbers)

        # which other candidate gives each its context, and what it is worth besides its things
        uses = uses_of(events, texts)
        numbered = range(len(self.places))
        own = {event: [*each] for event, each in groupby(numbered, lambda n: self.places[n].event)}
        instead = self._later_statements(things, uses)
        bonus = _worth_of_words(events, texts, numbers, uses)
        if is_talk:
            material = self._worth_of_material(bonus)
            bonus = [0.0 if n in material else each for n, each in enumerate(bonus)]
            self._factors = [1.0] * len(bonus)
        else:
            material = {}
            newest = acts_done.newest_outcomes(events, texts, again, own)
            things = [() if n in newest else each for n, each in enumerate(things)]  # it tells them
            # of an act that failed after it had succeeded, the success: else nothing seems done
            instead |= newest | {
                own[act][0]: own[done][0]
                for act, done in done_before.items()
                if {act, done} <= own.keys()
            }
            changes = acts_done.worth_of_changes(events, texts, uses, again)
            bonus = [bonus[n] + changes.get(place, 0.0) for n, place in enumerate(self.places)]
            factors = acts_done.listing_factors(events, texts, uses)
            self._factors = [factors.get(place, 1.0) for place in self.places]
        parents = [instead.get(n, parent) for n, parent in enumerate(parents)]
        self._parents = parents if is_talk else _with_questions(events, own, parents)

        # those of which there is a later version, which are worth nothing; of these, those whose
        # words it has; and those that give others their context, and say nothing themselves
        context, older = {*self._parents} - {-1}, older_versions(events, texts)
        self._older = {n for n, place in enumerate(self.places) if place in older}
        self._repeated = {n for n in self._older - context if older[self.places[n]]}
        self._headings = {n for n in context if n in self._older or not things[n]}

        # what each is worth, and the order
        answers = self._answers(pieces, question, share)
        self._bonus = [each + answers.bonus[n] for n, each in enumerate(bonus)]
        self._things = [
            (*each, *[f"piece {n}"] * (n in material), *answers.things[n])
            for n, each in enumerate(things)
        ]
        for number in self._older:
            self._things[number], self._bonus[number] = (), 0.0
        shown = {f"piece {n}": each for n, each in material.items()}
        self._worth = worth_of(uses, max(len(events), 1)) | shown | answers.worth
        self._rest = self._best_first(numbered, self._worth_left(among))
        self._ranked, self._lines = list[int](), dict[tuple[int, ...], Sequence[str]]()

    def order(self, enough: float) -> list[int]:
        """The candidates' numbers, the best first, until together they cost ``enough`` tokens."""
        left = enough - sum(map(self.costs.__getitem__, self._ranked))
        if left > 0:
            self._ranked += until(left, self._rest, self.costs)
        return list(until(enough, self._ranked, self.costs))

    def best_of(self, numbers: Sequence[int], enough: float) -> list[int]:
        """Some of the candidates, the best first, until they cost ``enough`` tokens together.

        Things count in full although messages that stay whole tell them too.
        """
        return list(until(enough, self._best_first(numbers, self._worth), self.costs))

    def _best_first(self, numbers: Sequence[int], worth: Mapping[str, float]) -> Iterator[int]:
        """Some of the candidates, the best first, if things have this ``worth``."""
        # only value for cost matters, so that a factor of the value may divide the cost
        found = ordered(
            places_in(numbers, [self._parents[n] for n in numbers]),
            [self._things[n] for n in numbers],
            [self.costs[n] / self._factors[n] for n in numbers],
            worth,
            again=table().again,
            templates=[self._templates[n] for n in numbers],
            bonus=[self._bonus[n] for n in numbers],
        )
        return map(numbers.__getitem__, found)

    def choose(
        self,
        room: int,
        tokens: Cost,
        first: Sequence[int] = (),
        least: int = 0,
    ) -> list[int]:
        """Choose ``first`` as far as it fits, then the beginning of the order that fits.

        If much room is left then, the next pieces that fit have it, of those that cost at least
        ``least`` tokens together. ``tokens`` counts a choice exactly.
        """
        # in a small room the best of the newest output may fit though its estimated cost does not
        firm = filled((), 0, first, self.costs, tokens, room, room, REACH)

        def cost(some: Numbers) -> int:
            return tokens([*firm, *some])

        spent = cost(()) if firm else 0
        for reach in (NEARER, REACH):
            order, known = self.order(max(room * reach, least)), {*firm, *self._repeated}
            rest = [number for number in order if number not in known]
            chosen, taken = beginning(rest, self.costs, cost, room, room - spent, enough=1.0)
            is_full = len(chosen) < len(rest) and taken >= room * (1 - IDLE)
            if is_full or len(order) == len(self.places):  # or there are no more
                break
        following = rest[rest.index(chosen[-1]) + 1 :] if chosen else ()
        following = [number for number in following if number not in self._older]
        chosen = filled(chosen, taken, following, self.costs, cost, room, room * (1 - IDLE))
        known = {*firm, *chosen}  # where its context does not fit, a piece would mislead
        found = [*firm, *(n for n in chosen if known.issuperset(with_context(self._parents, n)))]
        bare = self._headings.difference([self._parents[number] for number in found])
        return [number for number in found if number not in bare]

    def opening(self, numbers: Iterable[int], most: float) -> list[int]:
        """The first of these pieces that says something itself, after its context in the event.

        Together they cost at most ``most`` tokens; empty if no piece is so short.
        """
        for number in numbers:
            event = self.places[number].event
            way = [n for n in with_context(self._parents, number) if self.places[n].event == event]
            if number not in self._headings and sum(self.costs[n] for n in way) <= most:
                return way
        return []

    def current(self, numbers: Sequence[int]) -> Sequence[int]:
        """Those of which there is no later version, or all if that leaves none."""
        return [number for number in numbers if number not in self._older] or numbers

    def by_event(self, chosen: Iterable[int]) -> dict[int, list[int]]:
        """The numbers of the chosen candidates within each event, all ascending."""
        found = defaultdict[int, list[int]](list)
        for event, number in map(self.places.__getitem__, sorted(chosen)):
            found[event].append(number)
        return found

    def entries(
        self, chosen: Mapping[int, Sequence[int]], in_place: Collection[int] = ()
    ) -> list[NoteEntry]:
        """The chosen pieces as the notes show them, without events that stay ``in_place``."""
        events = self.events
        shown = {events[n].act for n in chain(chosen, in_place)}
        failed, missing = self.failed - shown, self._returned - shown
        times = {number: events[number].times for number in chosen}
        for number, last in self._again.items():
            if number not in chosen and last in chosen:
                times[last] += events[number].times
        lines = {n: self._lines_of(n, chosen[n]) for n in chosen if n not in in_place}
        for act in missing.intersection(lines):  # else it reads as if it had returned nothing
            lines[act] = [*lines[act][:-1], with_gap(lines[act][-1])]
        return [
            NoteEntry(
                events[n], lines[n], n in failed, times[n], n - 1 in lines and is_answer(events, n)
            )
            for n in outcomes_below_acts(lines, events)
        ]

    def _lines_of(self, event: int, chosen: Sequence[int]) -> Sequence[str]:
        """The lines on an event; kept, since most choices that are counted agree on the event."""
        choice = (event, *chosen)
        if choice not in self._lines:
            self._lines[choice] = lines_of(self.texts[event].reading.pieces, chosen)
        return self._lines[choice]

    def _answers(self, pieces: Sequence[Piece], question: str, share: float) -> Valued:
        """What the pieces are worth as an answer.

        If nearly all are of one text, kinds of event count as in a single text, and so does an
        answer, if the user asks about it.
        """
        sizes = defaultdict[int, float](float)
        for number, place in enumerate(self.places):
            sizes[place.event] += self.costs[number]
        is_of_one = max(sizes.values(), default=0.0) >= _NEARLY_ALL * sum(sizes.values())
        alone = is_of_one and any(newest.is_users_words for newest in self.events[-1:])
        weights = table()
        best = weights.asked if alone else share
        kinds = 1.0 if is_of_one else weights.among_others
        return valued(pieces, self._parents, question, best, kinds, alone=alone)

    def _worth_left(self, among: Collection[int]) -> dict[str, float]:
        """The value of each thing, less for each event that stays whole and has it."""
        staying = (text for n, text in enumerate(self.texts) if n not in among)
        known = Counter(chain.from_iterable({*chain.from_iterable(t.things)} for t in staying))
        again = table().again
        return self._worth | {name: self._worth[name] * again**n for name, n in known.items()}

    def _later_statements(
        self, things: Sequence[Sequence[str]], uses: Mapping[str, Use]
    ) -> dict[int, int]:
        """For what a user said, what the user said later about the same thing, and may revise it.

        Both name a thing that no other event names, or an id or a number that no other statement of
        the user names: an assistant may repeat these.
        """
        events = self.events
        own = (self.texts[n].ids for n, event in enumerate(events) if event.is_users_words)
        users = Counter(chain.from_iterable(own))
        said = {n: p.event for n, p in enumerate(self.places) if events[p.event].is_users_words}
        newest = {thing: n for n in said for thing in things[n]}
        twice = {each for each in newest if 2 in (uses[each].events, users.get(each))}
        found: dict[int, int] = {}
        for n, event in said.items():
            others = [newest[each] for each in things[n] if each in twice]
            later = [other for other in others if said[other] > event]
            if later:
                found[n] = max(later, key=lambda other: (later.count(other), other))
        return found

    def _worth_of_material(self, worth: Sequence[float]) -> dict[int, float]:
        """The worth of pieces of material in a talk, where it is that of a thing in each.

        The things in the n-th piece of a template have an n-th of their value, and a table is many
        rows that say the same.
        """
        return {
            n: worth[n]
            for n, (event, _) in enumerate(self.places)
            if worth[n] and self.events[event].function == "material"
        }


def _with_questions(
    events: Events, candidates: Mapping[int, Sequence[int]], parents: Sequence[int]
) -> list[int]:
    """The context of each piece, with the end of a question as that of the short answer.

    Alone, a yes means nothing.
    """
    found = [*parents]
    for event, answer in candidates.items():
        if event - 1 in candidates and is_answer(events, event):
            asked = candidates[event - 1][-1]
            for number in answer:
                if found[asked] < 0:
                    found[asked], found[number] = found[number], asked
    return found


def _worth_of_words(
    events: Events, texts: Sequence[TextPieces], numbers: Iterable[int], uses: Mapping[str, Use]
) -> list[float]:
    """The value of each piece by its speaker, times the mean rarity of the things in it.

    Findings, decisions and instructions have rare words; announcements of the next step have
    the usual words of the work. A user's decisions may have usual words too, so that a user's
    words have a least rarity where somebody acts. Where nobody acts, the pieces of a log, a
    table or code share the value of a typed message, and those that report trouble have more. A
    short piece has less, and so has a short part of a long line, since the last part may be one
    word. A long part of an agent's line has no more than a whole line, which kept more of
    recorded runs.
    """
    weights, is_talk = table(), not has_acts(events)
    seldom = {} if is_talk else _factors_of_speakers(events)
    plain = _PLAIN if is_talk else 1.0
    rarity = {
        thing: (plain if shape_of(thing) == "word" else 1.0) / use.events
        for thing, use in uses.items()
    }.get
    typed = _places_in_message(events, texts)
    users = (texts[n] for n, event in enumerate(events) if event.is_users_words)
    alike = Counter(chain.from_iterable(text.templates for text in users))
    said = list[float]()
    for number in numbers:
        event, text = events[number], texts[number]
        # if earlier notes gave it value again, it would outlive what is new: .74 of runs handed
        # back would stay instead of .88
        is_shown = is_talk and event.function == "material" and not event.from_notes
        by = f"{event.by} words" if event.function == "words" else event.function
        by = f"{UNCLEAR} words" if is_shown else by
        if event.is_unclear and event.act >= 0 and _asks(texts[event.act]):
            by = "user words"
        worth = weights.said.get(by, 0.0) * seldom.get(by, 1.0)
        if not worth:
            said += _trouble(event, text)
            continue
        is_users, where = event.is_users_words, typed.get(number)
        is_passed_on = where is not None and where.last >= weights.typed
        rows = zip(text.numbers, text.things, text.templates, text.relative_lengths, strict=True)
        for at, things, template, share in rows:
            rare = fsum(map(rarity, things, repeat(0.0))) / max(1, len(things))
            if is_users and not is_talk:
                rare = max(rare, _USERS / alike[template])
            if where and is_passed_on and not where.is_at_end(at):
                rare *= weights.typed / where.last
            piece = text.reading.pieces[at].text
            length = len(piece) / _USUAL
            if is_shown:
                rare += alarm(piece)
                rare *= min(1.0, weights.typed / len(text.reading.pieces))
            if is_talk and not is_passed_on:
                rare *= length * _TALK[is_users]
            else:
                rare *= min(1.0, length)
            said.append(worth * rare * (share if is_users else min(1.0, share)))
    return said


def _asks(act: TextPieces) -> bool:
    """Whether an act asks somebody something."""
    return any(asks(piece.text) for piece in act.pieces)


def _trouble(event: StreamEvent, text: TextPieces) -> list[float]:
    """The value of each piece of an outcome that reports trouble, which these pieces share.

    Where trouble is the rule, as in code that handles errors, a piece that names it says little.
    """
    if event.function != "outcome" or event.from_notes:
        return [0.0] * len(text.pieces)
    bad = [0.0 if piece.labels else alarm(piece.text) for piece in text.pieces]
    share = table().trouble / (sum(map(bool, bad)) or 1)
    return [share * each for each in bad]


class _PlaceInMessage(NamedTuple):
    """Where the pieces of an event stand among all that a user said in the same message.

    If these are more than anybody types, the message passes on a text from elsewhere, and all but
    the pieces near its ends share the value of a typed message.
    """

    before: int
    """The pieces before the event."""
    last: int
    """The number of the last piece of the message."""

    def is_at_end(self, piece: int) -> bool:
        """Whether a piece of the event is near either end of the message."""
        place = self.before + piece
        return min(place, self.last - place) < _ENDS


def _places_in_message(events: Events, texts: Sequence[TextPieces]) -> dict[int, _PlaceInMessage]:
    """The places of what users said, by the number of the event."""
    pieces, before = Counter[tuple[int, int]](), dict[int, int]()
    # each entry of earlier notes was a message
    message = [
        (event.message, number if event.from_notes else -1) for number, event in enumerate(events)
    ]
    for number, event in enumerate(events):
        if event.is_users_words:
            before[number] = pieces[message[number]]
            pieces[message[number]] += len(texts[number].reading.pieces)
    return {
        number: _PlaceInMessage(first, pieces[message[number]] - 1)
        for number, first in before.items()
    }


def _factors_of_speakers(events: Events) -> dict[str, float]:
    """The factor of what people said, above 1 where it is little beside all that was done."""
    sizes = Counter[str]()
    for event in events:
        sizes[f"{event.by} {event.function}"] += len(event.text)
    whole = sizes.total() - sizes["system instruction"]
    return {
        by: max(1.0, min(_MOST_SELDOM, _SELDOM * whole / sizes[by]))
        for by in ("user words", f"{UNCLEAR} words")
        if sizes[by]
    }
