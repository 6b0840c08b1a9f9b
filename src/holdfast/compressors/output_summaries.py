"""A model's summaries of old tool outputs, instead of a placeholder or an excerpt."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from holdfast.compressors.references import note
from holdfast.compressors.summaries import WorkingStore
from holdfast.kernel.budget import Allowance
from holdfast.kernel.errors import ModelError
from holdfast.kernel.flow import Asking
from holdfast.kernel.registry import imported

_BESIDE = 100  # tokens of the opening and the reference at most
_OPENING = re.compile(r"\[Summary of an old output[^\n]*, [\d,]+ tokens\]\n")


class ToldOutput(NamedTuple):
    """The text that replaces an output, and the key of the original; empty if it is not kept."""

    text: str
    key: str


@dataclass(slots=True)
class OutputSummaries:
    """The summaries of one run, each of at most ``tokens`` tokens.

    After the first failure, no more are requested. A summary does not depend on the question, so
    that it stays the same from call to call.
    """

    tokens: int
    allowance: Allowance
    troubles: list[str] = field(default_factory=list[str], init=False)
    """The problems of the model or the store."""
    _asks: bool = field(default=True, init=False)
    _originals: WorkingStore = field(init=False)

    def __post_init__(self) -> None:
        self._originals = WorkingStore(self.allowance.stored)

    @property
    def may_ask(self) -> bool:
        """Whether summaries are wanted, and there is a model that has not failed."""
        return bool(self.tokens and self.allowance.writer) and self._asks

    def of(
        self, text: str, tokens: int, position: int, tool: str, room: int
    ) -> Asking[ToldOutput | None]:
        """A summary of the output with a reference to it, in at most ``room`` tokens.

        ``tokens`` is the size of the text, ``position`` that of its message, ``tool`` empty if the
        tool is not known. None if there is no room for a summary.
        """
        by = f" of {tool}" if tool else ""
        opening = f"[Summary of an old output{by}, {tokens:,} tokens]"
        count = self.allowance.meter.text
        if not self.may_ask or self.tokens + count(opening) >= tokens:
            return None
        # imported when a model is asked, since clearing outputs does not need it
        tell: Callable[..., Asking[tuple[str, str]]] = imported(
            "holdfast.compressors.writer:output_summary"
        )
        try:
            told, trouble = yield from tell(text, position, tool, self.tokens, self.allowance)
        except ModelError as fault:
            self._asks = False
            problem = " ".join(str(fault).split())
            self.troubles.append(f"no more summaries were asked for: {problem}")
            return None
        if trouble:
            self.allowance = replace(self.allowance, stored=False)
            self.troubles.append(trouble)
        found = yield from self.kept(f"{opening}\n{told}", text, tokens)
        return found if count(found.text) < min(room + 1, tokens) else None

    def kept(self, told: str, text: str, tokens: int) -> Asking[ToldOutput]:
        """The text that replaces an output, with a reference to the original if it is kept."""
        worked = self._originals.works
        key = yield from self._originals.save(text)
        if worked and not self._originals.works:
            self.troubles.append(self._originals.trouble)
        if not key:
            return ToldOutput(told, "")
        reference = note("text", tokens, key, tool=self.allowance.recall_tool)
        return ToldOutput(f"{told}\n{reference}", key)


def is_summary(text: str, tokens: int, most: int) -> bool:
    """Whether a text of so many tokens is such a summary, of at most ``most`` tokens."""
    return (
        tokens <= most + _BESIDE
        and text.startswith("[Summary ")
        and _OPENING.match(text) is not None
    )
