"""A model's warm and cold forms of a segment, checked against the original.

If a form fails the check, rules make it.
"""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from holdfast.calls.lineup import Lineup
from holdfast.compressors.writer import quoted, request, together, unfounded
from holdfast.kernel.compressor import ask, run
from holdfast.kernel.errors import HoldfastError, ModelError, problem_of
from holdfast.kernel.ports import Ask
from holdfast.memory.entities import add_names, named_in
from holdfast.memory.forms import (
    FACTORS,
    HEAVY,
    KEPT,
    LIGHT,
    AskingCondenser,
    Condenser,
    Form,
    RuleCondenser,
    room_for,
)
from holdfast.memory.tiers import Segment, expand
from holdfast.model_usage import ModelUsage
from holdfast.redact import concealing
from holdfast.runtime import Runtime
from holdfast.text.fit import SENTENCE, Count

from .tiers import WantedForm

RECONSTRUCTED = (
    "[reconstructed by a model from a shorter note of it: these are not the original words]"
)
"""The first line of a text that a model reconstructed."""

_PROMPTS = {LIGHT: "light", HEAVY: "heavy"}


@dataclass(frozen=True, slots=True)
class ModelCondenser:
    """Asks the model for a form, and accepts it if it is faithful and small enough.

    ``rule`` makes the form until the model has answered, if its answer is refused, and for a text
    that is too short to be worth a request.
    """

    rule: Condenser = field(default_factory=RuleCondenser)

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form made by rules, without a model."""
        return self.rule.condense(text, level, count)

    def asking(self, text: str, level: int, count: Count) -> Generator[Ask[object], Any, Form]:
        """The model's form, followed by the names in the text that the model left out."""
        aimed = int(count(text) / FACTORS[level][0])
        if aimed < SENTENCE:
            return Form(self.condense(text, level, count), asked=False)
        named, room = named_in(text), room_for(count(text), level)
        reply = yield from _written(_PROMPTS[level], text, named, aimed)
        form = add_names(reply, named, room, count)
        reason = unfounded(reply, text)
        if not reason and count(form) > room:
            reason = "it is too long"
        if not reason and sum(name in form for name in named) < KEPT[level] * len(named):
            reason = "with all that the text names it is too long"
        return Form(self.condense(text, level, count), reason) if reason else Form(form)


def expanded(segment: Segment, count: Count, now: float) -> Generator[Ask[object], Any, Segment]:
    """The segment as reconstructed by the model (V.19), marked as such.

    Raises ModelError if the model does not answer, or if the note does not support its answer. Only
    for callers that ask for it: ``recalled`` returns the original if there is one.
    """
    note, named = segment.content, named_in(segment.content)
    text = yield from _written("expand", note, named, int(segment.tokens * FACTORS[LIGHT][0]))
    reason = unfounded(text, note)
    missing = [name for name in named if not all(word in text for word in name.split())]
    if not reason and missing:
        reason = f"it leaves out {missing[0]!r}"
    if reason:
        raise ModelError(f"the reply of the model was refused: {reason}")
    return expand(segment, f"{RECONSTRUCTED}\n{text}", count, now, reconstructed=True)


def _written(
    prompt: str, piece: str, named: Iterable[str], tokens: int
) -> Generator[Ask[object], Any, str]:
    names = ", ".join(named) or "(nothing in particular)"
    reply = yield from ask(request(prompt, tokens, {"named": names, "messages": quoted(piece)}))
    return reply.strip()


@dataclass(frozen=True, slots=True)
class FormRequests:
    """Asks the model for forms; with ``redacts``, secrets are masked first."""

    condenser: AskingCondenser
    lineup: Lineup
    redacts: bool

    def ask_for(
        self, wanted: Sequence[WantedForm]
    ) -> tuple[list[Form | HoldfastError], ModelUsage]:
        """Ask for these forms together. Failures of the model are not raised."""
        runtime = Runtime(self.lineup, redacts=self.redacts)
        flows = list(map(self._asking, wanted))
        return run(together(flows), cast("Any", runtime.answer)), runtime.usage()

    def _asking(self, wanted: WantedForm) -> Generator[Ask[Any], Any, Form]:
        """The form. Raises ModelError also for other errors, since condensers are anyone's."""
        told = concealing(redacts=self.redacts)(wanted.text)
        try:
            return (yield from self.condenser.asking(told, wanted.key[1], self.lineup.count))
        except HoldfastError:
            raise
        except Exception as fault:
            raise ModelError(problem_of(fault)) from fault

    def expanded(self, segment: Segment, now: float) -> str:
        """The note of a segment reconstructed by the model, and marked so. Raises ModelError."""
        runtime = Runtime(self.lineup, redacts=self.redacts)
        return run(expanded(segment, self.lineup.count, now), runtime.answer_or_raise).content
