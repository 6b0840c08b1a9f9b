"""The warm and the cold form by a model, held against the original; the form by rule wherever it falls short."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from holdfast.kernel.errors import HoldfastError
from holdfast.kernel.flow import ask
from holdfast.kernel.ports import Ask, Complete

from .changing import read
from .condensing import FACTORS, Condenser, RuleCondenser
from .entities import entities
from .segments import HEAVY, LIGHT, VERBATIM, Segment

Count = Callable[[str], int]

_PROMPTS = Path(__file__).parent / "prompts"
_NAMES = {LIGHT: "light", HEAVY: "heavy"}
_KEPT = {LIGHT: 0.95, HEAVY: 0.80}
"""The share of what is named in the original that a form must keep."""

_WORDS_A_TOKEN = 0.7  # of English, a little less than the usual three quarters
_EXPANSION = 4  # times the note's tokens that its expansion may take


@dataclass(frozen=True, slots=True)
class ModelCondenser:
    """Asks the model for a form, and takes it if it is small enough and keeps what is named.

    ``rule`` makes the form that stands until the model has answered, and where its answer is refused.
    """

    rule: Condenser = field(default_factory=RuleCondenser)

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form by rule: at once, and without a model."""
        return self.rule.condense(text, level, count)

    def asking(self, text: str, level: int, count: Count) -> Generator[Ask[object], Any, str]:
        """The form by the model, or the one by rule; never raises."""
        aimed, least = FACTORS[level]
        size = count(text)
        named = [entity.text for entity in entities(text, None) if entity.kind != "phrase"]
        request = _request(_NAMES[level], text, named, max(1, int(size / aimed)))
        try:
            form = (yield from ask(request)).strip()
        except HoldfastError:
            return self.condense(text, level, count)
        kept = [name for name in named if name in form]
        if not form or count(form) > size / least or len(kept) < _KEPT[level] * len(named):
            return self.condense(text, level, count)
        return form


def expanded(segment: Segment, count: Count, now: float) -> Generator[Ask[object], Any, Segment]:
    """The segment written out by the model (V.19), marked as reconstructed; ``recalled`` gives the original.

    Unchanged, where the model fails or leaves out what the note names. Only for those who ask for it.
    """
    named = [entity.text for entity in entities(segment.content, None) if entity.kind != "phrase"]
    request = _request("expand", segment.content, named, segment.tokens * _EXPANSION)
    try:
        text = (yield from ask(request)).strip()
    except HoldfastError:
        return segment
    if not text or not all(name in text for name in named):
        return segment
    metadata = {
        "was_compressed": True,
        "original_compression_level": segment.level,
        "expansion_timestamp": now,
        "reconstructed": True,
    }
    return replace(read(segment, now), content=text, tokens=count(text), level=VERBATIM, metadata=metadata)


def _request(name: str, piece: str, named: list[str], tokens: int) -> Complete:
    prompt = _template(name).substitute(
        words=max(1, int(tokens * _WORDS_A_TOKEN)),
        named=", ".join(named) or "(nothing in particular)",
        piece="\n".join(f"| {line}" for line in piece.splitlines()),
    )
    return Complete(prompt.strip(), _template("system").template.strip(), tokens)


@cache
def _template(name: str) -> Template:
    return Template((_PROMPTS / f"{name}.txt").read_text("utf-8"))
