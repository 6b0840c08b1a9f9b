"""Protocols of the outside world: counters, stores, models, embedders, and the requests to them.

Methods may return a value or an awaitable. A capability that only some implementations have (bytes,
listing, batches, expiry) is a protocol of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar, cast, runtime_checkable

from .messages import Message

T_co = TypeVar("T_co", covariant=True)

Count = Callable[[str], int]
"""Counts the tokens of a text."""


@dataclass(frozen=True)
class Accuracy:
    """How exact a count is; ``error`` is relative (0.2 is 20 %), None if unknown."""

    kind: Literal["exact", "approximate", "unknown"]
    error: float | None = None


@runtime_checkable
class TokenCounter(Protocol):
    """Counts texts in tokens of one vocabulary."""

    @property
    def name(self) -> str:
        """The vocabulary or formula, such as ``o200k_base``."""
        ...

    @property
    def accuracy(self) -> Accuracy:
        """How exact the counts are for the model that they were chosen for."""
        ...

    def count(self, text: str) -> int:
        """Tokens of the text, without overhead; at least 0 for any str."""
        ...


@runtime_checkable
class MessageCounter(Protocol):
    """A counter that counts whole messages, overhead included."""

    def count_message(self, message: Message) -> int:
        """Tokens of the message, everything included."""
        ...


@dataclass(frozen=True)
class Tariff:
    """What a provider adds to the texts, in tokens.

    The defaults are those that llm4s documents: 4 a message, 10 a tool call, 10 a conversation.
    They are slightly more than OpenAI's published 3 + 3, so that a result that fits here fits
    there.
    """

    message: int = 4
    call: int = 10
    conversation: int = 10
    result_id: bool = False
    """Whether ``tool_call_id:<id>`` of a tool result is counted as text."""


@runtime_checkable
class Priced(Protocol):
    """A counter with a tariff of its own."""

    @property
    def tariff(self) -> Tariff:
        """What is added to the texts."""
        ...


@runtime_checkable
class KeyValueStore(Protocol):
    """A store of texts by key. These three methods are enough."""

    def get(self, key: str) -> str | Awaitable[str | None] | None:
        """The value, or None."""
        ...

    def set(self, key: str, value: str) -> object | Awaitable[object]:
        """Store the value, replacing an earlier one."""
        ...

    def delete(self, key: str) -> object | Awaitable[object]:
        """Delete the key; an unknown key is not an error."""
        ...


@dataclass(frozen=True)
class Reply:
    """A model's text and the tokens that it reported, None if it reported none."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None


@runtime_checkable
class Model(Protocol):
    """Completes text."""

    def complete(
        self, prompt: str, *, system: str = "", max_tokens: int = 512
    ) -> str | Reply | Awaitable[str | Reply]:
        """The reply to the prompt, at most ``max_tokens`` long."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of equal length."""

    def embed(
        self, texts: Sequence[str]
    ) -> Sequence[Sequence[float]] | Awaitable[Sequence[Sequence[float]]]:
        """One vector for each text, in order."""
        ...


@dataclass(frozen=True)
class Room:
    """The size for a shortened text, ``tokens`` by ``count``, and the question."""

    tokens: int
    count: Count
    question: str = ""


@dataclass(frozen=True)
class Shrunk:
    """A shortened text.

    ``omitted`` says briefly what was left out ("1,950 of 2,000 lines; every error kind kept"). If
    it is empty, ``lossless`` is true and the kind's ``expand`` returns an equal value.
    """

    text: str
    kind: str
    omitted: str = ""
    lossless: bool = False


@runtime_checkable
class ContentKind(Protocol):
    """A kind of text that tools return: how to recognise it and how to shorten it.

    Methods accept any str, raise nothing, and take at most linear time. A shortened text must read
    well for a model and a person, and say itself what was left out.
    """

    @property
    def name(self) -> str:
        """One word, as in references: ``json``, ``log``, ``diff``."""
        ...

    def recognises(self, text: str) -> bool:
        """Whether the text is of this kind, judged by its structure."""
        ...

    def compact(self, text: str) -> str | None:
        """A shorter form of the same value, up to white space between tokens, or None."""
        ...

    def shrink(self, text: str, room: Room) -> Shrunk:
        """The most useful form of the text that fits the room, which is at least 1 token."""
        ...


@runtime_checkable
class Fitting(Protocol):
    """A content kind that says how well a text fits it, so that the best kind is chosen."""

    def fit(self, text: str) -> float:
        """The share of the text, 0 to 1, that reads as this kind, in at most linear time.

        It is 0 for a text that the kind does not recognise.
        """
        ...


class Ask(Generic[T_co]):
    """A request of a strategy to the outside world; T is the type of the answer."""


@dataclass(frozen=True)
class Load(Ask[str | None]):
    """The artifact with this key, or None."""

    key: str


@dataclass(frozen=True)
class Save(Ask[str]):
    """Store the text as an artifact; the answer is its key, empty if the caller keeps the text.

    With ``open``, the key is the hash of the content, readable from any conversation.
    """

    text: str
    kind: str = "text"
    open: bool = False


@dataclass(frozen=True)
class Secret(Ask[str]):
    """The secret that signs notes and references; empty if there is none."""


@dataclass(frozen=True)
class Read(Ask[str | None]):
    """The value stored under this exact key, or None."""

    key: str


@dataclass(frozen=True)
class Write(Ask[None]):
    """Store the value under this exact key; None deletes it."""

    key: str
    value: str | None


@dataclass(frozen=True)
class Complete(Ask[str]):
    """The model's reply."""

    prompt: str
    system: str = ""
    max_tokens: int = 512


@dataclass(frozen=True)
class Embed(Ask[Sequence[Sequence[float]]]):
    """One vector for each text, in order."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class All(Ask[Sequence[object]]):
    """Several requests at once; the answer lists their answers or HoldfastErrors in order."""

    asks: tuple[Ask[object], ...]

    def __post_init__(self) -> None:
        if not all(isinstance(cast("object", each), Ask) for each in self.asks):
            raise TypeError("All takes asks")
