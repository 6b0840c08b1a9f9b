"""Functions of callers as models and embedders."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from holdfast.kernel.ports import Reply


class FunctionModel:
    """A function of the prompt, synchronous or not; the instructions stand before the prompt.

    In caches it goes by its qualified name: two functions of one name in one cache are one model, unless an
    attribute ``name`` tells them apart.
    """

    def __init__(self, function: Callable[[str], Any]) -> None:
        self._function = function
        self.name = _name(function)

    def complete(
        self, prompt: str, *, system: str = "", max_tokens: int = 512
    ) -> str | Reply | Awaitable[str | Reply]:
        """What the function returns."""
        del max_tokens
        answer: str | Reply | Awaitable[str | Reply] = self._function(
            f"{system}\n\n{prompt}" if system else prompt
        )
        return answer


class FunctionEmbedder:
    """A function of a list of texts, synchronous or not."""

    def __init__(self, function: Callable[[Sequence[str]], Any]) -> None:
        self._function = function
        self.name = _name(function)

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]] | Awaitable[Sequence[Sequence[float]]]:
        """What the function returns."""
        vectors: Sequence[Sequence[float]] | Awaitable[Sequence[Sequence[float]]] = self._function(texts)
        return vectors


def _name(function: object) -> str:
    name = getattr(function, "name", None)
    if isinstance(name, str) and name:
        return name
    home, own = getattr(function, "__module__", ""), getattr(function, "__qualname__", type(function).__qualname__)
    return f"{home}.{own}" if home else own
