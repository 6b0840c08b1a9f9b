"""The protocols through which the outside world is reached: one for each kind of implementation.

An object may answer at once or with an awaitable: the runtime adapts both. A capability that not
every implementation has (bytes, listing, batches, expiry, put-if-absent) is a protocol of its own,
used where present.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar, cast, runtime_checkable

if TYPE_CHECKING:
    from .messages import Message

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How far a count can be trusted: ``error`` is relative (0.2 is 20 %), None if unknown."""

    kind: Literal["exact", "approximate", "unknown"]
    error: float | None = None


@runtime_checkable
class TokenCounter(Protocol):
    """How long a text is, in tokens of one vocabulary."""

    @property
    def name(self) -> str:
        """The vocabulary or formula, such as ``o200k_base``."""
        ...

    @property
    def accuracy(self) -> Accuracy:
        """How far the count can be trusted for the model it was chosen for."""
        ...

    def count(self, text: str) -> int:
        """Tokens of the text alone, without a message's overhead; 0 or more for any str."""
        ...


@runtime_checkable
class MessageCounter(Protocol):
    """A counter with a formula of its own for a whole message, overhead included."""

    def count_message(self, message: Message) -> int:
        """Tokens of the message with everything that it carries."""
        ...


@dataclass(frozen=True, slots=True)
class Tariff:
    """What a provider adds to the texts, in tokens.

    The defaults are llm4s's documented 4 a message, 10 a tool call, 10 a conversation: a little
    above what OpenAI's published 3 + 3 comes to, so that a result that fits here fits there.
    """

    message: int = 4
    call: int = 10
    conversation: int = 10
    result_id: bool = False
    """Whether ``tool_call_id:<id>`` of a tool result is counted as text."""


@runtime_checkable
class Priced(Protocol):
    """A counter that brings a tariff of its own."""

    @property
    def tariff(self) -> Tariff:
        """What is added to the texts."""
        ...


@runtime_checkable
class KeyValueStore(Protocol):
    """Text by key: these three methods are a complete store; ``get`` of a missing key is None."""

    def get(self, key: str) -> str | Awaitable[str | None] | None:
        """The value, or None."""
        ...

    def set(self, key: str, value: str) -> object | Awaitable[object]:
        """Keep the value; replaces an earlier one."""
        ...

    def delete(self, key: str) -> object | Awaitable[object]:
        """Forget the key; a key that is not there is no error."""
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, and what it took in tokens: None where it does not tell."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None


@runtime_checkable
class Model(Protocol):
    """Completes text."""

    def complete(
        self, prompt: str, *, system: str = "", max_tokens: int = 512
    ) -> str | Reply | Awaitable[str | Reply]:
        """The model's reply to the prompt, at most ``max_tokens`` long."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of one length."""

    def embed(
        self, texts: Sequence[str]
    ) -> Sequence[Sequence[float]] | Awaitable[Sequence[Sequence[float]]]:
        """One vector a text, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Room:
    """What a shrunk text may take: ``tokens`` by ``count``, and the question asked."""

    tokens: int
    count: Callable[[str], int]
    question: str = ""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A text made smaller by its kind.

    ``omitted`` says in a few words what is left out ("1,950 of 2,000 lines; every error kind
    kept"), empty if nothing is: then ``lossless`` is true and the kind's ``expand`` gives the equal
    value back.
    """

    text: str
    kind: str
    omitted: str = ""
    lossless: bool = False


@runtime_checkable
class ContentKind(Protocol):
    """One kind of text that tools return: how it is recognised and how it becomes smaller.

    No method raises on any str, none is slower than linear in the text. Text in, text out: the
    result must be good reading for a model and a person, and says in itself what is left out.
    """

    @property
    def name(self) -> str:
        """One word, as it stands in references: ``json``, ``log``, ``diff``."""
        ...

    def recognises(self, text: str) -> bool:
        """Whether the text is of this kind, by its structure and not by a stray word."""
        ...

    def compact(self, text: str) -> str | None:
        """A shorter form from which ``expand`` returns the same value, or None if there is none."""
        ...

    def expand(self, compacted: str) -> str:
        """The inverse of ``compact``: an equal value, white space between tokens aside."""
        ...

    def shrink(self, text: str, room: Room) -> Shrunk:
        """The most useful reading of the text that fits the room, which is 1 token or more."""
        ...


@runtime_checkable
class Fitting(Protocol):
    """A content kind that tells how well a text fits it, so that the best of several is found."""

    def fit(self, text: str) -> float:
        """The share of the text, 0 to 1, that reads as this kind; takes linear time at most."""
        ...


class Ask(Generic[T_co]):
    """What a strategy wants of the outside world; it is yielded, and T is the answer's type."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Load(Ask[str | None]):
    """The artifact of the key, or None."""

    key: str


@dataclass(frozen=True, slots=True)
class Save(Ask[str]):
    """Keep the text as an artifact of this kind; the answer is its key, empty if the caller has it.

    ``open``: whoever knows the content knows the key, whichever conversation it is of.
    """

    text: str
    kind: str = "text"
    open: bool = False


@dataclass(frozen=True, slots=True)
class Secret(Ask[str]):
    """The secret by which is known again what was written here; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Read(Ask[str | None]):
    """What stands in the store under this very key, or None."""

    key: str


@dataclass(frozen=True, slots=True)
class Write(Ask[None]):
    """Keep the value under this very key; replaces an earlier one. None deletes it."""

    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Complete(Ask[str]):
    """The model's reply."""

    prompt: str
    system: str = ""
    max_tokens: int = 512


@dataclass(frozen=True, slots=True)
class Embed(Ask[Sequence[Sequence[float]]]):
    """One vector a text, in order."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class All(Ask[Sequence[object]]):
    """Several asks at once; each is answered in order by its answer or a HoldfastError."""

    asks: tuple[Ask[object], ...]

    def __post_init__(self) -> None:
        if not all(isinstance(cast("object", each), Ask) for each in self.asks):
            raise TypeError("All takes asks")
