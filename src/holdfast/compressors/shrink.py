"""Shortens tool outputs by their kind and with the question in view.

The oldest texts shrink first and most, the newest last. Possible rooms come in few sizes, so that a
text keeps its room when the conversation grows a little, and its shortened form is found in the
memos below.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.compressors.arguments import brief
from holdfast.compressors.cuts import preferred
from holdfast.compressors.knobs import Configured, Fraction, check_knobs
from holdfast.compressors.output_summaries import OutputSummaries
from holdfast.compressors.references import Place, note, referenced
from holdfast.compressors.shrink_candidates import (
    INSTRUCTION_FILES,
    INSTRUCTION_TOOLS,
    Shrinkable,
    candidates_of,
    repeats,
    superseded,
)
from holdfast.compressors.summaries import WorkingStore
from holdfast.content import recognise
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.edits import Offload, Replace
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.flow import Asking
from holdfast.kernel.ports import Room, Shrunk
from holdfast.kernel.transcript import Transcript
from holdfast.text.memo import Memo
from holdfast.text.question import Question
from holdfast.text.visible import amount

RULES = ("lossless", "repeats", "superseded", "lossy", "arguments")

# Found by experiments on recorded conversations: share of the budget to which old outputs are cut
# before messages are dropped
_ENOUGH = 1 / 16
_SAVED_WITHOUT_LOSS = 0.35  # share of the outputs that lossless forms usually save at most
_SHORTEST_FORM = 0.4  # share of a text; in less room no lossless form is tried
_NEWEST = 0.5  # share of the room; a newest exchange up to this stays whole before any history
_FINE = 1_000  # tokens; a shorter text gets any room, not only one of the few sizes
_STEP = 61, 64  # ratio of neighbouring rooms of a longer text: wastes 2.4 % on average
_LEAST_VALUE = 20  # tokens; a shorter value of arguments is left whole
_SMALL = 1_000  # tokens; in a shorter text a question without names or numbers selects little


@dataclass(frozen=True, slots=True)
class Shrink(Configured):
    """Shortens tool outputs by their kind, oldest first, the newest exchange last.

    Lossless edits come first: shorter forms of the same value, repeated texts, files that were read
    again. Then a text keeps what answers the question and what is rare; the rest is counted and
    left out. With a store, the original is saved first, and the text names its key.
    """

    rules: tuple[str, ...] = RULES
    """The steps, of ``lossless``, ``repeats``, ``superseded``, ``lossy`` and ``arguments``."""

    min_tokens: int = 40
    """Shorter texts, in tokens, are left alone."""

    shares: tuple[float, ...] = (0.6, 0.25)
    """The rounds: the share of its size to which a text may be cut in each.

    Messages that do not fit with their outputs at the last share are left to later steps.
    """

    least_tokens: int = 24
    """No text is cut below this many tokens."""

    recent_share: Fraction = 0.25
    """The newest messages up to this share of the budget stay whole while older ones can shrink."""

    tools: tuple[str, ...] = ()
    """Only outputs of these tools shrink (shell patterns such as ``read_*``); empty means all."""

    keep_tools: tuple[str, ...] = INSTRUCTION_TOOLS
    """Outputs of these tools never shrink."""

    keep_paths: tuple[str, ...] = INSTRUCTION_FILES
    """Outputs of calls that name these files never shrink."""

    roles: tuple[str, ...] = ("tool",)
    """The roles whose texts may shrink: ``tool``, and ``assistant`` for the model's own words."""

    summary_tokens: int = 0
    """Tokens for a model's summary of an old output in place of an excerpt; 0 asks for none."""

    name = "shrink"

    def __post_init__(self) -> None:
        check_knobs(self)
        for rule in self.rules:
            if rule not in RULES:
                advice = f"known are {', '.join(RULES)}"
                raise ConfigError(f"{rule!r} is not a rule", place="shrink", advice=advice)
        if not self.shares or not all(0 <= share <= 1 for share in self.shares):
            problem, advice = f"{self.shares!r} are not shares", "give one or more from 0 to 1"
            raise ConfigError(problem, place="Shrink.shares", advice=advice)

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """A Replace for each shortened text, or an Offload if its original is kept."""
        if allowance.meter.total(transcript) <= allowance.target:
            return Plan.skip("within_budget", "it fits already")
        work = _ShrinkWork(self, transcript, allowance)
        yield from work.done()
        trouble = f"; {work.trouble}" if work.trouble else ""
        if not work.edits:
            return Plan.skip("nothing_to_shrink", f"no tool output became smaller{trouble}")
        texts = amount(len(work.edits), "text")
        edits = tuple(work.edits[place] for place in sorted(work.edits))
        return Plan(edits, reason="shrunk", detail=f"{texts} shrunk{trouble}")


class _ShrinkWork:
    """The excess, and the edits so far."""

    def __init__(self, knobs: Shrink, transcript: Transcript, allowance: Allowance) -> None:
        self.edits: dict[Place, Replace | Offload] = {}
        self._knobs, self._transcript, self._allowance = knobs, transcript, allowance
        self._originals = WorkingStore(allowance.stored)
        self._summaries = OutputSummaries(knobs.summary_tokens, allowance)
        self._question = transcript.question if allowance.query is None else allowance.query
        self._message_sizes = allowance.meter.sizes(transcript)
        start, self._recent, self._excess = self._view()
        self._candidates = candidates_of(knobs, transcript, allowance.meter, start)
        self._sizes: dict[Place, int] = {c.place: c.tokens for c in self._candidates}

    def _view(self) -> tuple[int, int, int]:
        """The newest messages that fit if outputs are cut to the floor and recent ones stay whole.

        Returns the position of the first message that can stay, that of the first that stays whole
        while others can shrink, and the excess in tokens.
        """
        transcript, allowance = self._transcript, self._allowance
        sizes = self._message_sizes
        overhead = allowance.meter.overhead(transcript.envelope)
        kept = transcript.protected | preferred(transcript)
        left = allowance.target - overhead - sum(map(self._least, kept))
        newest = sum(sizes[i] for i in transcript.newest)
        whole = int(left * self._knobs.recent_share)
        if newest <= left * _NEWEST:
            whole = max(whole, newest)
        start, recent = len(transcript), transcript.newest.start
        for unit in reversed(transcript.units):
            size = sum(sizes[i] for i in unit)
            cost = sum(self._least(i) for i in unit if i not in kept)
            whole -= size
            if whole >= 0:
                recent = min(recent, unit.start)
                cost = size - sum(self._least(i) for i in unit if i in kept)
            left -= cost
            if left < 0:
                break
            start = unit.start
        staying = sum(sizes[start:]) + sum(sizes[i] for i in kept if i < start)
        excess = staying + overhead - allowance.target
        return min(start, transcript.newest.start), recent, excess

    def _least(self, i: int) -> int:
        """Tokens of a message with its outputs cut to the floor."""
        message, size = self._transcript.messages[i], self._message_sizes[i]
        if message.is_speech:
            shrinks = message.role in self._knobs.roles
        else:
            shrinks = message.role != "user" or bool(message.results)
        return self._floor(size) if shrinks and i not in self._transcript.pinned else size

    def _floor(self, tokens: int) -> int:
        """The smallest size of a text while older messages can be dropped instead, in tokens."""
        enough = max(1, int(self._allowance.target * _ENOUGH))
        share = min(int(tokens * self._knobs.shares[-1]), enough)
        return min(tokens, max(self._knobs.least_tokens, share))

    @property
    def trouble(self) -> str:
        """The problems of models and stores; empty if there were none."""
        told = [*self._summaries.troubles, self._originals.trouble]
        return "; ".join(dict.fromkeys(filter(None, told)))

    def done(self) -> Asking[None]:
        """Run the steps in order until the target is met."""
        rules = self._knobs.rules
        if "repeats" in rules:
            yield from self._give_way(repeats(self._outputs()), "a later output has the same text")
        lossy = "lossy" in rules or "arguments" in rules
        if "lossless" in rules and not (lossy and self._is_beyond_lossless()):
            for candidate in self._outputs():
                if self._excess <= 0:
                    break
                self._compact(candidate)
        if "superseded" in rules:
            old = superseded(self._outputs(), self._transcript.messages)
            yield from self._give_way(old, "the file was read again or changed later")
        if lossy and self._excess > 0:
            yield from self._lossy()

    def _is_beyond_lossless(self) -> bool:
        """Whether lossless forms will hardly do; a lossy reading uses them too if they fit."""
        outputs = sum(self._sizes[c.place] for c in self._outputs())
        return self._excess > _SAVED_WITHOUT_LOSS * outputs

    def _compact(self, candidate: Shrinkable, room: int | None = None) -> bool:
        """Replace the text by its lossless form; whether there is one that fits the room."""
        short = compacted(candidate.text)
        if short is None or (room is not None and self._allowance.meter.text(short) > room):
            return False
        kind = recognise(candidate.text).name
        self._keep(candidate, short, f"{kind}: the same value in a shorter form")
        return True

    def _lossy(self) -> Asking[None]:
        """Shorten each text to its room."""
        rules = self._knobs.rules
        wanted = [
            c for c in self._candidates if ("arguments" if c.is_arguments else "lossy") in rules
        ]
        rooms = self._rooms(wanted)
        for candidate in wanted:
            room = rooms.get(candidate.place)
            if room is None:
                continue
            if self._excess <= 0:
                return
            yield from (self._clamp if candidate.is_arguments else self._shrink)(candidate, room)

    def _rooms(self, candidates: Sequence[Shrinkable]) -> dict[Place, int]:
        """The room in tokens of each text that has to shrink to remove the excess.

        Recent messages shrink after all others, and nothing goes below the floor before everything
        else has reached it.
        """
        given: dict[Place, int] = {}
        left, least = self._excess, self._knobs.least_tokens
        older = [c for c in candidates if c.position < self._recent]
        newer = [c for c in candidates if c.position >= self._recent]
        shares = (*self._knobs.shares[:-1], None)
        rounds = [(among, share) for among in (older, newer) for share in shares]
        for among, share in (*rounds, (older, 0.0), (newer, 0.0)):
            for candidate in among:
                if left <= 0:
                    return given
                place, tokens = candidate.place, candidate.tokens
                now = given.get(place, self._sizes[place])
                floor = self._floor(tokens) if share is None else max(least, int(tokens * share))
                room = _stepped(tokens, max(floor, now - left), floor)
                if room < now:
                    given[place] = room
                    left -= now - room
        return given

    def _shrink(self, candidate: Shrinkable, tokens: int) -> Asking[None]:
        text = candidate.text
        if tokens >= _SHORTEST_FORM * candidate.tokens and self._compact(candidate, tokens):
            return
        # Only old outputs are summarized by a model; recent ones keep their own words.
        if self._summaries.may_ask and candidate.position < self._recent:
            tool = candidate.call.name if candidate.call else ""
            told = yield from self._summaries.of(
                text, candidate.tokens, candidate.position, tool, tokens
            )
            if told is not None:
                self._keep(candidate, told.text, "told by the model", told.key)
                return
        kind = recognise(text).name
        key = yield from self._originals.save(text, kind)
        question = question_for(text, candidate.tokens, self._question)
        room = Room(tokens, self._allowance.meter.text, question)
        shrunk = read((text, room, key, self._allowance.recall_tool if key else ""))
        if shrunk is None:
            self._keep(candidate, self._note(candidate, kind, key), f"{kind}: shortened", key)
        else:
            self._keep(candidate, shrunk.text, f"{kind}: {shrunk.omitted or 'shortened'}", key)

    def _clamp(self, candidate: Shrinkable, tokens: int) -> Asking[None]:
        key = yield from self._originals.save(candidate.text, "json")
        reference = self._note(candidate, "arguments", key) if key else ""
        text = brief(candidate.text, tokens, self._allowance.meter.text, _LEAST_VALUE, reference)
        if key in text:  # no value has the reference if none was cut
            reason = "arguments of an old call, shortened"
            self._keep(candidate, text, reason, key)

    def _give_way(self, found: Iterable[tuple[Shrinkable, str]], reason: str) -> Asking[None]:
        for candidate, told in found:
            if self._excess <= 0:
                return
            key = yield from self._originals.save(candidate.text)
            text = f"{told}\n{self._note(candidate, 'text', key)}" if key else told
            self._keep(candidate, text, reason, key)

    def _note(self, candidate: Shrinkable, kind: str, key: str) -> str:
        return note(kind, candidate.tokens, key, tool=self._allowance.recall_tool)

    def _keep(self, candidate: Shrinkable, text: str, reason: str, key: str = "") -> None:
        """Keep the text as an edit if it is smaller than the present one."""
        saved = self._sizes[candidate.place] - self._allowance.meter.text(text)
        if saved <= 0 or not text.strip():
            return
        self._sizes[candidate.place] -= saved
        self._excess -= saved
        self.edits[candidate.place] = (
            Offload(*candidate.place, text, key, reason)
            if key
            else Replace(*candidate.place, text, reason)
        )

    def _outputs(self) -> list[Shrinkable]:
        return [c for c in self._candidates if not c.is_arguments and c.place not in self.edits]


def _stepped(tokens: int, room: int, floor: int) -> int:
    """The largest possible room that is at most ``room``, and at least the floor."""
    if tokens < _FINE:
        return floor
    stepped, (numerator, denominator) = tokens, _STEP
    while stepped > room:
        stepped = stepped * numerator // denominator
    return max(stepped, floor)


_CHARACTERS = 32_000_000  # characters in each memo, about 64 MB of text


def _read(reading: tuple[str, Room, str, str]) -> Shrunk | None:
    text, room, key, tool = reading
    kind = recognise(text)
    return referenced(kind, text, room, key, tool) if key else kind.shrink(text, room)


def _compacted(text: str) -> str | None:
    return recognise(text).compact(text)


def question_for(text: str, tokens: int, question: str) -> str:
    """The part of the question that concerns this text; empty if none does.

    So different questions with the same part find the same reading in the memo.
    """
    return _asked((text, question, tokens < _SMALL)) if question else ""


def _asked_of(key: tuple[str, str, bool]) -> str:
    text, question, is_small = key
    terms = Question.of(question).held_by(text)
    if not is_small:
        return question if terms else ""
    return " ".join(f'"{needle}"' for needle in sorted(t.needle for t in terms if not t.plain))


compacted = Memo(_compacted, lambda text, short: len(text) + len(short or ""), _CHARACTERS)
"""The shorter form of the same value, or None."""

read = Memo(
    _read, lambda reading, shrunk: len(reading[0]) + len(shrunk.text if shrunk else ""), _CHARACTERS
)
"""Takes a text, its room, the key of its original and the name of the recall tool; returns the
shortened text, None if it does not fit with its reference.
"""

_asked = Memo(_asked_of, lambda key, _: len(key[0]) + len(key[1]), _CHARACTERS)
