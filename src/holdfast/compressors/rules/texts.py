"""Rules over one text at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from holdfast.compressors.summaries import body_of
from holdfast.kernel.budget import Meter
from holdfast.kernel.edits import Edit, Replace
from holdfast.kernel.messages import Message, Part, Role, Text, ToolResult
from holdfast.kernel.transcript import Transcript

_MOST_PASSES = 4  # what goes can uncover more; a text that has not settled after so many is left alone


@dataclass(frozen=True, slots=True)
class TextRule:
    """A rule that rewrites the texts of assistants and tools, each on its own."""

    name: str
    """What the rule does, in a word or two joined by underscores."""

    rewrite: Callable[[str], str]
    """The text as it should be; what needs no change comes back as it is."""

    def describe(self) -> Mapping[str, object]:
        """The name: a function has no better description."""
        return {"name": self.name}

    def edits(self, transcript: Transcript, meter: Meter, roles: AbstractSet[Role]) -> Iterator[Edit]:
        """A Replace for each text that the rule makes shorter in tokens and that it then leaves alone."""
        for i, message in enumerate(transcript.messages):
            if i in transcript.pinned or body_of(message) is not None:
                continue
            for at, part in enumerate(message.parts):
                if _role(message, part) in roles:
                    text = self._settled(part.text)
                    if text != part.text and text.strip() and meter.text(text) < meter.text(part.text):
                        yield Replace(i, at, text, self.name)

    def _settled(self, text: str) -> str:
        now = text
        for _ in range(_MOST_PASSES):
            before, now = now, self.rewrite(now)
            if now == before:
                return now
        return text


def _role(message: Message, part: Part) -> Role | None:
    """Whose words a part is, None for what is no text alone; results may come under the user's role."""
    if isinstance(part, ToolResult):
        return None if part.media else "tool"
    return message.role if isinstance(part, Text) else None
