"""Regular expressions of RE2, which take linear time for any pattern and text."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from holdfast.kernel.errors import ConfigError, MissingExtraError

try:
    # not a plain import: the package has no types for the checkers
    re2 = import_module("re2")
except ImportError as missing:
    raise MissingExtraError("a pattern that is more than plain text") from missing


class _Compiled(Protocol):
    def search(self, text: bytes) -> object | None: ...


class Pattern:
    """A pattern of RE2. Raises ConfigError, with the problem, for a malformed one."""

    def __init__(self, pattern: str) -> None:
        options = re2.Options()
        options.log_errors = False
        try:
            self._compiled: _Compiled = re2.compile(_utf8(pattern), options)
        except re2.error as fault:
            reason = fault.args[0].decode("utf-8", "replace")
            advice = (
                "a pattern is a regular expression of RE2, without look-around and back-references"
            )
            raise ConfigError(reason, place=f"pattern {pattern!r}", advice=advice) from fault

    def __call__(self, line: str) -> bool:
        """Whether the pattern is found in the line."""
        return self._compiled.search(_utf8(line)) is not None


def _utf8(text: str) -> bytes:
    # a lone surrogate becomes a question mark, since RE2 refuses it
    return text.encode("utf-8", "replace")
