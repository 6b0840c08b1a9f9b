"""One digest in the making: what goes, where the notes stand, what they say."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, takewhile

from holdfast.compressors.blocks import blocks
from holdfast.compressors.concealing import concealed
from holdfast.compressors.summaries import body_of, mark
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Plan
from holdfast.kernel.edits import Drop, Edit, Insert, Replace
from holdfast.kernel.messages import Message, Role
from holdfast.kernel.transcript import Transcript

from .composing import Order, body, lines_of
from .entries import Entry
from .placing import Placed, placed
from .sayings import History, transcribed

_REACH = 3  # times the tokens of a digest: what was said further back hardly ever gets into it
_NEAR = 8_000  # tokens that are read in any case
_TRIES = 3


@dataclass(slots=True)
class Making:
    """The positions that go, ascending, and the tokens that the digest may have."""

    transcript: Transcript
    allowance: Allowance
    going: tuple[int, ...]
    room: int
    heading: str
    role: Role
    _placed: Placed | None = field(default=None, init=False)

    def place(self) -> bool:
        """Find a place for the digest; whether there is one."""
        self._placed = placed(self.transcript, self.going, self.role)
        return self._placed is not None

    def plan(self, references: tuple[str, ...] = (), trouble: str = "") -> Plan:
        """The edits; ``references`` are lines at the end that name where the originals are kept.

        ``trouble`` says why there are none.
        """
        if self._placed is None:
            return Plan.skip("no_place")
        at, role = self._placed
        tail = "".join(f"\n{line}" for line in references)
        room = self.room
        for _ in range(_TRIES):
            notes = body(self._order(room, role, tail))
            if not notes:
                return Plan.skip("no_room", f"{self.room:,} tokens are too few for notes")
            text = mark(notes + tail, role)
            over = self._tokens(text, role) - self.room
            if over <= 0:
                return Plan(tuple(self._edits(at, role, text)), reason="history_folded", detail=trouble)
            room -= over + 1
        return Plan.skip("no_room", f"{self.room:,} tokens are too few for notes")

    def originals(self) -> Iterator[tuple[str, str]]:
        """The originals in pieces of about a window each, and what to say of each piece."""
        sizes = self.allowance.meter.sizes(self.transcript)
        piece: list[int] = []
        tokens = 0
        for i in self.going:
            if body_of(self.transcript.messages[i]) is not None:
                continue
            if piece and tokens + sizes[i] > self.allowance.window:
                yield self._original(piece, tokens)
                piece, tokens = [], 0
            piece.append(i)
            tokens += sizes[i]
        if piece:
            yield self._original(piece, tokens)

    def entries(self) -> Iterator[Entry]:
        """The lines of the digest with the blocks that they come from."""
        sizes = self.allowance.meter.sizes(self.transcript)
        found = blocks(self.transcript.messages)
        starts = [block.messages.start for block in found]
        for said, text in lines_of(self._order(self.room, self.role, "")):
            block = found[bisect_right(starts, said.at) - 1]
            yield Entry(block.id, block.type, said.turn, sum(sizes[i] for i in block.messages), text)

    def _original(self, piece: list[int], tokens: int) -> tuple[str, str]:
        text = transcribed([self.transcript.messages[i] for i in piece])
        return text, f"{len(piece):,} message{'s' if len(piece) > 1 else ''}, {tokens:,} tokens"

    def _order(self, room: int, role: Role, tail: str) -> Order:
        meter = self.allowance.meter
        marked = meter.text(mark("", role) + tail) + meter.tariff.message
        return Order(self._within_reach(), self.heading, room - marked, meter.text)

    def _within_reach(self) -> History:
        """What can get into the digest; from further back, what users said, and older digests."""
        transcript, going, sizes = self.transcript, self.going, self.allowance.meter.sizes(self.transcript)
        users = transcript.user_positions
        near, far = max(_NEAR, self.room * _REACH), self.room
        reached = takewhile(near.__gt__, accumulate(sizes[i] for i in reversed(going)))
        first = max(0, len(going) - 1 - sum(1 for _ in reached))
        while first and transcript.messages[going[first]].results:  # never without their call
            first -= 1
        taken = [*self._of_system(), *going[first:]]
        for i in reversed(users[: bisect_left(users, going[first])]):
            if far <= 0:
                break
            if going[bisect_left(going, i)] == i:
                far -= sizes[i]
                taken.append(i)
        taken.sort()
        told = map(self._told if self.allowance.redacts else transcript.messages.__getitem__, taken)
        return History.of(list(told), taken, users[: bisect_right(users, taken[-1])])

    def _told(self, i: int) -> Message:
        """The message as it may be told again."""
        return concealed(self.transcript.messages[i])

    def _of_system(self) -> list[int]:
        messages = self.transcript.messages
        if self.role != "system":
            return []
        return [i for i, m in enumerate(messages) if m.role == "system" and body_of(m) is not None][:1]

    def _edits(self, at: int, role: Role, text: str) -> Iterator[Edit]:
        reason = "folded into notes"
        yield Drop(self.going, reason)
        for i in self._of_system():
            yield Replace(i, 0, text, reason, asked=True)
            return
        yield Insert(at, role, text, reason, covers=(self.going[0], self.going[-1]))

    def _tokens(self, text: str, role: Role) -> int:
        wire = self.transcript.wire
        return self.allowance.meter.message(Message(role, wire.compose(role, text), wire))
