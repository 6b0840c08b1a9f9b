"""All but the last blocks of a conversation as one message of notes, whether or not the rest fits (llm4s)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.compressors.blocks import blocks
from holdfast.compressors.cuts import legal, placed
from holdfast.compressors.knobs import check_knobs, knobs
from holdfast.compressors.originals import saved
from holdfast.compressors.select import HEADING
from holdfast.compressors.select.notes import notes_of
from holdfast.compressors.summaries import Marks, body_of, concealed, mark
from holdfast.kernel.budget import Allowance, Share, tokens_of
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.edits import Drop, Insert
from holdfast.kernel.messages import Message
from holdfast.kernel.transcript import Transcript
from holdfast.stream.events import events_of

_LEAST = 24  # tokens: in less, no notes say anything


@dataclass(frozen=True, slots=True)
class Digest:
    """History beyond the last blocks becomes one message of notes; an older digest is folded in."""

    keep_blocks: int = 5
    """The newest blocks that stay; a block is a user's message with all that answers it."""

    max_tokens: Share = 1.0
    """What the notes may take: tokens, or a share of what they stand for."""

    heading: str = HEADING
    """The first line."""

    role: Literal["user", "assistant", "system"] = "user"
    """Whose message it is, where the rules of the conversation allow it; the system's is obeyed."""

    name = "digest"

    def __post_init__(self) -> None:
        check_knobs(self)

    def describe(self) -> Mapping[str, object]:
        """The name and the knobs."""
        return {"strategy": self.name, **knobs(self)}

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan | Flow:
        """One Drop of what is folded, the system's older digest with it, and one Insert of the digest."""
        start = _start_of_last(transcript, self.keep_blocks)
        old = (unit for unit in transcript.units if unit.stop <= start)
        wanted = {i for unit in old if transcript.protected.isdisjoint(unit) for i in unit}
        going = sorted(legal(transcript, wanted, transcript.protected))
        if not going or all(body_of(transcript.messages[i]) is not None for i in going):
            return Plan.skip("nothing_old", "there is no history that should be folded")
        sizes = allowance.meter.sizes(transcript)
        tokens = sum(sizes[i] for i in going)
        room = min(tokens_of(self.max_tokens, tokens), tokens - 1)
        if room < _LEAST:
            return Plan.skip("no_room", f"{max(room, 0):,} tokens are too few for notes")

        def planned(references: tuple[str, ...] = (), trouble: str = "") -> Plan:
            return self._planned(transcript, allowance, going, room, references, trouble)

        return saved(planned, transcript, going, allowance) if allowance.stored else planned()

    def _planned(
        self,
        transcript: Transcript,
        allowance: Allowance,
        going: Sequence[int],
        room: int,
        references: tuple[str, ...],
        trouble: str,
    ) -> Plan:
        place = placed(transcript, going, self.role)
        if place is None:
            return Plan.skip("no_place", "the rules of the conversation leave no place for notes")
        older = [i for i, m in enumerate(transcript.messages) if m.ours and m.role == "system"]
        older = [i for i in older if i not in transcript.protected]
        meter, tail = allowance.meter, "".join(f"\n{line}" for line in references)
        told = [transcript.messages[i] for i in (*older, *going)]
        if allowance.redacts:
            told = list(map(concealed, told))
        bodies = {at: body for at, m in enumerate(told) if (body := body_of(m)) is not None}
        events = events_of(told, range(len(told)), bodies)
        seal = transcript.seal or Marks()
        beside = meter.text(seal.sealed(mark(tail, place.role), place.role)) + meter.tariff.message
        notes = notes_of(events, room - beside, _counted(meter.text), self.heading)
        if not notes:
            return Plan.skip("no_room", f"{room:,} tokens are too few for notes")
        text = mark(notes + tail, place.role)
        edits = (
            Drop((*older, *going), "folded into notes"),
            Insert(place.at, place.role, text, "folded into notes", covers=(going[0], going[-1])),
        )
        return Plan(edits, reason="history_folded", detail=trouble)


def llm4s_history(keep_blocks: int = 5, max_tokens: Share = 400) -> Digest:
    """The preset of llm4s: the last blocks stay. There the notes are the system's, whoever said what they tell."""
    return Digest(keep_blocks=keep_blocks, max_tokens=max_tokens, heading="")


def _counted(count: Callable[[str], int]) -> Callable[[str], int]:
    """The count with a token to spare: a mark and the notes behind it may count more than each alone."""
    return lambda text: count(text) + 1


def _start_of_last(transcript: Transcript, count: int) -> int:
    """The position at which the last ``count`` blocks begin; system messages are none of them."""
    messages: Sequence[Message] = transcript.messages
    starts = [
        start
        for block in blocks(messages)
        if messages[start := block.messages.start].role != "system"
    ]
    if count >= len(starts):
        return 0
    return starts[-count] if count else len(messages)
