"""The token formulas of published designs, for results that must agree with them.

They count characters, not bytes. Formulas for whole messages also count calls, reasoning and media,
even where the design did not, and add nothing except where said.
"""

from dataclasses import dataclass

from holdfast.kernel.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    ToolCall,
    ToolResult,
)
from holdfast.kernel.ports import Accuracy, Count, Tariff

from .media import media_tokens

FREE = Tariff(message=0, call=0, conversation=0)  # these designs add nothing
OVERHEADS = Tariff(result_id=True)  # llm4s's (L.1): its other numbers are the usual ones
ROUGH = Accuracy("approximate", 0.25)
"""The mean error of characters / 4 against o200k_base on the texts of ``estimate`` is 22 %, more
for CJK."""
UNKNOWN = Accuracy("unknown")


@dataclass(frozen=True)
class TextFormula:
    """Counts tokens by a formula; those of a message are the sum over its texts."""

    name: str
    formula: Count
    accuracy: Accuracy = ROUGH
    tariff: Tariff = FREE

    def count(self, text: str) -> int:
        """Tokens of the text."""
        return self.formula(text)


@dataclass(frozen=True)
class MessageFormula(TextFormula):
    """Tokens of a message by a formula over its content and over each further part.

    ``absent`` is the count for a message without content.
    """

    absent: int = 0

    def count_message(self, message: Message) -> int:
        """Tokens of the message, everything included."""
        content = message.content_text
        tokens = self.absent if content is None else self.count(content)
        tokens += self.count(message.aside) if message.aside else 0
        return tokens + sum(map(self._beside, message.parts))

    def _beside(self, part: Part) -> int:
        if isinstance(part, ToolCall | Reasoning | Opaque):
            return self.count(part.text)
        if isinstance(part, Media):
            return media_tokens(part)
        return sum(map(media_tokens, part.media)) if isinstance(part, ToolResult) else 0


@dataclass(frozen=True)
class Fixed:
    """The same number of tokens for every message."""

    tokens: int
    accuracy: Accuracy = UNKNOWN
    tariff: Tariff = FREE

    @property
    def name(self) -> str:
        """``fixed:N``."""
        return f"fixed:{self.tokens}"

    def count(self, text: str) -> int:
        """The number, as if the text were a message."""
        return self.tokens

    def count_message(self, message: Message) -> int:
        """The number."""
        return self.tokens


@dataclass(frozen=True)
class Quarter:
    """A quarter of the characters, after ``first`` and before ``then`` are added."""

    first: int = 0
    then: int = 0

    def __call__(self, text: str) -> int:
        """The number for a text."""
        return (len(text) + self.first) // 4 + self.then


def _words(text: str) -> int:
    return len(text.split())


CHARS4_PLUS1 = MessageFormula("chars4_plus1", Quarter(then=1))
"""MoFA's heuristic counter."""
CEIL4_PLUS2 = MessageFormula("ceil4_plus2", Quarter(3, 2), absent=2)
"""SlimContext's estimator (S.18)."""
FLOOR4 = TextFormula("floor4", Quarter())
"""tunacode's estimate."""
WORDS = TextFormula("words", _words, Accuracy("approximate", 0.6))
"""SelectiveCompression's size of a segment: words between white space."""
CEIL4_OVERHEAD = TextFormula("ceil4_overhead", Quarter(3), tariff=OVERHEADS)
"""llm4s's accounting: a quarter of the characters of each text, and its overheads."""


def of_function(function: Count) -> TextFormula:
    """A counter that is a function of a text, with the usual tariff."""
    name = getattr(function, "__name__", type(function).__name__)
    return TextFormula(name, function, UNKNOWN, Tariff())
