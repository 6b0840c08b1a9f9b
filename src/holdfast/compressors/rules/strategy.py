"""Rules in a row, each measured: what saves nothing, or may not be, does not happen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal, Protocol

from holdfast.compressors.describing import knobs
from holdfast.compressors.knobs import check_knobs
from holdfast.compressors.rules.examples import ConsolidateExamples
from holdfast.compressors.rules.fillers import without_fillers
from holdfast.compressors.rules.messages import Rule
from holdfast.compressors.rules.phrases import without_phrases
from holdfast.compressors.rules.repeats import without_repeats
from holdfast.compressors.rules.texts import TextRule
from holdfast.compressors.rules.verbose import shortened
from holdfast.kernel.apply import apply
from holdfast.kernel.budget import Allowance, Meter
from holdfast.kernel.compressor import Attempt, Flow, Plan
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.flow import ask
from holdfast.kernel.messages import Part, Role
from holdfast.kernel.transcript import Transcript


class _Edits(Protocol):
    """What every rule is."""

    @property
    def name(self) -> str: ...

    def edits(self, transcript: Transcript, meter: Meter, roles: AbstractSet[Role]) -> Iterator[Edit]:
        """What the rule would do to messages of these roles."""
        ...


_BUILT_IN: Mapping[str, _Edits] = {
    rule.name: rule
    for rule in (
        TextRule("filler_words", without_fillers),
        TextRule("dedupe_sentences", without_repeats),
        TextRule("truncate_verbose", shortened),
        TextRule("redundant_phrases", without_phrases),
        ConsolidateExamples(),
    )
}
RULES = tuple(_BUILT_IN)
"""The names of the rules that come with the strategy."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Subjective edits: one rule after another until the target is met, each kept only where it saves tokens.

    In no profile unless asked for. What users and the system said, code, JSON and quotations stand as they are.
    """

    rules: tuple[str | TextRule | Rule, ...] = RULES[:3]
    """The rules in order: names of those that come with it, or rules of the caller's own."""

    roles: tuple[Literal["assistant", "tool"], ...] = ("assistant",)
    """Whose texts the rules that come with it may change."""

    name = "rules"

    def __post_init__(self) -> None:
        check_knobs(self)
        for rule in self.rules:
            if isinstance(rule, str) and rule not in _BUILT_IN:
                raise ConfigError(f"there is no rule {rule!r}", place="Rules.rules", advice=f"known are {RULES}")

    def describe(self) -> Mapping[str, object]:
        """The name and the knobs."""
        return {"strategy": self.name, **knobs(self)}

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """What all rules together come to; the detail tells what each saved, or why it was refused."""
        now, origins = transcript, tuple(range(len(transcript)))
        told: list[str] = []
        for rule in (_BUILT_IN[rule] if isinstance(rule, str) else rule for rule in self.rules):
            tokens = allowance.meter.total(now)
            if tokens <= allowance.target:
                break
            plan = yield from ask(Attempt(_Tried(rule, frozenset(self.roles)), now, allowance))
            if plan.applied is not None:
                origins = tuple(origins[i] for i in plan.applied.origins if i is not None)
                now = plan.applied.transcript
                told.append(f"{rule.name} saved {tokens - allowance.meter.total(now):,} tokens")
            elif plan.status == "failed":
                told.append(f"{rule.name} was refused ({plan.detail})")
        edits = tuple(_between(transcript, now, origins))
        if not edits:
            return Plan.skip("nothing_saved", "; ".join(told) or "no rule saves tokens")
        return Plan(edits, reason="rules_applied", detail="; ".join(told))


@dataclass(frozen=True, slots=True)
class _Tried:
    """One rule as a strategy: its edits, applied, if they save tokens. A fault of it is its own."""

    rule: _Edits
    roles: frozenset[Role]

    @property
    def name(self) -> str:
        return self.rule.name

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan:
        """The plan with what became of it."""
        edits = tuple(self.rule.edits(transcript, allowance.meter, self.roles))
        applied = apply(transcript, edits)
        if not edits or allowance.meter.total(applied.transcript) >= allowance.meter.total(transcript):
            return Plan.skip("nothing_saved")
        return Plan(edits, applied=applied)


def _between(before: Transcript, after: Transcript, origins: tuple[int, ...]) -> Iterator[Edit]:
    """The edits that lead from one transcript to the other."""
    gone = sorted(set(range(len(before))).difference(origins))
    if gone:
        yield Drop(tuple(gone), "left out by a rule")
    for i, message in zip(origins, after.messages, strict=True):
        old = before.messages[i]
        if message is not old:
            for at, (part, other) in enumerate(zip(old.parts, message.parts, strict=True)):
                if part != other:
                    yield Replace(i, at, _said(other), "reworded by a rule")


def _said(part: Part) -> str:
    return getattr(part, "arguments", None) or part.text
