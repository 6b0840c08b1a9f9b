"""Semantic deduplication: of older messages that say the same, one stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from holdfast.compressors.cuts import legal, preferred
from holdfast.compressors.dedupe.leaders import leaders
from holdfast.compressors.dedupe.meaning import contrasts, lacking, shows, with_sentences
from holdfast.compressors.dedupe.sayings import Saying, sayings
from holdfast.compressors.describing import knobs
from holdfast.compressors.knobs import check_knobs
from holdfast.kernel.budget import Allowance, Meter
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.errors import ModelError
from holdfast.kernel.flow import ask
from holdfast.kernel.messages import Message, Text
from holdfast.kernel.ports import Embed
from holdfast.kernel.transcript import Transcript
from holdfast.text.similarity import Vector

_MOST, _SHARE = 2, 0.5
"""Sentences, and share of a message, that may be added to the one that stays: with more, the two differ."""


@dataclass(frozen=True, slots=True)
class Semantic:
    """Older messages of one role that say nearly the same are merged: the longest stays, where it stands.

    Nothing exact is lost by it. A user's message leaves if the one that stays names all that it names; a sentence
    in which an assistant's message names more is added to the one that stays; an exchange with tools leaves whole,
    for a newer one that shows the same. System messages are never compared.
    """

    similarity_threshold: float = 0.85
    """Cosine from which on two messages say the same; brought into 0 to 1."""

    keep_recent: int = 5
    """The newest messages, system messages not counted, that are left alone."""

    name = "semantic"

    def __post_init__(self) -> None:
        if isinstance(cast("object", self.similarity_threshold), int | float):
            object.__setattr__(self, "similarity_threshold", min(max(self.similarity_threshold, 0.0), 1.0))
        check_knobs(self)

    def describe(self) -> Mapping[str, object]:
        """The name and the knobs."""
        return {"strategy": self.name, **knobs(self)}

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """A Drop of what others say, and a Replace for each text that takes something over."""
        said = list(sayings(transcript, _start_of_recent(transcript, self.keep_recent)))
        texts = tuple(dict.fromkeys(saying.meant for saying in said))
        if len(said) < 2:
            return Plan.skip("too_few_messages", "fewer than two older messages could be compared")
        vectors = yield from ask(Embed(texts))
        if len(vectors) != len(texts):
            raise ModelError(f"the embedder gave {len(vectors):,} vectors for {len(texts):,} texts")
        merged = _Merged(transcript, allowance.meter)
        for cluster in _clusters(said, dict(zip(texts, vectors, strict=True)), self.similarity_threshold):
            merged.take(cluster)
        edits = merged.edits()
        if not edits:
            return Plan.skip("nothing_alike", f"of {len(said):,} older messages none says what another one says")
        return Plan(edits, reason="duplicates_merged")


class _Merged:
    """What goes into what."""

    def __init__(self, transcript: Transcript, meter: Meter) -> None:
        self._transcript, self._meter = transcript, meter
        self._firm = transcript.protected | preferred(transcript)
        self._into: dict[Saying, list[tuple[Saying, list[str]]]] = {}

    def take(self, cluster: Sequence[Saying]) -> None:
        """Merge what may be merged into the longest, which is not moved: survivors keep their order."""
        stays = max(cluster, key=lambda saying: (len(saying.meant), saying.unit.start))
        if cluster[0].meant == stays.meant:
            stays = cluster[0]
        taken = self._into.setdefault(stays, [])
        whole = stays.text
        for saying in cluster:
            if saying is stays or not self._firm.isdisjoint(saying.unit):
                continue
            more = self._lacking(saying, stays, whole)
            if more is not None:
                taken.append((saying, more))
                whole = with_sentences(whole, more) if more else whole

    def _lacking(self, saying: Saying, stays: Saying, whole: str) -> list[str] | None:
        """The sentences that are to be added when the one goes for the other; None where it may not go."""
        if saying.meant == stays.meant and saying.text == saying.meant:
            return []
        if saying.is_exchange:
            shown = saying.unit.start < stays.unit.start and shows(stays.meant, saying.meant)
            return [] if shown else None
        if contrasts(saying.meant, stays.meant):
            return None
        more = lacking(saying.text, whole)
        return more if not more or self._may_add(saying, stays, more) else None

    def _may_add(self, saying: Saying, stays: Saying, more: Sequence[str]) -> bool:
        if saying.kind != ("assistant",) or stays.unit.start in self._transcript.protected or len(more) > _MOST:
            return False
        return self._added_tokens(stays, more) <= _SHARE * self._meter.text(saying.text)

    def _added_tokens(self, stays: Saying, more: Sequence[str]) -> int:
        return self._meter.text(with_sentences(stays.text, more)) - self._meter.text(stays.text)

    def edits(self) -> tuple[Edit, ...]:
        """What was decided, as far as no rule objects to what would then meet."""
        going = {i for taken in self._into.values() for saying, _ in taken for i in saying.unit}
        others = frozenset(range(len(self._transcript))) - going
        going = legal(self._transcript, going, others) & going
        if not going:
            return ()
        added = [edit for stays, taken in self._into.items() for edit in self._added(stays, taken, going)]
        return (Drop(tuple(sorted(going)), "another message says the same"), *added)

    def _added(self, stays: Saying, taken: Sequence[tuple[Saying, list[str]]], going: set[int]) -> Iterator[Edit]:
        more = [each for saying, some in taken if saying.unit.start in going for each in some]
        if more:
            message = self._transcript.messages[stays.unit.start]
            at = _last_text(message)
            text = with_sentences(message.parts[at].text, more)
            yield Replace(stays.unit.start, at, text, "it takes over what messages named that said the same")


def _clusters(
    said: Sequence[Saying], vectors: Mapping[str, Vector], threshold: float
) -> Iterator[Sequence[Saying]]:
    """Sayings of one kind that are near each other, each cluster in order with its leader first."""
    kinds: dict[tuple[str, ...], list[Saying]] = {}
    for saying in said:
        kinds.setdefault(saying.kind, []).append(saying)
    for alike in kinds.values():
        found: dict[int, list[Saying]] = {}
        for saying, leader in zip(alike, leaders([vectors[s.meant] for s in alike], threshold), strict=True):
            found.setdefault(leader, []).append(saying)
        yield from (cluster for cluster in found.values() if len(cluster) > 1)


def _start_of_recent(transcript: Transcript, count: int) -> int:
    others = [i for i, message in enumerate(transcript.messages) if message.role != "system"]
    if count >= len(others):
        return 0
    return others[len(others) - count] if count else len(transcript)


def _last_text(message: Message) -> int:
    return max(at for at, part in enumerate(message.parts) if isinstance(part, Text))
