"""Messages in a model's words, many at once."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from holdfast.compressors.kept import as_list
from holdfast.compressors.message_summaries import Single, message_summary
from holdfast.compressors.summaries import body_of
from holdfast.compressors.summary_keys import messages_key
from holdfast.compressors.together import together
from holdfast.kernel.budget import Allowance
from holdfast.kernel.errors import HoldfastError, ModelError, StoreError
from holdfast.kernel.flow import ask
from holdfast.kernel.messages import Text, ToolResult
from holdfast.kernel.ports import Ask, Read, Write
from holdfast.kernel.transcript import Transcript

MARK = "[Compressed] "
LEAST = 32
"""Tokens that a condensed text may take at the least; a text that takes no more is not worth a call."""


class Long(NamedTuple):
    """The longest text of a message, the number of its part, and its tokens."""

    part: int
    text: str
    tokens: int
    is_output: bool


@dataclass(slots=True)
class Condenser:
    """Condenses messages of one transcript; ``faults`` are those that it met, ``trouble`` what the store did."""

    transcript: Transcript
    allowance: Allowance
    faults: list[HoldfastError] = field(default_factory=list[HoldfastError])
    trouble: str = ""

    def long(self, index: int) -> Long | None:
        """What of the message can be condensed: the longest text that an assistant or a tool said."""
        message = self.transcript.messages[index]
        found: list[Long] = []
        for at, part in enumerate(message.parts):
            spoken = isinstance(part, Text) and message.role in ("assistant", "tool")
            if spoken or (isinstance(part, ToolResult) and not part.media):
                tokens = self.allowance.meter.text(part.text)
                found.append(Long(at, part.text, tokens, not isinstance(part, Text) or message.role == "tool"))
        longest = max(found, key=lambda long: long.tokens, default=None)
        if longest is None or longest.tokens <= LEAST or longest.text.startswith(MARK) or body_of(message):
            return None
        return longest

    def condensed(self, places: Mapping[int, Long], tokens: int) -> Generator[Ask[Any], Any, dict[int, str]]:
        """What these texts say in at most so many tokens, by message; one that failed is not among them."""
        room = max(1, tokens - self.allowance.meter.text(MARK))
        told = yield from together(
            [message_summary(_single(i, long), room, self.allowance) for i, long in places.items()]
        )
        found: dict[int, str] = {}
        for (i, long), answer in zip(places.items(), told, strict=True):
            if isinstance(answer, HoldfastError):
                self.faults.append(answer)
                continue
            self.trouble = self.trouble or answer.trouble
            if self.allowance.meter.text(MARK + answer.text) >= long.tokens:
                self.faults.append(ModelError("the reply of the model was refused: it saves nothing"))
            else:
                found[i] = MARK + answer.text
        if found and self.allowance.stored and self.allowance.thread:
            yield from self._list(found)
        return found

    def _list(self, found: Mapping[int, str]) -> Generator[Ask[Any], Any, None]:
        """Put all of them on the list by which a thread is forgotten: at once, each would overwrite the others."""
        key = messages_key(self.allowance.thread)
        try:
            known = as_list((yield from ask(Read(key))))
            if not set(found).issubset(known):
                yield from ask(Write(key, json.dumps([*known, *(i for i in found if i not in known)])))
        except StoreError as fault:
            self.trouble = self.trouble or f"summaries are not kept: {fault}"


def _single(index: int, long: Long) -> Single:
    if long.is_output:
        return Single(long.text, "tool", index, "the output of a tool")
    return Single(long.text, "assistant", index, "a message of the assistant")
