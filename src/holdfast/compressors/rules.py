"""Subjective edits by named rules; each edit is kept only if it saves tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from holdfast.compressors.knobs import Configured
from holdfast.compressors.pipeline import Pipeline
from holdfast.compressors.prose_rules import (
    shortened,
    standing,
    without_fillers,
    without_phrases,
    without_repeats,
)
from holdfast.compressors.summaries import body_of
from holdfast.kernel.budget import Allowance, Meter
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.messages import Message, Part, Role, Text, ToolResult
from holdfast.kernel.transcript import Transcript
from holdfast.kernel.typed import check_fields

# an edit can make another one possible; a text that still changes after this many is left alone
_MOST_PASSES = 4


@dataclass(frozen=True, slots=True)
class TextRule:
    """A rule that rewrites each text of assistants and tools separately."""

    name: str
    """The name of the rule, such as ``drop_fillers``."""

    rewrite: Callable[[str], str]
    """Returns the new text, or the same text if nothing is to change."""

    def describe(self) -> Mapping[str, object]:
        """The name: a function has no better description."""
        return {"name": self.name}

    def edits(
        self, transcript: Transcript, meter: Meter, roles: AbstractSet[Role]
    ) -> Iterator[Edit]:
        """A Replace for each text that the rule makes shorter, repeated until nothing changes."""
        for i, message in enumerate(transcript.messages):
            if i in transcript.pinned or body_of(message) is not None:
                continue
            for at, part in enumerate(message.parts):
                if _role(message, part) in roles:
                    text = self._settled(part.text)
                    if (
                        text != part.text
                        and text.strip()
                        and meter.text(text) < meter.text(part.text)
                    ):
                        yield Replace(i, at, text, self.name)

    def _settled(self, text: str) -> str:
        now = text
        for _ in range(_MOST_PASSES):
            before, now = now, self.rewrite(now)
            if now == before:
                return now
        return text


def _role(message: Message, part: Part) -> Role | None:
    """The role of a part, None if it is not only text. Results may be in the user's role."""
    if isinstance(part, ToolResult):
        return None if part.media else "tool"
    return message.role if isinstance(part, Text) else None


_TELLING = ("example", "for instance")
_MARK = "...[+ "


class ConsolidateExamples:
    """Of neighbouring messages that give examples, keeps the first and the last.

    A line between them says how many there were.
    """

    name = "consolidate_examples"

    def edits(
        self, transcript: Transcript, meter: Meter, roles: AbstractSet[Role]
    ) -> Iterator[Edit]:
        """For each run of three or more: a Replace of the second, a Drop of the others between."""
        del meter
        run: list[int] = []
        for i, message in enumerate(transcript.messages):
            if message.role in roles and _is_example(message):
                run.append(i)
                if i not in transcript.protected:
                    continue
            yield from _consolidated(run)
            run = []
        yield from _consolidated(run)


def _consolidated(run: list[int]) -> Iterator[Edit]:
    between = run[1:-1]
    if not between:
        return
    yield Replace(
        between[0], 0, f"{_MARK}{len(between)} additional examples]...", ConsolidateExamples.name
    )
    if len(between) > 1:
        yield Drop(tuple(between[1:]), ConsolidateExamples.name)


def _is_example(message: Message) -> bool:
    text = message.plain
    if (
        text is None
        or not message.is_speech
        or text.startswith(_MARK)
        or body_of(message) is not None
    ):
        return False
    low = text.lower()
    return any(word in low for word in _TELLING) and not standing(text)


_Rule = TextRule | ConsolidateExamples

_BUILT_IN: Mapping[str, _Rule] = {
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
"""The names of the built-in rules."""


@dataclass(frozen=True, slots=True)
class Rules(Configured):
    """Apply rules in turn until the target is met, and keep the edits of each that saves tokens.

    No profile uses this by itself. User and system messages, code, JSON and quotations are never
    changed.
    """

    rules: tuple[str | TextRule, ...] = RULES[:3]
    """The rules in order: names of built-in rules, or rules of your own."""

    roles: tuple[Literal["assistant", "tool"], ...] = ("assistant",)
    """The roles whose texts the built-in rules may change."""

    name = "rules"

    def __post_init__(self) -> None:
        check_fields(self)
        for rule in self.rules:
            if isinstance(rule, str) and rule not in _BUILT_IN:
                raise ConfigError(
                    f"there is no rule {rule!r}", place="Rules.rules", advice=f"known are {RULES}"
                )

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan | Flow:
        """A step for each rule, as in any pipeline."""
        steps = tuple(
            _RuleStep(_BUILT_IN[rule] if isinstance(rule, str) else rule, frozenset(self.roles))
            for rule in self.rules
        )
        return Pipeline(steps).plan(transcript, allowance)


@dataclass(frozen=True, slots=True)
class _RuleStep:
    """One rule as a strategy."""

    rule: _Rule
    roles: frozenset[Role]

    @property
    def name(self) -> str:
        return self.rule.name

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan:
        """The edits of the rule."""
        edits = tuple(self.rule.edits(transcript, allowance.meter, self.roles))
        return Plan(edits) if edits else Plan.skip("nothing_saved", "the rule saves no tokens")
