"""The warm and the cold form by a model, held against the original.

The form by rule stands wherever that of the model falls short.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Any

from holdfast.compressors.verification import unfounded
from holdfast.compressors.writer import quoted, request
from holdfast.kernel.errors import ModelError
from holdfast.kernel.flow import ask
from holdfast.kernel.ports import Ask
from holdfast.memory.entities import completed, named_in
from holdfast.memory.forms import (
    FACTORS,
    HEAVY,
    KEPT,
    LIGHT,
    Condenser,
    Count,
    Form,
    RuleCondenser,
    room_for,
)
from holdfast.memory.tiers import Segment, expansion, verbatim

RECONSTRUCTED = (
    "[reconstructed by a model from a shorter note of it: these are not the original words]"
)
"""The first line of what a model wrote out."""

_PROMPTS = {LIGHT: "light", HEAVY: "heavy"}
_LEAST = 12  # tokens that a form aims at, at least: in fewer a model says no more than the rule
_EXPANSION = 4  # times the note's tokens that its expansion may take


@dataclass(frozen=True, slots=True)
class ModelCondenser:
    """Asks the model for a form, and takes it if it says what the text says and is small enough.

    ``rule`` makes the form that stands until the model has answered, where its answer is refused,
    and of what is too short to be worth a request.
    """

    rule: Condenser = field(default_factory=RuleCondenser)

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form by rule: at once, and without a model."""
        return self.rule.condense(text, level, count)

    def asking(self, text: str, level: int, count: Count) -> Generator[Ask[object], Any, Form]:
        """The form by the model, and behind it what the text names and the model left out."""
        aimed = int(count(text) / FACTORS[level][0])
        if aimed < _LEAST:
            return Form(self.condense(text, level, count), asked=False)
        named, room = named_in(text), room_for(count(text), level)
        reply = yield from _written(_PROMPTS[level], text, named, aimed)
        form = completed(reply, named, room, count)
        reason = unfounded(reply, text)
        if not reason and count(form) > room:
            reason = "it is too long"
        if not reason and sum(name in form for name in named) < KEPT[level] * len(named):
            reason = "with all that the text names it is too long"
        return Form(self.condense(text, level, count), reason) if reason else Form(form)


def expanded(segment: Segment, count: Count, now: float) -> Generator[Ask[object], Any, Segment]:
    """The segment written out by the model (V.19), marked as reconstructed.

    ``recalled`` gives the original. Raises ModelError where the model has no answer, or one that
    the note does not bear out. Only for those who ask for it.
    """
    note, named = segment.content, named_in(segment.content)
    text = yield from _written("expand", note, named, segment.tokens * _EXPANSION)
    reason = unfounded(text, note)
    missing = [name for name in named if name not in text]
    if not reason and missing:
        reason = f"it leaves out {missing[0]!r}"
    if reason:
        raise ModelError(f"the reply of the model was refused: {reason}")
    told = {**expansion(segment, now), "reconstructed": True}
    return verbatim(segment, f"{RECONSTRUCTED}\n{text}", count, now, told)


def _written(
    prompt: str, piece: str, named: Iterable[str], tokens: int
) -> Generator[Ask[object], Any, str]:
    names = ", ".join(named) or "(nothing in particular)"
    reply = yield from ask(request(prompt, tokens, {"named": names, "messages": quoted(piece)}))
    return reply.strip()
