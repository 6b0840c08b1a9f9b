"""Subjective edits by named rules; each edit is kept only if it saves tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Protocol

from holdfast.compressors.knobs import Configured, check_knobs
from holdfast.compressors.prose_rules import (
    shortened,
    standing,
    without_fillers,
    without_phrases,
    without_repeats,
)
from holdfast.compressors.summaries import body_of
from holdfast.kernel.apply import apply
from holdfast.kernel.budget import Allowance, Meter
from holdfast.kernel.compressor import Attempt, Flow, Plan
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.errors import ConfigError, IntegrityError, StrategyError
from holdfast.kernel.flow import ask
from holdfast.kernel.messages import Message, Part, Role, Text, ToolCall, ToolResult
from holdfast.kernel.transcript import Transcript, speaks

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


@dataclass(frozen=True, slots=True)
class MessageRule:
    """A rule that rewrites or drops messages of assistants and tools.

    It is refused if it changes a user's or system message, if it changes more than the texts of a
    message, or if applying it twice differs from applying it once.
    """

    name: str
    """The name of the rule."""

    function: Callable[[list[Any]], Sequence[Any]]
    """Takes copies of the caller's messages, and returns those that stay, in order."""

    def describe(self) -> Mapping[str, object]:
        """The name: a function has no better description."""
        return {"name": self.name}

    def edits(
        self, transcript: Transcript, meter: Meter, roles: AbstractSet[Role]
    ) -> Iterator[Edit]:
        """The function's edits. Raises StrategyError or IntegrityError if the rule is refused."""
        del meter, roles
        given = [deepcopy(message.original) for message in transcript.messages]
        places = {id(message): i for i, message in enumerate(given)}
        made = list(self.function(list(given)))
        if list(self.function(deepcopy(made))) != made:
            raise StrategyError(self.name, "doing it twice is not the same as doing it once")
        origins = self._origins([places.get(id(message)) for message in made], transcript, made)
        gone = sorted(set(range(len(transcript))).difference(origins))
        for i in gone:
            if speaks(transcript.messages[i]):
                raise IntegrityError(
                    "a rule may not drop a user's message", rule="words_are_kept", index=i
                )
        if gone:
            yield Drop(tuple(gone), self.name)
        for i, message in zip(origins, made, strict=True):
            if message != transcript.messages[i].original:
                if i in transcript.pinned:
                    raise IntegrityError(
                        "a pinned message stays as it is", rule="words_are_kept", index=i
                    )
                yield from self._texts(i, transcript.messages[i], message)

    def _origins(
        self, known: list[int | None], transcript: Transcript, made: Sequence[object]
    ) -> list[int]:
        """The transcript position of each returned message: by identity, equality or place."""
        if None in known and len(known) != len(transcript):
            equal = _equal_ones(transcript, made)
            known = [
                place if place is not None else other
                for place, other in zip(known, equal, strict=True)
            ]
        fixed = [
            (-1, -1),
            *((j, i) for j, i in enumerate(known) if i is not None),
            (len(known), len(transcript)),
        ]
        origins: list[int] = []
        for (j, i), (next_j, next_i) in pairwise(fixed):
            if next_i <= i:
                raise StrategyError(self.name, "it changes the order of the messages")
            new = next_j - j - 1
            if new and new != next_i - i - 1:
                problem = "it is not clear which messages it replaced; "
                raise StrategyError(self.name, problem + "it should return the ones that it got")
            origins += range(i + 1, i + 1 + new)
            origins += [next_i] if next_j < len(known) else []
        return origins

    def _texts(self, index: int, message: Message, made: object) -> Iterator[Edit]:
        """A Replace for each text that has changed."""
        parts = message.wire.parts(made)
        changed = {
            at: new.text if not isinstance(new, ToolCall) else new.arguments
            for at, (old, new) in enumerate(zip(message.parts, parts, strict=False))
            if old != new and isinstance(new, Text | ToolResult | ToolCall)
        }
        if message.wire.render(message.original, changed) != made:
            problem = "a rule may change the texts of a message and nothing else of it"
            raise IntegrityError(problem, rule="words_are_kept", index=index)
        for at, text in changed.items():
            yield Replace(index, at, text, self.name)


Rule = MessageRule
"""Its earlier name."""


def _equal_ones(transcript: Transcript, made: Sequence[object]) -> list[int | None]:
    """For each returned message, the next message of the transcript with the same parts."""
    places: dict[object, list[int]] = {}
    for i in range(len(transcript) - 1, -1, -1):
        places.setdefault(transcript.messages[i].parts, []).append(i)
    found: list[int | None] = []
    last = -1
    for message in made:
        waiting = places.get(transcript.wire.parts(message), [])
        while waiting and waiting[-1] <= last:
            waiting.pop()
        found.append(waiting.pop() if waiting else None)
        last = last if found[-1] is None else found[-1]
    return found


class _Edits(Protocol):
    """The method that all kinds of rules share."""

    @property
    def name(self) -> str: ...

    def edits(
        self, transcript: Transcript, meter: Meter, roles: AbstractSet[Role]
    ) -> Iterator[Edit]:
        """The edits of the rule for messages of these roles."""
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
"""The names of the built-in rules."""


@dataclass(frozen=True, slots=True)
class Rules(Configured):
    """Apply rules in turn until the target is met, and keep the edits of each that saves tokens.

    No profile uses this by itself. User and system messages, code, JSON and quotations are never
    changed.
    """

    rules: tuple[str | TextRule | MessageRule, ...] = RULES[:3]
    """The rules in order: names of built-in rules, or rules of your own."""

    roles: tuple[Literal["assistant", "tool"], ...] = ("assistant",)
    """The roles whose texts the built-in rules may change."""

    name = "rules"

    def __post_init__(self) -> None:
        check_knobs(self)
        for rule in self.rules:
            if isinstance(rule, str) and rule not in _BUILT_IN:
                raise ConfigError(
                    f"there is no rule {rule!r}", place="Rules.rules", advice=f"known are {RULES}"
                )

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """The edits of all rules together; the detail says what each saved."""
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
    """One rule as a strategy, so that its failure leaves the other rules working."""

    rule: _Edits
    roles: frozenset[Role]

    @property
    def name(self) -> str:
        return self.rule.name

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan:
        """The edits of the rule and their result, if they save tokens."""
        edits = tuple(self.rule.edits(transcript, allowance.meter, self.roles))
        applied = apply(transcript, edits)
        if not edits or allowance.meter.total(applied.transcript) >= allowance.meter.total(
            transcript
        ):
            return Plan.skip("nothing_saved")
        return Plan(edits, applied=applied)


def _between(before: Transcript, after: Transcript, origins: tuple[int, ...]) -> Iterator[Edit]:
    """The edits that turn one transcript into the other."""
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
