"""What a session asks a model for: the forms of segments, and what a note may have been made of."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from holdfast.calls.lineup import Lineup
from holdfast.compressors.writer import together
from holdfast.kernel.errors import HoldfastError
from holdfast.kernel.ports import Ask
from holdfast.memory.by_model import expanded
from holdfast.memory.condensing import AskingCondenser, Form
from holdfast.memory.segments import Segment
from holdfast.result import ModelUsage
from holdfast.runtime import Runtime
from holdfast.text.concealed import redacted_text

from .tending import Owed

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answers:
    """What came of one round: the forms, what there is none of and the first reason why, and what it took."""

    forms: Mapping[Owed, Form]
    failed: tuple[Owed, ...]
    fault: str
    usage: ModelUsage

    @property
    def refused(self) -> int:
        """How many forms were refused, so that the one by rule stands."""
        return sum(bool(form.refused) for form in self.forms.values())

    @property
    def asked(self) -> int:
        """How many forms the model was asked for, also those that failed."""
        return sum(form.asked for form in self.forms.values()) + len(self.failed)


@dataclass(frozen=True, slots=True)
class Forming:
    """Asks the model of the line-up; with ``redacts``, secrets are masked before."""

    condenser: AskingCondenser
    lineup: Lineup
    redacts: bool = False

    def asked(self, owed: Sequence[Owed]) -> Answers:
        """The forms that are owed, asked for together. Model faults are told, not raised."""
        runtime = Runtime(self.lineup, redacts=self.redacts)
        count = self.lineup.count
        flows = [self.condenser.asking(self._masked(each.text), each.level, count) for each in owed]
        answers = list(zip(owed, _answered(together(flows), runtime.answer), strict=True))
        faults = [str(answer) for _, answer in answers if isinstance(answer, HoldfastError)]
        return Answers(
            {each: answer for each, answer in answers if isinstance(answer, Form)},
            tuple(each for each, answer in answers if isinstance(answer, HoldfastError)),
            faults[0] if faults else "",
            runtime.usage(),
        )

    def expanded(self, segment: Segment, now: float) -> str:
        """The note of a segment written out and marked as reconstructed. Raises ModelError."""
        runtime = Runtime(self.lineup, redacts=self.redacts)
        return _answered(expanded(segment, self.lineup.count, now), runtime.answer).content

    def _masked(self, text: str) -> str:
        return redacted_text(text)[0] if self.redacts else text


def _answered(flow: Generator[Ask[Any], Any, T], answer: Callable[[Ask[object]], object]) -> T:
    """What the flow returns when all that it asks is answered."""
    try:
        request = next(flow)
        while True:
            told = answer(request)
            request = flow.throw(told) if isinstance(told, HoldfastError) else flow.send(told)
    except StopIteration as end:
        returned: T = end.value
        return returned
    finally:
        flow.close()
