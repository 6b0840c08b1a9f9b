"""Old tool outputs in a model's words, in the place of a placeholder or an excerpt.

The original is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

from holdfast.compressors.references import note
from holdfast.compressors.summaries import WorkingStore
from holdfast.kernel.budget import Allowance
from holdfast.kernel.errors import ModelError
from holdfast.kernel.ports import Ask
from holdfast.kernel.registry import Registry

_TELLERS = Registry("teller", "tellers", {"output": "holdfast.compressors.writer:output_summary"})
"""What writes and verifies is loaded where a model is asked: no clearing without one waits for
it."""

_BESIDE = 100  # tokens that the opening and the reference take at most: a longer text is no summary of ours
_OPENING = re.compile(r"\[Summary of an old output[^\n]*, [\d,]+ tokens\]\n")


class OldOutput(NamedTuple):
    """One output: the position of its message, its tool if that is known, and its tokens."""

    position: int
    tool: str
    text: str
    tokens: int


class ToldOutput(NamedTuple):
    """What stands in the place of an output, and the key of the original if it is kept."""

    text: str
    key: str


@dataclass(slots=True)
class OutputSummaries:
    """The summaries of one run, each of at most ``tokens``.

    After the first failure none are asked for any more.

    What a summary says does not depend on the question in view, so that it is the same from call to
    call.
    """

    tokens: int
    allowance: Allowance
    troubles: list[str] = field(default_factory=list[str], init=False)
    """What failed, the model or the store; none if nothing did."""
    _asks: bool = field(default=True, init=False)
    _keeps: bool = field(default=True, init=False)
    _originals: WorkingStore = field(init=False)

    def __post_init__(self) -> None:
        self._originals = WorkingStore(self.allowance.stored)

    @property
    def may_ask(self) -> bool:
        """Whether summaries are wanted, and there is a model that has not failed."""
        return bool(self.tokens and self.allowance.writer) and self._asks

    def of(self, output: OldOutput, room: int) -> Generator[Ask[Any], Any, ToldOutput | None]:
        """The output in a model's words, and the reference to it.

        None where there is no room for that.
        """
        by = f" of {output.tool}" if output.tool else ""
        opening = f"[Summary of an old output{by}, {output.tokens:,} tokens]"
        least = self.tokens + self.allowance.meter.text(opening)
        if not self.may_ask or least >= output.tokens:
            return None
        tell = cast(
            "Callable[..., Generator[Ask[Any], Any, tuple[str, str]]]", _TELLERS.load("output")
        )
        allowance = self.allowance if self._keeps else replace(self.allowance, stored=False)
        try:
            text, trouble = yield from tell(
                output.text, output.position, output.tool, self.tokens, allowance
            )
        except ModelError as fault:
            self._asks = False
            self.troubles.append(
                f"no more summaries were asked for: {' '.join(str(fault).split())}"
            )
            return None
        if trouble:
            self._keeps = False
            self.troubles.append(trouble)
        worked = self._originals.works
        key = yield from self._originals.save(output.text)
        if worked and not self._originals.works:
            self.troubles.append(self._originals.trouble)
        tool = self.allowance.recall_tool
        told = f"{opening}\n{text}" + (
            f"\n{note('text', output.tokens, key, tool=tool)}" if key else ""
        )
        return (
            ToldOutput(told, key)
            if self.allowance.meter.text(told) < min(room + 1, output.tokens)
            else None
        )


def is_summary(text: str, tokens: int, most: int) -> bool:
    """Whether the text of so many tokens is an old output in a model's words, which may take ``most``."""
    return (
        tokens <= most + _BESIDE
        and text.startswith("[Summary ")
        and _OPENING.match(text) is not None
    )
