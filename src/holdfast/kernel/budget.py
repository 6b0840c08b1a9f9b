"""Budgets and token counts.

``Budget`` is what a caller states, ``Allowance`` what a strategy may spend; ``Meter`` counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import inf
from numbers import Integral
from typing import Annotated, TypeGuard, cast

from .errors import ConfigError
from .messages import Media, Message, Part, Text, ToolCall, ToolResult
from .ports import Accuracy, Count, Tariff, TokenCounter
from .transcript import Transcript
from .typed import Only, Portion, check_fields, check_type

Share = int | float
"""An int is tokens; a float from 0 to 1 is a share of something else, usually the budget."""

MOST = 10**15  # tokens; doubles, in which shares are computed, are exact up to 2^53
Tokens = Annotated[
    int, Only("a positive number of tokens, such as 8000", range(1, MOST + 1).__contains__)
]
"""From 1, since nothing fits into 0 tokens."""

_WRITTEN = re.compile(
    r"(\d{1,3}(?:[,_]\d{3})*|\d{1,99}|\d{1,6}\.\d{1,6}(?=[km]))([km]?)", re.ASCII | re.IGNORECASE
)
_SCALE = {"": 1, "k": 1_000, "m": 1_000_000}  # decimal, as vendors write windows


def tokens_in(text: str) -> int | None:
    """The number of ``8000``, ``8_000``, ``8,000``, ``8k`` or ``8.5k``; None for other texts."""
    found = _WRITTEN.fullmatch(text.strip())
    if not found:
        return None
    whole, _, part = re.sub("[,_]", "", found[1]).partition(".")
    return int(int(whole + part) * _SCALE[found[2].lower()] // 10 ** len(part))


def written_tokens(text: str, least: int = 0, place: str = "") -> int:
    """At least so many tokens from text. Raises ConfigError for other texts."""
    number, advice = tokens_in(text), "give one such as 8000 or 8k"
    if text.rstrip().endswith("%"):
        advice += "; for a share of a model's window, name the model and the rest as headroom"
    if number is None or number < least:
        problem = f"{text!r:.40} is not a positive number of tokens"
        raise ConfigError(problem, place=place, advice=advice)
    if number > MOST:
        raise ConfigError(f"{text!r:.40} is more than any model takes", place=place, advice=advice)
    return number


def tokens_of(share: Share, whole: int) -> int:
    """The share in tokens; a float is rounded down."""
    return share if isinstance(share, int) else int(whole * share)


@dataclass(frozen=True)
class Budget:
    """What a conversation may take, in tokens: a limit or a window, less reserve and headroom.

    ``reserve`` is kept for the model's answer; ``headroom`` is a share in [0, 1) kept for counting
    errors. Compression starts above ``trigger`` and aims at ``target`` (tokens, or a share of the
    budget); both default to the budget. With ``step`` (a share of the budget) messages are removed
    in steps of that size, so that successive results begin alike and the provider's prompt cache
    holds. With ``hard``, a result that does not fit raises BudgetError.
    """

    limit: Tokens | None = None
    window: Tokens | None = None
    reserve: int = 0
    headroom: Portion = 0.0
    trigger: Share | None = None
    target: Share | None = None
    step: Portion = 0.0
    hard: bool = False

    def __post_init__(self) -> None:
        check_fields(self, bare=True)

    @classmethod
    def of(cls, budget: BudgetLike) -> Budget:
        """The budget for ``8_000``, ``"8k"``, a ``Budget``, or None (the model's window).

        Raises ConfigError for anything else.
        """
        if isinstance(budget, Budget):
            return budget
        if budget is None:
            return cls()
        if isinstance(budget, str):
            budget = written_tokens(budget, place="budget")
        given = cast("object", budget)  # such as a number of numpy, or 8e3
        is_number = isinstance(given, Integral) or (isinstance(given, float) and given.is_integer())
        if is_number and not isinstance(given, int):
            given = budget = int(cast("float", given))
        if is_whole(given, MOST + 1):
            raise ConfigError(
                "it is more than any model takes", place="budget", advice="give one such as 8k"
            )
        check_type(budget, Tokens, "budget")
        return cls(limit=budget)

    def tokens(self, window: int | None = None) -> int:
        """The tokens for the conversation; ``window`` is the model's, the default."""
        whole = min(filter(None, (self.limit, self.window)), default=window)
        if whole is None:
            raise ConfigError(
                "no budget is given",
                place="budget",
                advice="give budget=, or name a model whose window is known",
            )
        left = int((whole - self.reserve) * (1 - self.headroom))
        if left <= 0:
            raise ConfigError(
                f"reserve and headroom leave nothing of {whole:,} tokens",
                place="budget",
                advice="lower reserve= or headroom=",
            )
        return left

    def limit_for(self, tokens: int) -> int:
        """The smallest limit that leaves so many tokens for the conversation."""
        share = 1 - self.headroom
        whole = int(tokens / share)
        return self.reserve + whole + (int(whole * share) < tokens)


def thresholds(budget: Budget, limit: int, trigger: Share) -> tuple[int, int]:
    """The trigger and the target in tokens; ``trigger`` is that of a budget without one."""
    share = trigger if budget.trigger is None else budget.trigger
    target = 1.0 if budget.target is None else budget.target
    most = min(limit, tokens_of(share, limit))
    return most, min(most, tokens_of(target, limit))


BudgetLike = int | str | Budget | None
"""Tokens, such as ``8_000`` or ``"8k"``; a Budget; or None for the window of the model."""


def is_whole(value: object, least: float = -inf) -> TypeGuard[int]:
    """Whether the value is a whole number of at least ``least``."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


@dataclass(frozen=True)
class Meter:
    """Counts texts, messages and transcripts with one counter and one tariff.

    ``text`` is the cached count of a text, ``media`` the tokens of an image or a document.
    ``whole``, if given, counts a message instead of its parts and the tariff.
    """

    counter: TokenCounter
    text: Count
    media: Callable[[Media], int]
    tariff: Tariff = field(default_factory=Tariff)
    whole: Callable[[Message], int] | None = None

    def part(self, part: Part) -> int:
        """Tokens of one part, its overhead included."""
        if isinstance(part, ToolCall):
            return self.text(part.name) + self.text(part.arguments) + self.tariff.call
        if isinstance(part, ToolResult):
            named = self.text(f"tool_call_id:{part.call_id}") if self.tariff.result_id else 0
            return self.text(part.text) + named + sum(map(self.media, part.media))
        if isinstance(part, Media):
            return self.media(part)
        return self.text(part.text)

    def message(self, message: Message) -> int:
        """Tokens of one message, everything included."""
        known = message.measured
        if known is not None and known[0] is self:
            return known[1]
        plain = message.plain
        if self.whole is not None:
            tokens = self.whole(message)
        elif plain is not None and message.is_speech and not message.aside:
            tokens = self.tariff.message + self.text(plain)
        else:
            tokens = self.tariff.message + sum([self.part(part) for part in message.parts])
            if aside := message.aside:
                tokens += self.text(aside)
        message.measured = (self, tokens)
        return tokens

    def words(self, message: Message) -> int:
        """Tokens of one message without its media."""
        if message.is_speech:
            return self.message(message)
        media = [part for part in message.parts if isinstance(part, Media)]
        media += chain.from_iterable(result.media for result in message.results)
        return self.message(message) - sum(map(self.media, media))

    def sizes(self, transcript: Transcript) -> Sequence[int]:
        """Tokens of each message, cached on the transcript."""
        known = transcript.__dict__.get("sizes")
        if known is None or known[0] is not self:
            sizes = [  # of a conversation that comes again, most are measured
                size[1] if (size := message.measured) and size[0] is self else self.message(message)
                for message in transcript.messages
            ]
            known = transcript.__dict__["sizes"] = (self, sizes)
        return cast("Sequence[int]", known[1])

    def overhead(self, envelope: Iterable[Part]) -> int:
        """Tokens beside the messages: overhead of the conversation, system prompt and schemas."""
        return self.tariff.conversation + sum(map(self.part, envelope))

    def accuracy(self, transcript: Transcript) -> Accuracy:
        """How exact the count of the transcript is; media are always estimated."""
        accuracy = self.counter.accuracy
        others = (message for message in transcript.messages if not message.is_speech)
        parts = chain(transcript.envelope, (part for other in others for part in other.parts))
        if accuracy.kind != "exact" or all(isinstance(part, Text) for part in parts):
            return accuracy
        return Accuracy("approximate")

    def total(self, transcript: Transcript) -> int:
        """Tokens of the whole transcript."""
        return sum(self.sizes(transcript)) + self.overhead(transcript.envelope)


@dataclass(frozen=True)
class Allowance:
    """What a strategy may spend, in tokens: it aims at ``target`` and must not exceed ``limit``.

    ``window`` is the caller's budget, of which shares are taken. ``query`` is the caller's
    question. ``stored`` says whether originals can be saved, and ``recall_tool`` names the tool
    that returns them to the model, if there is one. ``logged`` says that the caller keeps whole
    messages, of which none need be saved. ``thread`` is the conversation's id or empty.
    ``writer`` names the model that writes summaries or is empty, and ``writer_window`` is its
    window (0 if unknown). With ``redacts``, secrets in the words of users are masked wherever they
    are repeated. ``followed`` says whether other steps run after this one.
    """

    limit: int
    target: int
    window: int
    meter: Meter
    query: str | None = None
    stored: bool = False
    recall_tool: str = ""
    thread: str = ""
    writer: str = ""
    writer_window: int = 0
    redacts: bool = False
    followed: bool = False
    logged: bool = False

    def share(self, share: Share) -> int:
        """Tokens of a share of the window."""
        return tokens_of(share, self.window)
