"""A function of the caller as a token counter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.kernel.errors import ConfigError
from holdfast.kernel.ports import Accuracy


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Custom:
    """Counts with ``function``; its accuracy is unknown."""

    function: Callable[[str], object]
    accuracy: Accuracy = Accuracy("unknown")  # noqa: RUF009 - it is frozen

    @property
    def name(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def count(self, text: str) -> int:
        """Tokens of the text.

        Raises ConfigError if the function does not return a number of tokens.
        """
        tokens = self.function(text)
        if not isinstance(tokens, int) or tokens < 0:
            advice = "give a function of a text that returns its tokens as an int of 0 or more"
            raise ConfigError(
                f"{self.name} returned {tokens!r:.40}", place="counter", advice=advice
            )
        return tokens
