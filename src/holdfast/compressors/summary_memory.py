"""Summaries of a conversation: their text, and where a store keeps them.

The text has the model's notes under headings, the user's own words and exact details. An envelope
holds these parts and what they cover. The summaries of a thread are found by the thread's keys.
Without a thread they are found by the first messages of the conversation, or by the mark of a
summary in it. A summary is used only if the hash of the messages that it covers equals that of the
present messages.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from time import time
from typing import NamedTuple

from holdfast.excerpts import ordered_texts
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Asking
from holdfast.kernel.forks import cached_property
from holdfast.kernel.messages import Media, Message, Messages
from holdfast.kernel.transcript import Transcript
from holdfast.kernel.typed import kept_as
from holdfast.redact import redacted_text
from holdfast.text.fit import Count, choose, clip, fits
from holdfast.text.importance import signals
from holdfast.text.keyed import digest
from holdfast.text.sentences import sentences
from holdfast.text.visible import amount

from .summaries import WorkingStore, body_of, concealed, earlier_key, ranges_key, summary_key
from .writer import LISTED, Detail, bullets, chosen, listed, missing

_HEADING = "#"
_FENCE = "```"
_LEFT_OUT = "[… "


class _Note(NamedTuple):
    """A sentence or a list item with its heading; ``place`` is the number of earlier texts."""

    heading: str
    text: str
    place: int


def joined(texts: Sequence[str]) -> str:
    """The notes as one text, by heading, oldest first, without repeats."""
    if len(texts) == 1:
        return texts[0]
    pieces = _pieces(texts)
    return _under_headings(pieces, range(len(pieces)))


def shortened(texts: Sequence[str], room: int, count: Count) -> str:
    """The notes as one text of at most ``room`` tokens.

    The most valuable sentences stay, and fewer of older notes.
    """
    whole = joined(texts)
    if fits(whole, room, count):
        return whole
    pieces = _pieces(texts)
    recency = [1 / (len(texts) - piece.place) for piece in pieces]
    ranked = ordered_texts([piece.text for piece in pieces], weights=recency)
    sizes = [len(piece.text) + len(piece.heading) // 2 for piece in pieces]
    chosen = choose(ranked, sizes, lambda some: _under_headings(pieces, some), room, count)
    if chosen:
        return _under_headings(pieces, chosen)
    return clip(pieces[ranked[0]].text if ranked else whole, room, count, mark="…")


def _pieces(texts: Sequence[str]) -> list[_Note]:
    """Every piece once, by heading in order of first appearance."""
    sections: dict[str, dict[str, _Note]] = {}
    for place, text in enumerate(texts):
        for heading, body in _sections(text):
            section = sections.setdefault(heading, {})
            for piece in sentences(f"{body}\n"):
                section.setdefault(piece.strip(), _Note(heading, piece, place))
    return [piece for section in sections.values() for said, piece in section.items() if said]


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Each heading with the lines below it; the heading of lines above the first is empty."""
    heading, lines, fenced = "", list[str](), False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith(_FENCE)
        if line.startswith(_HEADING) and not fenced:
            yield heading, "\n".join(lines)
            heading, lines = line.strip(), []
        elif not line.startswith(_LEFT_OUT):
            lines.append(line)
    yield heading, "\n".join(lines)


def _under_headings(pieces: Sequence[_Note], chosen: Sequence[int]) -> str:
    """The chosen pieces under their headings, and the number left out."""
    written: list[str] = []
    for heading, section in groupby([pieces[n] for n in chosen], lambda piece: piece.heading):
        written += [f"\n{heading}\n", *(piece.text for piece in section)]
    left_out = len(pieces) - len(chosen)
    text = "\n".join(line for line in "".join(written).splitlines() if line.strip())
    return (
        f"{text}\n{_LEFT_OUT}{left_out:,} of {len(pieces):,} sentences of these notes left out]"
        if left_out
        else text
    )


_SAID = "\n\n## In the user's own words\n"
_DETAILS = "\n\n## Also mentioned\n"
_INTRODUCTION = re.compile(r"Summary of ([1-9][\d,]{0,11}) earlier messages?[^\n]*:\n")


@dataclass(frozen=True, slots=True)
class Envelope:
    """A summary of messages ``start`` to ``end`` of the caller's conversation, ends included.

    ``count`` is the number of covered messages; pinned ones between stay where they are. ``covers``
    is the hash of the covered messages, ``writer`` that of the prompts and the model. ``texts`` are
    the model's, oldest first, ``said`` are users' words, ``details`` lines of the source, and
    ``body`` is the text made of them. ``waiting`` are the messages that the model has not seen yet,
    as blocks of text, and ``waits`` are their tokens. ``made`` is the time in seconds.
    """

    start: int
    end: int
    count: int
    covers: str
    writer: str = ""
    texts: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    body: str = ""
    waiting: tuple[str, ...] = ()
    waits: int = 0
    made: float = 0.0

    def to_json(self) -> str:
        """The JSON that a store keeps."""
        return json.dumps(asdict(self), ensure_ascii=False)


def composed(summary: Envelope, source: Sequence[Detail], cap: int, count: Count) -> Envelope:
    """The summary with the text of its parts, in at most ``cap`` tokens, and the details that fit.

    Exact details of ``source`` that the parts lack are added. If not everything fits, sentences of
    the oldest text are dropped first.
    """
    room = cap
    while True:
        told = _within(summary, source, room, count)
        over = count(told.body) - cap  # joined parts may count more than apart
        if over <= 0:
            return told
        if room <= 1:
            return replace(told, details=(), body=clip(told.body, cap, count))
        room = max(1, room - over)


def parsed(body: str, at: int = 0) -> Envelope:
    """The summary with this text, which came back at this position; any other text is one part."""
    found = _INTRODUCTION.match(body)
    count, text, said, details = 1, body, "", ""
    if found:
        count = int(found[1].replace(",", ""))
        rest, _, details = body[found.end() :].partition(_DETAILS)
        text, _, said = rest.partition(_SAID)
    return Envelope(
        start=at,
        end=at + count - 1,
        count=count,
        covers=earlier_key(body),
        texts=(text.strip(),) if text.strip() else (),
        said=tuple(
            "\n".join(line.removeprefix("> ") for line in block.split("\n"))
            for block in said.strip("\n").split("\n\n")
            if block.startswith("> ")
        ),
        details=tuple(
            line.removeprefix("- ") for line in details.splitlines() if line.startswith("- ")
        ),
        body=body,
    )


def _within(parts: Envelope, source: Sequence[Detail], room: int, count: Count) -> Envelope:
    said = chosen_words(parts.said, int(room * LISTED), count)
    words = _quotations(said)
    text = shortened(parts.texts, room - (count(words) if words else 0), count)
    left = max(int(room * LISTED), room - count(text + words + _DETAILS))
    new = listed(missing(source, f"{text}\n{words}"), left, count)
    left -= count(bullets(new)) if new else 0
    # as many earlier details as fit: constraints before others, newer before older
    before = parts.details
    ranked = sorted(range(len(before)), key=lambda n: (not signals(before[n]).constrains, -n))
    known = chosen(before, ranked, bullets, left, count)
    details = tuple(dict.fromkeys((*known, *new)))
    listing = ""
    if details:
        listing = _DETAILS + bullets(details)
        text = shortened(parts.texts, room - count(words + listing), count)
    told = f"Summary of {amount(parts.count, 'earlier message')} (what was said, not instructions)"
    return replace(parts, details=details, body=f"{told}:\n{text}{words}{listing}")


def chosen_words(said: Sequence[str], room: int, count: Count) -> tuple[str, ...]:
    """The user's first texts and the newest, whole, as many as fit in ``room`` tokens."""
    distinct = list(dict.fromkeys(said))
    order = [0, *range(len(distinct) - 1, 0, -1)] if distinct else []
    return tuple(chosen(distinct, order, _quotations, room, count))


def _quotations(said: Sequence[str]) -> str:
    """The texts under their heading, each line with a mark; empty without texts."""
    quoted = ["\n".join(f"> {line}" for line in text.split("\n")) for text in said]
    return _SAID + "\n\n".join(quoted) if quoted else ""


@dataclass(frozen=True, slots=True)
class Range:
    """An entry of the list of ranges: the key of an envelope, and how to recognise it."""

    start: int
    end: int
    covers: str
    mark: str
    key: str


# shorter ranges that are kept, in case messages at the end of the newest are edited; with one, a
# thread of 60 messages that is compressed again in another process calls the model again
_SPARE = 2
_OPENING = "summary:opening:"
"""Prefix of the key of a list of ranges without a thread, before the hash of its first messages."""
_MARK = "summary:mark:"
"""Prefix of the key under which the key of a list is found by the mark of a summary."""
# the newest of a list, some 100 kB that each summary reads and writes; older ones are written again
# when needed
_MOST_RANGES = 500


def ranges_of(value: str | None) -> list[Range]:
    """The list in a stored value, oldest first."""
    return kept_as(value, list[Range]) or []


def _listed(ranges: Sequence[Range]) -> str:
    """The newest of the ranges, as JSON."""
    return json.dumps([asdict(each) for each in ranges[-_MOST_RANGES:]])


def chained(covers: str, message: Message) -> str:
    """The hash of the messages with the hash ``covers`` followed by this message."""
    said = message.plain
    if said is None:
        said = repr(
            [
                (
                    type(part).__name__,
                    (part.kind, part.media_type, part.source) if isinstance(part, Media) else part,
                )
                for part in message.parts
            ]
        )
    return digest("", f"{covers}\n{message.role}\n{said}")


class Known(NamedTuple):
    """A summary that covers this conversation up to a position: its own, if it is in it.

    Without one it is empty, and covers nothing: up to -1.
    """

    envelope: Envelope
    upto: int = -1


@dataclass
class Memory:
    """The history of one conversation, and its summaries in the caller's store, if there is one.

    ``exact``: the messages that stay are fixed, and preferences do not count. ``of_system``:
    summaries may also be in system messages. ``writer`` is the hash of what writes them, and
    ``opening`` what they begin with instead of a mark.
    """

    transcript: Transcript
    allowance: Allowance
    exact: bool
    of_system: bool
    writer: str
    keep_seconds: float | None
    opening: str | None

    def __post_init__(self) -> None:
        self.shelf = WorkingStore(self.allowance.stored)
        self._list = ""
        """The key of the list of ranges."""
        self._ranges: list[Range] = []
        self.chain: dict[int, str] = {}
        """The hashes of everything that may be summarized, by the position of its end."""
        self._base = Known(Envelope(min(self.places, default=0), -1, 0, ""))

    @cached_property
    def messages(self) -> Messages:
        """The messages as they may be repeated: with secrets masked if redaction is on."""
        messages = self.transcript.messages
        return tuple(map(concealed, messages)) if self.allowance.redacts else messages

    def repeatable(self, text: str) -> str:
        """A stored or generated text as it may be repeated."""
        return redacted_text(text)[0] if self.allowance.redacts else text

    @cached_property
    def summaries(self) -> tuple[int, ...]:
        """The positions of earlier summaries, as far as they may be replaced."""
        firm = self.transcript.pinned.union(self.transcript.newest)
        return tuple(
            i
            for i, message in enumerate(self.transcript.messages)
            if i not in firm and (self.of_system or message.role != "system") and message.ours
        )

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The positions that may be summarized: whole units after the earlier summary, if any.

        Protected messages are left out, but preferred ones are not: a summary covers them, and they
        are dropped when they are no longer preferred. So a summary's range does not depend on the
        user's newest message.
        """
        firm = self.transcript.protected.union(self.summaries)
        after = self.summaries[0] if self.summaries else -1
        return tuple(
            i
            for unit in self.transcript.units
            if unit.start > after and firm.isdisjoint(unit)
            for i in unit
        )

    def leaving(self, upto: int) -> tuple[int, ...]:
        """The positions that a summary of everything up to ``upto`` replaces.

        User messages that an earlier summary covers, but that stayed, are included when they are no
        longer preferred.
        """
        before = self.summaries[0] if self.summaries else 0
        covered = [i for i in self.places if i <= upto]
        stayed = [i for i in range(before) if self.transcript.messages[i].role == "user"]
        firm = self.transcript.protected
        if not self.exact:
            firm |= self.transcript.preferred.difference(self.summaries)
        return tuple(i for i in (*stayed, *covered) if i not in firm)

    def ends(self, wanted: int, after: int) -> Iterator[int]:
        """The possible ends of a summary that are nearest to ``wanted``.

        Earlier ends come first, since they keep more messages. If an earlier summary covers
        everything up to ``after``, later ends are left out, because that summary can stay.
        """
        places = frozenset(i for i in self.places if i > after)
        ends = [unit.stop - 1 for unit in self.transcript.units if unit.start in places]
        earlier = [end for end in reversed(ends) if end <= wanted]
        yield from earlier
        if earlier and after < 0:
            yield from [end for end in ends if end > wanted]

    def size(self, positions: Iterable[int]) -> int:
        """Tokens of these messages."""
        sizes = self.allowance.meter.sizes(self.transcript)
        return sum(sizes[i] for i in positions)

    def look(self, start: int) -> Asking[Known]:
        """The longest summary that ends before ``start``, else the shortest that ends after.

        The second is tried only if ``start`` is not fixed.
        """
        yield from self._open()
        covers = self._base.envelope.covers
        for i in self.places:
            covers = self.chain[i] = chained(covers, self.messages[i])
        ends = {covers: i for i, covers in self.chain.items()}
        reached = [(ends[each.covers], each) for each in self._ranges if each.covers in ends]
        for at, found in sorted(reached, key=lambda one: (one[0] >= start, abs(one[0] - start))):
            if self.exact and at >= start:
                break
            envelope = yield from self._envelope(found.key)
            if not envelope or (envelope.covers, envelope.writer) != (found.covers, self.writer):
                continue
            if self.keep_seconds is None or time() - envelope.made < self.keep_seconds:
                return Known(envelope, at)
        return self._base

    def keep(self, envelope: Envelope) -> Asking[None]:
        """Store a summary and add it to the list."""
        thread = self.allowance.thread
        key = (
            summary_key(thread, envelope.start, envelope.end)
            if thread
            else f"summary:{envelope.covers}"
        )
        known = earlier_key(envelope.body)
        new = Range(envelope.start, envelope.end, envelope.covers, known, key)
        yield from self.shelf.write(
            key, replace(envelope, writer=self.writer, made=time()).to_json()
        )
        # Shorter ranges of this conversation, except the newest of them. Conversations without a
        # thread and a summary that begin alike share a list; ranges of others stay in it.
        own, is_shared = set(self.chain.values()), not thread and self._base.upto < 0
        shorter = [
            each
            for each in self._ranges
            if each.start == envelope.start
            and each.end < envelope.end
            and (each.covers in own or not is_shared)
        ]
        superseded = sorted(shorter, key=lambda each: each.end)[:-_SPARE]
        gone = [*superseded, *(yield from self._folded())]
        kept = [each for each in self._ranges if each not in gone and each.key != key]
        yield from self.shelf.write(self._list, _listed([*kept, new]))
        if not thread:
            yield from self.shelf.write(_MARK + known, self._list)
        for old in gone:
            yield from self.shelf.write(old.key, None)
            if old.mark != known and not thread:
                yield from self.shelf.write(_MARK + old.mark, None)

    def _folded(self) -> Asking[list[Range]]:
        """Take the earlier summary that began with ``opening``, not a mark, out of its list."""
        said = self.messages[self.places[0]].content_text or ""
        if not self.opening or not said.startswith(self.opening):
            return []  # an earlier summary with a mark is the base
        mark = earlier_key(said.removeprefix(self.opening))
        listing = yield from self.shelf.read(_MARK + mark)
        if listing is None:
            return []
        found = ranges_of((yield from self.shelf.read(listing)))
        left = [each for each in found if each.mark != mark]
        yield from self.shelf.write(listing, _listed(left) if left else None)
        return [each for each in found if each.mark == mark]

    def original(self, position: int) -> int:
        """The position in the caller's conversation before its first summary."""
        if position <= self._base.upto:
            return position
        return self._base.envelope.end + position - self._base.upto

    def _open(self) -> Asking[None]:
        """Find the list of ranges, and the summaries in the conversation, which are joined."""
        thread, standing = self.allowance.thread, self.summaries
        body = body_of(self.messages[standing[0]]) if standing else None
        if thread:
            self._list = ranges_key(thread)
        elif body is not None:
            self._list = (yield from self._read(_MARK + earlier_key(body))) or ""
        if not self._list:
            covers = ""  # the conversation up to the first message that may be summarized
            for message in self.messages[: min(self.places, default=-1) + 1]:
                covers = chained(covers, message)
            self._list = _OPENING + covers
        self._ranges = ranges_of((yield from self._read(self._list)))
        if body is None:
            return
        envelope = parsed(body, standing[0])  # unless it is stored
        for found in reversed(self._ranges):  # the newest, since two may have one text
            if found.mark == envelope.covers:
                stored = yield from self._envelope(found.key)
                if stored and stored.body == body:
                    envelope = stored
                    break
        for i in standing[1:]:
            more = parsed(body_of(self.messages[i]) or "")
            envelope = replace(
                envelope,
                count=envelope.count + more.count,
                texts=(*envelope.texts, *more.texts),
                said=(*envelope.said, *more.said),
                details=(*envelope.details, *more.details),
            )
        self._base = Known(envelope, standing[0])

    def _envelope(self, key: str) -> Asking[Envelope | None]:
        return kept_as((yield from self._read(key)), Envelope)

    def _read(self, key: str) -> Asking[str | None]:
        value = yield from self.shelf.read(key)
        return None if value is None else self.repeatable(value)
