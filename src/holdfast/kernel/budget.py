"""How much there is, and how much a message takes.

``Budget`` is what a caller states; ``Allowance`` is what a strategy may spend; ``Meter`` counts,
each text once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import cast

from .errors import ConfigError
from .messages import Media, Message, Part, Text, ToolCall, ToolResult
from .ports import Accuracy, Tariff, TokenCounter
from .transcript import Transcript

Share = int | float
"""An int is tokens; a float from 0 to 1 is a share of what it is set against."""

_MOST = 10**15  # tokens; beyond it, shares would not be exact, and no window is near it


_WRITTEN = re.compile(
    r"(\d{1,3}(?:[,_]\d{3})*|\d{1,15}|\d{1,6}\.\d{1,6}(?=[km]))(k|m)?", re.ASCII | re.IGNORECASE
)
_SCALE = {"": 1, "k": 1_000, "m": 1_000_000}


def tokens_in(text: str) -> int | None:
    """``8000``, ``8_000``, ``8,000``, ``8k`` or ``8.5k`` as a number; None for anything else."""
    found = _WRITTEN.fullmatch(text.strip())
    if not found:
        return None
    return int(Decimal(re.sub("[,_]", "", found[1])) * _SCALE[(found[2] or "").lower()])


def written_tokens(text: str) -> int:
    """A number of tokens as people write it. Raises ConfigError, without a place, for anything else."""
    number, advice = tokens_in(text), "give one such as 8000 or 8k"
    if number is None:
        raise ConfigError(f"{text!r:.40} is not a positive number of tokens", advice=advice)
    if number > _MOST:
        raise ConfigError(f"{text!r:.40} is more than any model takes", advice=advice)
    return number


def tokens_of(share: Share, whole: int) -> int:
    """The share in tokens; a float is rounded down."""
    return share if isinstance(share, int) else int(whole * share)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a conversation may take, in tokens: a limit or window, less reserve and headroom.

    ``reserve`` is kept for the model's answer; ``headroom`` is a share in [0, 1) kept free for
    counting errors. Compression starts when the conversation is larger than ``trigger`` and aims at
    ``target`` (tokens, or a share of the budget); by default both are the budget itself. With
    ``step`` (a share of the budget) what goes, goes in steps of that size, so that successive
    results share their beginning and the provider's prompt cache holds. ``hard``: a result that
    does not fit raises BudgetError instead of saying so.
    """

    limit: int | None = None
    window: int | None = None
    reserve: int = 0
    headroom: float = 0.0
    trigger: Share | None = None
    target: Share | None = None
    step: float = 0.0
    hard: bool = False

    def __post_init__(self) -> None:
        for name in ("limit", "window"):
            value = getattr(self, name)
            if value is not None and (not _is_int(value) or not 0 < value <= _MOST):
                raise ConfigError(f"{value!r} is not a positive number of tokens", place=name)
        if not _is_int(self.reserve) or self.reserve < 0:
            raise ConfigError(f"{self.reserve!r} is not a number of tokens", place="reserve")
        for name in ("headroom", "step"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value < 1:
                raise ConfigError(f"{value!r} is not a share in [0, 1)", place=name)
        for name in ("trigger", "target"):
            _check_share(name, getattr(self, name))
        if not isinstance(cast("object", self.hard), bool):
            raise ConfigError(f"{self.hard!r} is neither True nor False", place="hard")

    @classmethod
    def of(cls, budget: BudgetLike) -> Budget:
        """``8_000`` and ``"8k"`` are ``Budget(limit=8_000)``, None is the model's window.

        Raises ConfigError for anything else.
        """
        if isinstance(budget, Budget):
            return budget
        if budget is None:
            return cls()
        if isinstance(budget, str):
            try:
                budget = written_tokens(budget)
            except ConfigError as fault:
                raise ConfigError(fault.problem, place="budget", advice=fault.advice) from fault
        if not _is_int(budget):
            advice = "give a number of tokens or a holdfast.Budget"
            raise ConfigError(f"{budget!r} is no budget", place="budget", advice=advice)
        if not 0 < budget <= _MOST:
            raise ConfigError(f"{budget!r:.40} is not a positive number of tokens", place="budget")
        return cls(limit=budget)

    def tokens(self, window: int | None = None) -> int:
        """What the conversation may take; ``window`` is the model's, if the budget names none."""
        whole = min((n for n in (self.limit, self.window) if n is not None), default=window)
        if whole is None:
            advice = "give budget=, or name a model whose window is known"
            raise ConfigError("no budget is given", place="budget", advice=advice)
        left = int((whole - self.reserve) * (1 - self.headroom))
        if left <= 0:
            problem = f"reserve and headroom leave nothing of {whole:,} tokens"
            raise ConfigError(problem, place="budget", advice="lower reserve= or headroom=")
        return left


BudgetLike = int | str | Budget | None
"""Tokens, such as ``8_000`` or ``"8k"``; a Budget; or None for the window of the model."""


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_share(name: str, value: Share | None) -> None:
    if value is None or (_is_int(value) and value >= 0):
        return
    if isinstance(value, bool) or not isinstance(value, float) or not 0 <= value <= 1:
        raise ConfigError(f"{value!r} is neither tokens nor a share in [0, 1]", place=name)


@dataclass(frozen=True, slots=True)
class Meter:
    """Tokens of texts, messages and transcripts, by one counter and one tariff.

    ``media`` gives the tokens of an image or a document; ``text`` is the memoised count of a text;
    ``whole`` counts a message in a way of its own and stands in the place of parts and tariff.
    """

    counter: TokenCounter
    text: Callable[[str], int]
    media: Callable[[Media], int]
    tariff: Tariff = field(default_factory=Tariff)
    whole: Callable[[Message], int] | None = None

    def part(self, part: Part) -> int:
        """Tokens of one part, its overhead included."""
        if isinstance(part, ToolCall):
            return self.text(part.name) + self.text(part.arguments) + self.tariff.call
        if isinstance(part, ToolResult):
            named = self.text(f"tool_call_id:{part.call_id}") if self.tariff.result_id else 0
            return (
                self.text(part.text)
                + named
                + (sum(map(self.media, part.media)) if part.media else 0)
            )
        if isinstance(part, Media):
            return self.media(part)
        return self.text(part.text)

    def message(self, message: Message) -> int:
        """Tokens of one message with everything that it carries."""
        known = message.measured
        if known is not None and known[0] is self:
            return known[1]
        if self.whole is not None:
            tokens = self.whole(message)
        else:
            aside = self.text(message.aside) if message.aside else 0
            tokens = self.tariff.message + aside + sum([self.part(part) for part in message.parts])
        message.measured = (self, tokens)
        return tokens

    def sizes(self, transcript: Transcript) -> Sequence[int]:
        """Tokens of each message, cached on the transcript."""
        known = transcript.__dict__.get("sizes")
        if known is None or known[0] is not self:
            known = transcript.__dict__["sizes"] = (self, self._sizes(transcript.messages))
        return cast("Sequence[int]", known[1])

    def _sizes(self, messages: Sequence[Message]) -> list[int]:
        if self.whole is not None:
            return list(map(self.message, messages))
        text, whole, each = self.text, self.message, self.tariff.message
        quick = not self.tariff.result_id
        return [
            text(message.plain) + each
            if message.plain is not None and (quick or message.role != "tool") and not message.aside
            else whole(message)
            for message in messages
        ]

    def recount(self, before: Transcript, after: Transcript, origins: Sequence[int | None]) -> int:
        """Tokens of a transcript made from another; unchanged messages are not counted again."""
        if after is not before:
            old, known = before.messages, self.sizes(before)
            places = zip(after.messages, origins, strict=True)
            sizes = [
                known[i] if i is not None and old[i] is m else self.message(m) for m, i in places
            ]
            after.__dict__["sizes"] = (self, sizes)
        return self.total(after)

    def overhead(self, envelope: Iterable[Part]) -> int:
        """Tokens beside the messages: the conversation's overhead, a body's system and schemas."""
        return self.tariff.conversation + sum(map(self.part, envelope))

    def accuracy(self, transcript: Transcript) -> Accuracy:
        """How far the transcript's count can be trusted; only texts are ever counted exactly."""
        accuracy = self.counter.accuracy
        if accuracy.kind != "exact" or (
            all(isinstance(part, Text) for part in transcript.envelope)
            and all(message.is_speech or _is_text(message) for message in transcript.messages)
        ):
            return accuracy
        return Accuracy("approximate")

    def total(self, transcript: Transcript) -> int:
        """Tokens of the whole transcript."""
        return sum(self.sizes(transcript)) + self.overhead(transcript.envelope)


def _is_text(message: Message) -> bool:
    return all(isinstance(part, Text) for part in message.parts)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a strategy may spend, in tokens: it aims at ``target`` and never exceeds ``limit``.

    ``window`` is what shares are taken of: the budget as the caller stated it, whatever a step may
    get of it. ``query`` is the caller's question; without one it is the transcript's own.
    ``stored``: originals can be saved; ``recall_tool`` names the model's tool that gives them back,
    if it has one. ``thread`` is the id of the conversation, empty where it has none. ``writer``
    names the model that completes, empty where there is none, and ``writer_window`` is what it
    takes, in tokens, 0 if unknown. ``redacts``: secrets of what users said are masked wherever it
    is told again.
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

    def share(self, share: Share) -> int:
        """Tokens of a share of the window."""
        return tokens_of(share, self.window)
