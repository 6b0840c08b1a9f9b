"""Counts with Claude's own vocabularies, as ctok reconstructs them (the extra ``claude``).

It counts about 100 KB a second; like any counter's, its counts are cached by text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import cast

from holdfast.kernel.ports import Accuracy
from holdfast.kernel.registry import needed_by

with needed_by("a count with Claude's own vocabulary", "claude"):
    _count = cast("Callable[[str, str], int]", import_module("ctok").token_count)

# of 962,054 recorded counts one was wrong; the counts of separate texts add up to slightly more
_NEAR = Accuracy("approximate", 0.02)


@dataclass(frozen=True)
class ClaudeTokens:
    """Counts tokens for one generation of models, named by ``version``."""

    name: str
    version: str
    accuracy: Accuracy = _NEAR

    def count(self, text: str) -> int:
        """Tokens of the text, without those of a message."""
        return _count(text, self.version) - _frame(self.version) if text else 0


@cache
def _frame(version: str) -> int:
    return _count("", version)


CLAUDE_3 = ClaudeTokens("claude_3", "3.0")
CLAUDE_4_7 = ClaudeTokens("claude_4.7", "4.7")
CLAUDE_4_8 = ClaudeTokens("claude_4.8", "4.8")
