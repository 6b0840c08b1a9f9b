"""The usage that a provider reports, read from answers and streams as they pass."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FIGURE = re.compile(
    rb'"(?:(?P<read>input_tokens|prompt_tokens|promptTokenCount)'
    rb"|(?P<cached>cache_read_input_tokens|cached_tokens|cachedContentTokenCount)"
    rb'|(?P<written>output_tokens|completion_tokens|candidatesTokenCount))"\s{0,4}:'
    rb"\s{0,4}(?P<tokens>\d{1,12})"
)
_MARK = b"oken"  # part of the names of all figures
_TAIL = 64  # bytes at the end of a chunk that may begin a figure


@dataclass(slots=True)
class Usage:
    """Tokens by the provider's count: input, input read from its cache, and output."""

    read: int = 0
    cached: int = 0
    written: int = 0
    _tail: bytes = b""

    def see(self, chunk: bytes) -> None:
        """Read the next bytes of the answer; the last figure of each kind counts."""
        if _MARK not in chunk and not self._tail:
            return
        text = self._tail + chunk
        for figure in _FIGURE.finditer(text):
            name = next(name for name, value in figure.groupdict().items() if value)
            setattr(self, name, int(figure["tokens"]))
        self._tail = text[-_TAIL:] if b"oken" in text[-_TAIL:] else b""
