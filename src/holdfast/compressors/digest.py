"""All but the last blocks of a conversation become one message of notes, even if everything fits.

A block is a user's message with the messages that answer it, or a single message. The design is
that of llm4s.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from holdfast.kernel.budget import Allowance, Share, tokens_of
from holdfast.kernel.compressor import Configured, Flow, Plan
from holdfast.kernel.edits import Drop, Edit
from holdfast.kernel.messages import Message, Messages, ToolCall
from holdfast.kernel.registry import moved_names
from holdfast.kernel.transcript import Transcript, legal
from holdfast.kernel.typed import Fraction
from holdfast.stream import Events, events_of
from holdfast.text.fit import FIRST_GUESS, SENTENCE, Count
from holdfast.text.identifiers import find
from holdfast.text.importance import FAILURE, signals
from holdfast.text.sentences import sentences
from holdfast.text.visible import GLANCE
from holdfast.text.words import READ, stands

from .note_text import HEADING, read_notes, write_notes
from .notes import Candidates
from .references import save_messages
from .summaries import (
    Marks,
    body_of,
    concealed,
    is_skipped,
    mark,
    placed,
    voice,
)
from .writer import chosen


@dataclass(frozen=True, slots=True)
class Digest(Configured):
    """Older history becomes one message of notes, which also replaces an earlier digest."""

    keep_blocks: int = 5
    """The newest blocks that stay.

    Before other steps fewer stay if that many do not fit the target together with the notes: a trim
    would only drop the rest.
    """

    max_tokens: Share = 1.0
    """The size of the notes: tokens, or a share of what they replace."""

    facts: Fraction = 0.0
    """Share of the notes for a list, by kind, of exact things that the notes do not name
    otherwise.
    """

    heading: str = HEADING
    """The first line of the notes."""

    role: Literal["user", "assistant", "system"] = "user"
    """The role of the notes, if the rules of the conversation allow it. Models obey the system's
    words.
    """

    name = "digest"

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """One Drop of the history, earlier digests included, and one Insert of the notes."""
        going, room = self._folded(transcript, allowance)
        # nothing but an earlier digest, and what stands beside one so that roles alternate
        old = (transcript.messages[i] for i in going)
        if all(each.ours or is_skipped(each) for each in old):
            return Plan.skip("nothing_old", "there is no history that should be folded")
        if room < SENTENCE:
            return Plan.skip("no_room", f"{max(room, 0):,} tokens are too few for notes")
        references, trouble = yield from save_messages(transcript, going, allowance)
        place = placed(transcript, going, voice(transcript, self.role))
        if place is None:
            return Plan.skip("no_place", "the rules of the conversation leave no place for notes")
        older = [i for i, m in enumerate(transcript.messages) if m.ours and m.role == "system"]
        leaving = sorted({*going, *older}.difference(transcript.protected))
        meter, tail = allowance.meter, "".join(f"\n{line}" for line in references)
        told = [transcript.messages[i] for i in leaving]
        if allowance.redacts:
            told = list(map(concealed, told))
        seal = transcript.seal or Marks()
        beside = meter.text(seal.sealed(mark(tail, place.role), place.role)) + place.tokens(meter)
        # a token more, because joined texts may count more than their parts
        notes = self._notes(told, room - beside, lambda text: meter.text(text) + 1)
        if not notes:
            return Plan.skip("no_room", f"{room:,} tokens are too few for notes")
        text = mark(notes + tail, place.role)
        edits: tuple[Edit, ...] = (
            Drop(tuple(leaving), "folded into notes"),
            *place.inserts(text, "folded into notes", covers=(going[0], going[-1])),
        )
        return Plan(edits, reason="history_folded", detail=trouble)

    def _folded(self, transcript: Transcript, allowance: Allowance) -> tuple[list[int], int]:
        """The positions that notes replace, and the tokens of these notes."""
        sizes, total = allowance.meter.sizes(transcript), allowance.meter.total(transcript)
        messages, keep = transcript.messages, self.keep_blocks
        begun = [block.messages.start for block in blocks(messages)]
        starts = [i for i in begun if messages[i].role != "system"]  # which are not blocks
        while True:
            cut = [*starts, len(messages)][-1 - keep] if keep < max(1, len(starts)) else 0
            old = (unit for unit in transcript.units if unit.stop <= cut)
            wanted = {i for unit in old if transcript.protected.isdisjoint(unit) for i in unit}
            going = sorted(legal(transcript, wanted, transcript.protected))
            tokens = sum(sizes[i] for i in going)
            room, share = min(tokens_of(self.max_tokens, tokens), tokens - 1), allowance.target // 2
            # a target too small for any notes is ignored: the caller wants the history folded
            room = room if share < SENTENCE else min(room, share)
            left = allowance.target - total + tokens
            if not allowance.followed or keep == 0 or (going and room <= left):
                break
            keep -= 1
        squeezed = allowance.followed and allowance.writer  # a later step may shorten the notes
        return going, min(room, left) if left >= SENTENCE and not squeezed else room

    def _notes(self, told: Messages, room: int, count: Count) -> str:
        """Notes on the messages, followed by exact things that the notes do not name."""
        # without the words around it, a listed secret could not be recognised and masked
        info = StructuredInfo.of(list(map(concealed, told))) if self.facts else StructuredInfo()
        read = without_facts if self.facts else str
        earlier = {
            at: read_notes(read(body), message.role)
            for at, message in enumerate(told)
            if (body := body_of(message)) is not None
        }
        events = events_of(told, earlier)
        facts = info.render("", int(room * self.facts), count)
        left = room - (count(facts) if facts else 0)
        notes = noted(events, left, count, self.heading)
        return "\n".join(filter(None, (notes, info.render(notes, room - count(notes) - 1, count))))


def noted(events: Events, tokens: int, count: Count, heading: str) -> str:
    """The best notes on some events in at most so many tokens; empty if nothing fits."""
    everything, room = range(len(events)), max(tokens, 1)
    candidates = Candidates(events, everything, lambda _: 1 / FIRST_GUESS, room=room)

    def text(chosen: Sequence[int]) -> str:
        entries = candidates.entries(candidates.by_event(chosen))
        return write_notes(entries, heading) if entries else ""

    return text(candidates.choose(tokens, lambda some: count(text(some))))


BlockType = Literal["user_assistant_pair", "standalone_assistant", "standalone_tool", "other"]


@dataclass(frozen=True, slots=True)
class Block:
    """Positions of messages that belong together; ``answered`` when the assistant has replied."""

    id: int
    type: BlockType
    messages: range
    answered: bool = False


def blocks(messages: Messages) -> list[Block]:
    """The blocks in order; every message is in one.

    A user's message opens a block. The assistant's reply, the calls before it and their results
    belong to the block that waits for a reply. A block with a call stays open until the calls are
    answered.
    """
    found: list[Block] = []
    for i, message in enumerate(messages):
        if found and _joins(found[-1], message):
            last = found[-1]
            waits = bool(message.calls) or _brings_results(message)
            grown = range(last.messages.start, i + 1)
            found[-1] = Block(last.id, last.type, grown, answered=not waits)
        else:
            kind = _type_of(message)
            waits = kind == "user_assistant_pair" or bool(message.calls)
            found.append(Block(len(found), kind, range(i, i + 1), answered=not waits))
    return found


def _joins(block: Block, message: Message) -> bool:
    """Whether the message belongs to the block before it."""
    if block.type == "standalone_tool":
        return False
    if _brings_results(message):
        return True
    if message.user_speaks or block.answered:
        return False
    return message.role != "system" or block.type != "other"


def _type_of(message: Message) -> BlockType:
    """The type of the block that the message opens."""
    if _brings_results(message):
        return "standalone_tool"
    if message.user_speaks:
        return "user_assistant_pair"
    return "standalone_assistant" if message.role == "assistant" else "other"


def _brings_results(message: Message) -> bool:
    return message.role == "tool" or bool(message.results)


_DIGITS = 5  # of a bare number that is a reference: a year has four
_STATUS = re.compile(
    r"(?:status|code|error|http(?:/\d(?:\.\d)?)?)(?: code)?(?:[:=\s]|was|is){1,5}(\d{3,4})(?!\w)",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"\b(?:results?|outcomes?|conclusions?|success(?:ful(?:ly)?)?|succeeded|completed?|done)\b",
    re.IGNORECASE,
)
_BETWEEN = "; "

Values = tuple[str, ...]
"""Distinct texts in the order of the messages."""


@dataclass(frozen=True, slots=True)
class StructuredInfo:
    """The exact things in messages: each once, word for word, in the order of the messages."""

    identifiers: Values = ()
    """Ids, keys, references, paths and other generated names."""

    urls: Values = ()
    status_codes: Values = ()

    tools: Values = ()
    """Names of the tools that were called."""

    decisions: Values = ()
    constraints: Values = ()
    errors: Values = ()
    outcomes: Values = ()

    @classmethod
    def of(cls, messages: Iterable[Message]) -> StructuredInfo:
        """The exact things in the messages, and those that an earlier digest among them lists."""
        found: _Found = {kind: {} for kind in _LABELS}
        kinds = {label: kind for kind, label in _LABELS.items()}
        for message in messages:
            body = body_of(message)
            if body is not None:
                for line in _LINE.finditer(body):
                    found[kinds[line[1]]].update(dict.fromkeys(line[2].split(_BETWEEN)))
                _read_names(without_facts(body), found)
                continue
            for part in message.parts:
                if isinstance(part, ToolCall):
                    found["tools"][part.name] = None
                    _read_names(part.arguments, found)
                else:
                    _read(part.text, found)
        return cls(**{kind: tuple(values) for kind, values in found.items()})

    def render(self, beside: str, room: int, count: Count) -> str:
        """The things that the text ``beside`` lacks, by kind, in at most ``room`` tokens.

        Each kind has a line. If not all its values fit, the newest are shown.
        """
        lines: list[str] = []
        for kind, label in _LABELS.items():
            values = [value for value in getattr(self, kind) if not stands(value, beside)]
            newest_first = range(len(values) - 1, -1, -1)

            def told(some: Sequence[str], label: str = label) -> str:
                return "\n".join([*lines, f"{label}: {_BETWEEN.join(some)}"])

            shown = chosen(values, newest_first, told, room, count)
            if shown:
                lines.append(f"{label}: {_BETWEEN.join(shown)}")
        return "\n".join(lines)


_LABELS = {
    each.name: each.name.replace("_", " ").capitalize().replace("Urls", "URLs")
    for each in fields(StructuredInfo)
}
"""The labels of the kinds, in their order."""

_LINE = re.compile(rf"^({'|'.join(_LABELS.values())}): (.+)$", re.MULTILINE)


def without_facts(body: str) -> str:
    """A digest without the lines that list things by kind."""
    return _LINE.sub("", body).rstrip("\n")


_Found = Mapping[str, dict[str, None]]
"""The values of each kind so far, in order of first appearance."""


def _read_names(text: str, found: _Found) -> None:
    for one in find(text[:READ]):
        if one.kind == "url":
            found["urls"][one.text] = None
        elif (one.kind == "name" and any(map(str.isalpha, one.text))) or (  # one without is a date
            one.kind == "number" and len(one.text) >= _DIGITS
        ):
            found["identifiers"][one.text] = None
        elif one.kind == "quoted":
            _read_names(one.text, found)
    found["status_codes"].update(dict.fromkeys(_STATUS.findall(text[:READ])))


def _read(text: str, found: _Found) -> None:
    _read_names(text, found)
    for sentence in sentences(text[:READ]):
        said = " ".join(sentence.split())
        if not 0 < len(said) <= GLANCE:
            continue
        tells = signals(said)
        if tells.decides:
            found["decisions"][said] = None
        elif tells.constrains:
            found["constraints"][said] = None
        elif tells.alarm >= FAILURE:
            found["errors"][said] = None
        elif _OUTCOME.search(said):
            found["outcomes"][said] = None


__getattr__ = moved_names(__name__, {"llm4s_history": "holdfast.designs.llm4s"})
