"""The strategy that keeps the most useful pieces of a conversation.

``Stays`` decides which messages stay in place, and ``Selection`` also which pieces of the others
are kept.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from holdfast.content import recognise
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Configured, Flow, Plan
from holdfast.kernel.edits import Replace
from holdfast.kernel.forks import cached_property
from holdfast.kernel.messages import Text, ToolResult
from holdfast.kernel.transcript import Transcript, legal, unit_of
from holdfast.kernel.typed import Fraction
from holdfast.selection import table, typed_of, until
from holdfast.stream import StreamEvent, events_of, has_acts
from holdfast.text.fit import FIRST_GUESS, filled, head_tail, water_level

from .note_text import ASIDE, HEADING, IN_PART, Draft, ShorterTask, read_notes
from .notes import IDLE, NEARER, Candidates
from .references import Place, Reference, before_reference, key_in, reference_to, save_messages
from .summaries import WorkingStore, body_of, concealed, placed
from .tool_outputs import cut_words, without_loss


@dataclass(frozen=True, slots=True)
class Select(Configured):
    """Ranks the pieces of all that was said, done and returned, and keeps the best that fit.

    The task and the newest exchange stay in place, and as many exchanges before it as ``recent``
    allows. Of older messages, and of outputs too large to stay whole, the pieces are kept whose
    names the next steps are likely to use and no kept piece has yet.
    """

    recent: Fraction = 0.08
    """Share of the room for exchanges before the newest that stay in place, with long outputs
    shortened. With double, less is kept of recorded runs."""

    task: Fraction = 0.4
    """Share of the room for the user's first message; of a longer one its ends and what answers
    the question stay."""

    heading: str = HEADING
    """The first line of the notes."""

    told: Fraction = 0.5
    """Share of the tokens of older messages that notes may have. Room beyond it keeps more
    exchanges in place, so that a conversation just over its budget changes little."""

    name = "select"

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """A Drop of older messages, an Insert of notes on them, a Replace of shortened outputs.

        With a store the originals are saved and named, without references if the store fails.
        """
        is_talk = all(message.is_speech for message in transcript.messages)
        if not is_talk and (edits := without_loss(transcript, allowance)):
            return Plan(edits, reason="lossless")
        view = Selection(self, transcript, allowance)
        if not (view.candidates.places or view.shorter_task):
            return Plan.skip("nothing_old", "there is nothing to shorten")
        if not allowance.stored:
            return view.plan()
        references, trouble = yield from save_messages(transcript, view.going, allowance)
        plan = view.plan(references, trouble)
        store = WorkingStore(works=not trouble)
        # a reference takes room, so that more outputs may be cut; their originals are saved next
        while store.works and (cut := view.without_reference(plan)):
            for place in cut:
                text = view.text_at(place)
                kind = recognise(text).name
                key = yield from store.save(text, kind)
                if store.works:
                    view.name_original(place, kind, key)
            plan = view.plan(references if store.works else (), store.trouble)
        return plan


# what stays in place

# share of the room above which one part is shortened to pieces; in recorded runs half of it kept as
# much, and double less
_IN_PLACE = 0.075
# share of the room for the newest outputs; half of it keeps more of what older messages say, but
# less of what the next step reads
_NEAR = 0.15
# share that the newest outputs have together, of that room or of what notes leave if it is more;
# half and more kept as much
_NEWEST = 0.65
# share of a long newest output that is shown, up to that room; half and double kept as much
_SHOWN = 0.2
# tokens of a message that is hard to understand without the message it answers; with 32, two of 54
# proposals that a yes answers do not stay whole in recorded runs, and with 48 less is kept of them
_SHORT_ANSWER = 40
# share of the room above which an output with media loses them; the rest is for notes
_WITH_MEDIA = 0.75
# share of the room that a long answered message leaves for the task, unless that is shorter; half
# and double kept as much
_LEAST_TASK = 0.1
# tokens below which a task is not cut here: where no room is left, trim first cuts the arguments of
# calls
_SHORT_TASK = 64
# largest share of the room for an act written as text that stays before its newest output. With an
# eighth, less is kept after 1.3 % of the steps to a larger room instead of .9 %, and with a twelfth
# notes go
_SHORT_ACT = 1 / 16


class Stays:
    """The messages of a conversation that stay in place. Sizes and rooms are in tokens."""

    def __init__(self, knobs: Select, transcript: Transcript, allowance: Allowance) -> None:
        self.knobs, self.transcript = knobs, transcript
        self.allowance, self.meter = allowance, allowance.meter
        said = transcript.messages
        if allowance.redacts:
            said = tuple(map(concealed, said))
        self._notes = {
            i: read_notes(body, message.role)
            for i, message in enumerate(said)
            if (body := body_of(message)) is not None
        }
        self.events = events_of(said, self._notes, transcript.envelope)
        if allowance.stored:
            self.events = [before_reference(event, transcript.seal) for event in self.events]
        self._by_message = defaultdict[int, list[StreamEvent]](list)  # those without text have none
        for event in self.events:
            self._by_message[event.message].append(event)
        self.sizes = self.meter.sizes(transcript)
        firm = transcript.protected - frozenset(transcript.newest)
        self.firm = frozenset(chain.from_iterable(unit_of(transcript, i) for i in firm))
        overhead = self.meter.overhead(transcript.envelope)
        self.room = allowance.target - overhead - sum(self.sizes[i] for i in self.firm)
        """What is left beside the messages that always stay whole."""
        self.longest = max(1, int(self.room * _IN_PLACE))
        """The size above which a part that stays is shortened to its best pieces."""

    @cached_property
    def task(self) -> int | None:
        """The position of the user's first message, if its media fit beside the newest exchange."""
        asked = self.asked_first
        media = 0 if asked is None else self.sizes[asked] - self._without_media[asked]
        return asked if media <= max(0, self.room - self._rigid) else None

    @cached_property
    def asked_first(self) -> int | None:
        """The position of the user's first message, if the profile prefers it."""
        users = [i for i in self.transcript.user_positions if i not in self._notes]
        if not users or "task" not in self.transcript.prefers:
            return None
        events = self._by_message[users[0]]
        return None if any(event.function == "outcome" for event in events) else users[0]

    @cached_property
    def task_room(self) -> int:
        """The share of the task, or what a long answered message leaves of it."""
        share, answered = self.room * self.knobs.task, self._size(self._answered)
        if answered <= max(share, 0):
            return int(share)
        return min(int(share), self.room - answered - self._size(self.transcript.newest))

    @cached_property
    def going(self) -> list[int]:
        """The positions of the messages that make way for notes.

        Some messages, such as a user's first one, may be dropped only if notes take their place.
        They go if they take more than the share of the task.
        """
        staying = self._staying()
        others = set(range(len(self.transcript))) - staying
        alone = self.without_notes(others)
        bound = sum(self.sizes[i] for i in others - alone)
        if bound > max(0, self._room_left(staying)) * self.knobs.task:
            whole = [i for unit in self.transcript.units if others.issuperset(unit) for i in unit]
            if whole and placed(self.transcript, whole, "user"):
                return whole
        return sorted(alone)

    def without_notes(self, going: set[int]) -> set[int]:
        """Which of these messages may go if no notes take their place."""
        return legal(self.transcript, going, self._always_kept)

    @cached_property
    def before_users_newest(self) -> range:
        """The agent's message that the user's newest one, or an output in it, answers."""
        newest = self.transcript.newest
        if not newest.start or not (self._user_speaks_last or self._act_is_before):
            return range(0)
        unit = unit_of(self.transcript, newest.start - 1)
        if not self._user_speaks_last and self._size(unit) > self.room * _SHORT_ACT:
            return range(0)
        is_agents = self.transcript.messages[unit.start].role == "assistant"
        return unit if is_agents and self._notes.keys().isdisjoint(unit) else range(0)

    def may_be_shortened(self, event: StreamEvent) -> bool:
        """Whether a part that stays is too long, and is output, pasted material or an agent's text.

        A task that is too long even without its pasted material is cut instead.
        """
        at = event.message
        if at in self._answered or at == self._cut_task:
            return False
        longest = self._longest_newest if at in self.transcript.newest else self.longest
        return self._may_be_shown_in_part(event) and self.length(event) > longest

    @cached_property
    def _cut_task(self) -> int | None:
        """The task, if it is too long even without its pasted material."""
        is_short = self.task is None or self._least_size(self.task) <= self.task_room
        return None if is_short else self.task

    def length(self, event: StreamEvent) -> int:
        """The tokens of a text, and of the media that go when it is shortened."""
        part = self.transcript.messages[event.message].parts[event.part]
        media = part.media if isinstance(part, ToolResult) else ()
        return self.meter.text(event.text) + sum(map(self.meter.media, media))

    def guaranteed_tokens(self, event: StreamEvent) -> float:
        """The tokens that a shortened output of the newest exchange has at least, if they fit."""
        shown = min(self.meter.text(event.text) * _SHOWN, self.room * _NEAR)
        return max(self._longest_newest, shown)

    @cached_property
    def _longest_newest(self) -> int:
        """The size to which longer outputs of the newest exchange are shortened.

        The next step reads them, so that they have room of their own, which they share. Each may be
        at least as long as any other part.
        """
        staying = self.firm if self.task is None else self.firm | {self.task}
        told = self.knobs.told
        # the room for these outputs if notes have the share ``told`` of what is then left to tell
        free = (
            (self._room_left(staying) - told * self._tellable(staying)) / (1 - told)
            if told < 1
            else 0
        )
        most = int(max(free, self.room * _NEAR) * _NEWEST)
        return max(self.longest, water_level(self._newest_outputs, max(self.longest, most)))

    @cached_property
    def _newest(self) -> Sequence[StreamEvent]:
        newest = map(self._by_message.__getitem__, self.transcript.newest)
        return list(chain.from_iterable(newest))

    @cached_property
    def _user_speaks_last(self) -> bool:
        return any(event.is_users_words for event in self._newest)

    @cached_property
    def _act_is_before(self) -> bool:
        """Whether the newest outcome is of an act in the message before, written as text."""
        before = self.transcript.newest.start - 1
        acts = [event.act for event in self._newest if event.function == "outcome"]
        return any(act >= 0 and self.events[act].message == before for act in acts)

    @cached_property
    def _answered(self) -> range:
        """The message before the user's newest if it stays whole, since "yes" alone means nothing.

        A long one does if it is no output, the newest is short, and a little room is left for the
        task.
        """
        unit = self.before_users_newest
        size, answer = self._size(unit), self._size(self.transcript.newest)
        words = 0 if self.task is None else self._without_media[self.task]
        media = 0 if self.task is None else self.sizes[self.task] - words
        room = self.room - media
        if size <= room * self.knobs.task:
            return unit
        task = min(words, int(self.room * _LEAST_TASK))
        is_told = self.task != self.asked_first  # it goes, and notes need room for it
        fits = answer <= _SHORT_ANSWER and size + answer + task <= room and not is_told
        is_output = any(self.transcript.messages[i].results for i in unit)
        return unit if fits and not is_output else range(0)

    @cached_property
    def _always_kept(self) -> frozenset[int]:
        """The positions that stay in any room.

        If the newest exchange does not fit even with its outputs shortened, what the profile
        prefers is among them: trim shortens other things, such as the arguments of calls.
        """
        task = () if self.task is None else (self.task,)
        kept = self.firm.union(self.transcript.newest, self._answered, task)
        also = () if self._rigid <= self.room else self.transcript.preferred
        # what is preferred may have results, whose calls stay with them
        return kept.union(*(unit_of(self.transcript, i) for i in also))

    @cached_property
    def _rigid(self) -> int:
        """The tokens of what cannot be shortened of the newest exchange."""
        return self._size(self.transcript.newest) - sum(self._newest_outputs)

    @cached_property
    def _newest_outputs(self) -> list[int]:
        """The tokens of each output of the newest exchange, and of what else may be shortened."""
        return list(map(self.length, filter(self._may_be_shown_in_part, self._newest)))

    def _staying(self) -> set[int]:
        """The positions that stay in place: those in any room, and the newest exchanges.

        These have the share ``recent`` of the room, more if a user's newest message may ask about
        them, and as much as leaves notes the share ``told`` of what they can tell.
        """
        turns = self.transcript.turns[-2:]
        asked = turns[0].start if self._user_speaks_last else len(self.transcript)
        staying, before = set(self._always_kept), self.before_users_newest
        if sum(map(self._least_size, before)) <= self.task_room:
            staying.update(before)
        staying |= self._attached(staying)
        room, rest = self._room_left(staying), self._tellable(staying)
        spent = 0 if self._user_speaks_last else self._size(before)
        for unit in reversed(self.transcript.units):
            others = set(unit) - staying
            spent += sum(map(self._least_size, others))
            rest -= sum(min(self._without_media[i], self._least_size(i)) for i in others)
            share = max(self.knobs.recent, _NEAR) if unit.start >= asked else self.knobs.recent
            is_far = spent > self.room * share and spent + self.knobs.told * rest > room
            if others and (is_far or not self._notes.keys().isdisjoint(unit)):
                break
            staying.update(unit)
        return staying

    def _attached(self, staying: Collection[int]) -> set[int]:
        """The newest messages of users with media that leave notes the share ``told``."""
        room = self._room_left(staying) - self.knobs.told * self._tellable(staying)
        found = set[int]()
        for i in sorted(set(self.transcript.user_positions).difference(staying), reverse=True):
            media = self.sizes[i] - self._without_media[i]
            unit = unit_of(self.transcript, i)  # the results beside them need their calls
            if media and self._size(unit) <= room:
                found.update(unit)
                room -= self._size(unit)
        return found

    def _room_left(self, staying: Collection[int]) -> int:
        """The room that messages which stay leave for others."""
        return self.room - sum(self.sizes[i] for i in staying if i not in self.firm)

    def _tellable(self, staying: Collection[int]) -> int:
        """The tokens of what notes can tell of all others."""
        return sum(tokens for i, tokens in enumerate(self._without_media) if i not in staying)

    @cached_property
    def _without_media(self) -> list[int]:
        """The tokens of each message without its media."""
        return list(map(self.meter.words, self.transcript.messages))

    def _size(self, unit: range) -> int:
        return sum(self.sizes[i] for i in unit)

    def _least_size(self, i: int) -> int:
        """The tokens of a message with its long outputs shortened."""
        size = self.sizes[i]
        if size <= self.longest:
            return size
        shortened = filter(self._may_be_shown_in_part, self._by_message[i])
        return size - sum(max(0, self.length(event) - self.longest) for event in shortened)

    def _may_be_shown_in_part(self, event: StreamEvent) -> bool:
        i = event.message
        if event.from_notes or i in self.firm or i in self.transcript.pinned:
            return False
        if event.function in ("instruction", "act"):
            return False
        part = self.transcript.messages[i].parts[event.part]
        if isinstance(part, ToolResult):
            is_long = self.meter.text(part.text) > self.longest
            return not part.media or (is_long and self.sizes[i] > self.room * _WITH_MEDIA)
        return isinstance(part, Text) and (event.function != "words" or event.by == "assistant")


# what is kept of the rest

# tokens of the newest output that stay in any room; older messages give way. Half and double kept
# the same of recorded runs
_LEAST_SHOWN = 16
# tokens for which events are read and candidates ranked even if the room is smaller: of few ranked
# candidates none may fit, and a small room would stay unused
_LEAST_RANKED = 512
# factor of the value of answers where nobody acts, since no act uses names there; in made-up chats
# .47 of the known facts were kept at 15%, without it .44, with double as many
_IN_TALK = 3
# share of the room for the user's newest words, in notes before all else; with .2 as much is kept
# of recorded runs, and with .4 .734 at 15% instead of .737
_NEWEST_WORDS = 0.25


class Selection(Stays):
    """The decisions on one conversation: what stays, and which pieces of the rest are kept."""

    def __init__(self, knobs: Select, transcript: Transcript, allowance: Allowance) -> None:
        super().__init__(knobs, transcript, allowance)
        self.references: dict[Place, Reference | None] = {}
        """The references of saved originals; None where one is not named."""
        going, events = set(self.going), self.events
        gone = {number for number, event in enumerate(events) if event.message in going}
        self.in_place = frozenset(
            n for n, e in enumerate(events) if n not in gone and self.may_be_shortened(e)
        )
        question, share, is_talk = allowance.query, table().asked, not has_acts(events)
        if question is None:
            question, share = transcript.question, table().implied
            question = typed_of(question) if is_talk else question
        share *= _IN_TALK if is_talk else 1
        among, room = gone | self.in_place, max(self.room, _LEAST_RANKED)
        self.candidates = Candidates(events, among, self._rate, question, share, room)
        self.shorter_task = self._shorter_task()

    def plan(self, tail: tuple[str, ...] = (), trouble: str = "") -> Plan:
        """The edits; ``tail`` are the last lines of the notes, which name the originals."""
        going = self.going
        place = placed(self.transcript, going, "user") if going else None
        if going and place is None:
            return Plan.skip("no_place", "the rules of the conversation leave no place for notes")
        task = self.shorter_task
        room = self.allowance.target - self._fixed(task)
        first, ends = self._floors(Draft(self, tail, place, {}), room)
        draft = Draft(self, tail, place, ends)
        chosen = self.candidates.choose(room, draft.tokens, first, _LEAST_RANKED)
        spent = draft.tokens(chosen)
        if room - spent > room * IDLE:  # what no note fits may show more of what stays
            candidates, known = self.candidates, set(chosen)
            rest = [
                number
                for number, place in enumerate(candidates.places)
                if place.event in self.in_place and number not in known
            ]
            best = candidates.best_of(rest, room)
            chosen = filled(chosen, spent, best, candidates.costs, draft.tokens, room, room)
        spare = room - draft.tokens(chosen)
        if task and spare > self.room * IDLE:
            task = self._shorter_task(int(spare * (1 - IDLE)))
        edits = tuple(draft.edits(chosen, task))
        return (
            Plan(edits, reason="history_folded", detail=trouble) if edits else Plan.skip("no_room")
        )

    def _floors(self, draft: Draft, room: int) -> tuple[list[int], dict[int, str]]:
        """The candidates that come before the others, and the ends of outputs that have none.

        They are the best of each shortened output of the newest exchange, what the user answers
        included, and the best of the notes. In a small room each has an equal share, so that all
        say something. An output without a candidate that fits its share says its beginning and its
        end.
        """
        costs, count, events = self.candidates.costs, self.meter.text, self.events
        floors: list[Iterable[int]] = []
        openings: list[int] = []
        ends: dict[int, str] = {}
        empty = draft.tokens([])
        left = room - empty
        for place, (event, mine) in enumerate(self._best):
            share = max(left // (len(self._best) - place), _LEAST_SHOWN)
            if event is None:
                opening = self._first_note(mine, draft, min(share, left))
                guaranteed: float = self._guaranteed_words
            else:  # in place, where a heading alone would say nothing
                opening = self.candidates.opening(mine, share)
                guaranteed = self.guaranteed_tokens(events[event])
            cost = draft.tokens(opening) - empty
            if opening and cost <= min(share, left):
                left -= cost
                floor = list(until(guaranteed, dict.fromkeys([*opening, *mine]), costs))
                openings += floor if event is None else opening
                floors.append(floor)
            elif event is not None and (place == 0 or share <= left):
                shown = events[event].text
                ends[event] = head_tail(shown, share + count(ASIDE), count).rstrip()
                left -= count(ends[event]) - count(ASIDE)
        rounds = zip_longest(*floors)  # else a large newest output takes all
        others = [number for each in rounds for number in each if number is not None]
        return list(dict.fromkeys([*openings, *others])), ends

    def _first_note(self, numbers: Iterable[int], draft: Draft, most: int) -> list[int]:
        """The first of these candidates with which notes, their heading included, fit."""
        costs, empty, heading = self.candidates.costs, draft.tokens([]), 0.0
        for number in numbers:
            if costs[number] + heading <= most:
                heading = draft.tokens([number]) - empty - costs[number]
                if costs[number] + heading <= most:
                    return [number]
        return []

    @cached_property
    def _best(self) -> list[tuple[int | None, Sequence[int]]]:
        """The candidates of shortened new outputs, and of the notes (None).

        The newest output comes first, and of each the best candidate. What an output tells counts
        in full although older messages tell it too: the newest state is worth more than an older
        one.
        """
        places, events = self.candidates.places, self.events
        # references come later, and only make the room smaller
        room = self.allowance.target - self._fixed(self.shorter_task)
        order = self.candidates.order(max(room * NEARER, _LEAST_RANKED))
        ranked = dict.fromkeys([*order, *range(len(places))])
        by_event = defaultdict[int, list[int]](list)
        for number in ranked:
            by_event[places[number].event].append(number)
        now = {*self.transcript.newest, *self.before_users_newest}
        floors: list[tuple[int | None, Sequence[int]]] = []
        for event in sorted((n for n in self.in_place if events[n].message in now), reverse=True):
            mine = self.candidates.current(by_event[event])
            first = self.candidates.best_of(sorted(mine), self.guaranteed_tokens(events[event]))
            floors.append((event, list(dict.fromkeys([*first, *mine]))))
        noted = [n for n in ranked if places[n].event not in self.in_place]
        said = self._first_words
        first = sorted(n for n in noted if places[n].event in said)
        floors.append((None, list(dict.fromkeys([*first, *noted]))))
        return floors

    @cached_property
    def _first_words(self) -> frozenset[int]:
        """The events that notes tell first: the user's newest words, and a task without its media.

        Many steps may follow a user's newest words, and a task goes if its media do not fit.
        """
        said = [n for n, event in enumerate(self.events) if event.is_users_words]
        going, newest = set(self.going), self.events[said[-1]] if said else None
        first = {n for n in said if self.events[n].message == self.asked_first}
        if newest and newest.from_notes:
            first.add(said[-1])  # all that earlier notes tell is of one message
        elif newest:
            first.update(n for n in said if self.events[n].message == newest.message)
        return frozenset(n for n in first if self.events[n].message in going)

    @cached_property
    def _guaranteed_words(self) -> int:
        """The tokens that notes tell of these words."""
        room, said = max(0, self.room), self._first_words
        is_task = any(self.events[n].message == self.asked_first for n in said)
        share = self.knobs.task if is_task else _NEWEST_WORDS
        return min(sum(self.meter.text(self.events[n].text) for n in said), int(room * share))

    def _fixed(self, task: ShorterTask) -> int:
        """Tokens of everything that does not depend on the chosen pieces."""
        meter, going = self.meter, set(self.going)
        whole = meter.overhead(self.transcript.envelope)
        whole += sum(size for i, size in enumerate(self.sizes) if i not in going)
        whole -= sum(self.length(self.events[n]) for n in self.in_place)
        for position, texts in task.items():
            shorter = self.transcript.messages[position].saying(texts)
            whole += meter.message(shorter) - self.sizes[position]
        named = filter(None, self.references.values())
        return whole + sum(meter.text(f"\n{each.line}") for each in named)

    def _shorter_task(self, spare: int = 0) -> ShorterTask:
        """The new texts of a task that is too long even with ``spare`` tokens beside its room."""
        task, most = self.task, max(self.task_room + max(spare, 0), _SHORT_TASK)
        if task is None or task in self.firm or task in self.transcript.newest:
            return {}
        size, count = self.sizes[task], self.meter.text
        if size <= most or any(self.events[n].message == task for n in self.in_place):
            return {}
        parts = enumerate(self.transcript.messages[task].parts)
        texts = {number: part.text for number, part in parts if isinstance(part, Text)}
        lengths = {number: count(text) for number, text in texts.items()}
        level = water_level(lengths.values(), most - size + sum(lengths.values()))
        question = self.allowance.query or typed_of(self.transcript.question)
        shorter = {
            number: cut_words(text, question, level, count).rstrip()
            for number, text in texts.items()
            if lengths[number] > level > 0
        }
        return {task: shorter} if shorter else {}

    def without_reference(self, plan: Plan) -> list[Place]:
        """The places of the parts that ``plan`` cuts without a reference."""
        cut = [each for each in plan.edits if isinstance(each, Replace) and each.reason == IN_PART]
        seal = self.transcript.seal
        bare = [(each.index, each.part) for each in cut if key_in(each.text, seal) is None]
        return [place for place in bare if place not in self.references]

    def name_original(self, at: Place, kind: str, key: str) -> None:
        """End the part, if it is cut, with a reference to its original.

        ``key`` is empty if the caller keeps the text.
        """
        tokens, others = self.meter.text(self.text_at(at)), self.references.values()
        self.references[at] = reference_to(kind, tokens, key, others, self.room, self.allowance)

    def _rate(self, event: StreamEvent) -> float:
        """The tokens per character of an event's part."""
        text = self.text_at((event.message, event.part))
        return self.meter.text(text) / len(text) if text else 1 / FIRST_GUESS

    def text_at(self, at: Place) -> str:
        """The whole text of a part."""
        return self.transcript.messages[at[0]].parts[at[1]].text
