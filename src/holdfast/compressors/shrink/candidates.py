"""Which texts may shrink: tool outputs and the arguments of calls, each with the call that it belongs to."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import cast

from holdfast.kernel.budget import Meter
from holdfast.kernel.messages import Text, ToolCall, ToolResult
from holdfast.kernel.transcript import Transcript

INSTRUCTION_FILES = (
    "AGENTS*.md",
    "CLAUDE*.md",
    "GEMINI*.md",
    "SKILL.md",
    "CONVENTIONS.md",
    "copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    "*.mdc",
)
"""Names of files that tell an agent how to work: what a tool read from them is never shrunk by default."""

INSTRUCTION_TOOLS = ("skill", "*_skill", "skill_*", "load_instructions")
"""Tools that give instructions."""

_WORD = re.compile(r"[^\s\"'`,;:=()\[\]{}<>|&]+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One text that may shrink: a part of a message, its tokens, and the call that gave it or is it."""

    index: int
    part: int
    text: str
    tokens: int
    call: ToolCall | None
    is_arguments: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """What is a candidate at all; patterns are shell patterns, without regard to case."""

    least: int
    tools: tuple[str, ...] = ()
    keep_tools: tuple[str, ...] = ()
    keep_paths: tuple[str, ...] = ()
    roles: Collection[str] = ("tool",)

    def of(self, transcript: Transcript, meter: Meter) -> list[Candidate]:
        """The candidates, oldest first; pinned messages have none, short texts are none."""
        return [c for c in self._all(transcript, meter) if c.tokens >= self.least and self._may_shrink(c)]

    def _all(self, transcript: Transcript, meter: Meter) -> Iterator[Candidate]:
        calls: dict[str, ToolCall] = {}
        for i, message in enumerate(transcript.messages):
            calls.update((call.id, call) for call in message.calls)
            if i in transcript.pinned or message.role == "system" or (message.role == "user" and message.plain):
                continue
            for at, part in enumerate(message.parts):
                if isinstance(part, ToolResult) and "tool" in self.roles and not part.media:
                    yield Candidate(i, at, part.text, meter.text(part.text), calls.get(part.call_id))
                elif isinstance(part, ToolCall) and i not in transcript.newest and "tool" in self.roles:
                    yield Candidate(i, at, part.arguments, meter.text(part.arguments), part, is_arguments=True)
                elif isinstance(part, Text) and message.role in self.roles and message.role != "user":
                    yield Candidate(i, at, part.text, meter.text(part.text), None)

    def _may_shrink(self, candidate: Candidate) -> bool:
        if candidate.call is None:
            return not self.tools
        name = candidate.call.name.lower()
        if any(fnmatch(name, pattern.lower()) for pattern in self.keep_tools):
            return False
        if self.tools and not any(fnmatch(name, pattern.lower()) for pattern in self.tools):
            return False
        return not (self.keep_paths and self._names_kept_path(candidate.call))

    def _names_kept_path(self, call: ToolCall) -> bool:
        """Whether a path that must be kept stands in the call, in a field or inside of a command."""
        for text in strings(call.arguments):
            for word in _WORD.findall(text[:_LONGEST_COMMAND]):
                name = word.rsplit("/", 1)[-1].lower()
                if any(fnmatch(name, p.lower()) or fnmatch(word.lower(), p.lower()) for p in self.keep_paths):
                    return True
        return False


_LONGEST_COMMAND = 2_000  # characters in which a path is looked for: what is longer is content, not a command


def fields(arguments: str) -> dict[str, object]:
    """The fields of a call's arguments; none where they are no JSON object."""
    try:
        found: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def strings(arguments: str) -> Iterator[str]:
    """The texts among the fields of a call's arguments, those in lists too."""
    for value in fields(arguments).values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (item for item in cast("list[object]", value) if isinstance(item, str))
