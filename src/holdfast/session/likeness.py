"""How near segments come in meaning to what is being talked about, as the session's embedder sees it (V.15)."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import mul
from typing import cast

from holdfast.calls.lineup import Lineup
from holdfast.kernel.errors import HoldfastError
from holdfast.kernel.ports import Embed
from holdfast.memory.segments import Segment
from holdfast.runtime import Runtime
from holdfast.text.similarity import unit

_AT_ONCE = 512  # texts of one request; the newest come first


@dataclass(slots=True)
class Likeness:
    """Holds the vectors of the segments; without an embedder there are none, and their words stand in."""

    lineup: Lineup
    redacts: bool = False
    _talk: str = ""
    _vectors: dict[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    """By text, each of length 1."""

    def unknown(self, segments: Iterable[Segment], talk: str) -> list[str]:
        """The texts whose vectors are to be asked for: of the talk, and of segments that are new or changed."""
        if self.lineup.embedder is None:
            return []
        self._talk = talk
        newest = sorted(segments, key=lambda each: -each.created)
        texts = dict.fromkeys(text for text in (talk, *(each.content for each in newest)) if text.strip())
        self._vectors = {text: self._vectors[text] for text in texts if text in self._vectors}
        return [text for text in texts if text not in self._vectors][:_AT_ONCE]

    def asked(self, texts: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """The vectors of the texts. Raises ModelError, or what else stands in the way."""
        answer = Runtime(self.lineup, redacts=self.redacts).answer(Embed(tuple(texts)))
        if isinstance(answer, HoldfastError):
            raise answer
        rows = cast("Sequence[Sequence[float]]", answer)
        return {text: array("f", unit(row) or ()) for text, row in zip(texts, rows, strict=True)}

    def take(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Know these from now on."""
        self._vectors |= vectors

    def of(self, segments: Collection[Segment]) -> dict[str, float]:
        """Cosines to the talk by the segment's id; of what is not known yet their mean. Empty if that is most."""
        talk = self._vectors.get(self._talk, ())
        known = {
            each.id: sum(map(mul, self._vectors[each.content], talk))
            for each in segments
            if talk and each.content in self._vectors
        }
        if len(known) < len(segments) / 2:
            return {}
        mean = sum(known.values()) / len(known)
        return {each.id: known.get(each.id, mean) for each in segments}
