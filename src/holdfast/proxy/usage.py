"""The usage that a provider reports, read from answers and streams as they pass."""

from __future__ import annotations

import re
from dataclasses import dataclass

_INPUT = re.compile(rb'"(?:input_tokens|prompt_tokens|promptTokenCount)"\s{0,4}:\s{0,4}(\d{1,12})')
_CACHED = re.compile(
    rb'"(?:cache_read_input_tokens|cached_tokens|cachedContentTokenCount)"\s{0,4}:\s{0,4}(\d{1,12})'
)
_OUTPUT = re.compile(
    rb'"(?:output_tokens|completion_tokens|candidatesTokenCount)"\s{0,4}:\s{0,4}(\d{1,12})'
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
        self.read = _last(_INPUT, text, self.read)
        self.cached = _last(_CACHED, text, self.cached)
        self.written = _last(_OUTPUT, text, self.written)
        self._tail = text[-_TAIL:] if b"oken" in text[-_TAIL:] else b""


def _last(pattern: re.Pattern[bytes], text: bytes, known: int) -> int:
    found = pattern.findall(text)
    return int(found[-1]) if found else known
