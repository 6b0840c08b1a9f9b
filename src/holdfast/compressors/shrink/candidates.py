"""Which texts may shrink: tool outputs and the arguments of calls, each with the call that it belongs to."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple, cast

from holdfast.compressors.output_summaries import is_summary
from holdfast.compressors.references import key_in
from holdfast.kernel.budget import Meter
from holdfast.kernel.messages import Message, Text, ToolCall, ToolResult
from holdfast.kernel.transcript import Seal, Transcript
from holdfast.text.memo import Memo

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

Place = tuple[int, int]
"""A message and a part of it."""

_WORD = re.compile(r"[^\s\"'`,;:=()\[\]{}<>|&]+")
_OMISSION = re.compile(r"\[[^\[\]\n]*\bleft out\b[^\[\]\n]*\]\s*\Z")
_NOTE = 300  # characters at the end of a text in which it says what it leaves out
_LONGEST_COMMAND = 2_000  # characters in which a path is looked for: what is longer is content, not a command


class Candidate(NamedTuple):
    """One text that may shrink: where it stands, its tokens, and the call that gave it or is it."""

    place: Place
    text: str
    tokens: int
    call: ToolCall | None
    is_arguments: bool = False

    @property
    def position(self) -> int:
        """Of its message."""
        return self.place[0]


class Choice(NamedTuple):
    """What is a candidate at all; patterns are shell patterns, without regard to case."""

    least: int
    tools: tuple[str, ...] = ()
    keep_tools: tuple[str, ...] = ()
    keep_paths: tuple[str, ...] = ()
    roles: Collection[str] = ("tool",)
    summary_tokens: int = 0

    def of(self, transcript: Transcript, meter: Meter, start: int = 0) -> list[Candidate]:
        """The candidates from a position on, oldest first; pinned messages have none, short texts are none.

        Nor is a text that names its original already, or that a model told.
        """
        found: list[Candidate] = []
        calls: dict[str, ToolCall] = {}
        for i in range(start, len(transcript)):
            message = transcript.messages[i]
            if message.is_speech and message.role not in self.roles:
                continue
            for call in message.calls:
                calls[call.id] = call
            if i not in transcript.pinned and message.role != "system":
                texts = self._in(i, message, transcript, meter, calls)
                found += [each for each in texts if self._may_shrink(each, transcript.seal)]
        return found

    def _in(
        self, i: int, message: Message, transcript: Transcript, meter: Meter, calls: dict[str, ToolCall]
    ) -> Iterator[Candidate]:
        """The texts of one message that are long enough."""
        tools = "tool" in self.roles
        for at, part in enumerate(message.parts):
            call: ToolCall | None = None
            if isinstance(part, ToolResult):
                if not tools or part.media:
                    continue
                text, call = part.text, calls.get(part.call_id)
            elif isinstance(part, ToolCall):
                if not tools or i in transcript.newest:
                    continue
                text, call = part.arguments, part
            elif isinstance(part, Text) and message.role in self.roles and message.role != "user":
                text = part.text
            else:
                continue
            tokens = meter.text(text)
            if tokens >= self.least:
                yield Candidate((i, at), text, tokens, call, isinstance(part, ToolCall))

    def _may_shrink(self, candidate: Candidate, seal: Seal | None) -> bool:
        call = candidate.call
        if call is None:
            chosen = not self.tools
        else:
            chosen = _is_chosen((self.tools, self.keep_tools, self.keep_paths, call.name, call.arguments))
        return chosen and not self._is_shrunk(candidate, seal)

    def _is_shrunk(self, candidate: Candidate, seal: Seal | None) -> bool:
        """Whether the text names an original already, ends with what it leaves out, or is a model's summary."""
        text = candidate.text
        if candidate.is_arguments:
            return "[original: " in text and any(key_in(each, seal) for each in strings(text))
        if key_in(text, seal) is not None or _OMISSION.search(text[-_NOTE:]) is not None:
            return True
        return is_summary(text, candidate.tokens, self.summary_tokens)


_Patterns = tuple[str, ...]


def _chosen(key: tuple[_Patterns, _Patterns, _Patterns, str, str]) -> bool:
    """Whether outputs of a call may shrink: of the wanted tools, not of those and of the paths that stay."""
    tools, keep_tools, keep_paths, name, arguments = key
    if _matches(name, keep_tools) or (tools and not _matches(name, tools)):
        return False
    return not (keep_paths and _names_kept_path(arguments, keep_paths))


_is_chosen = Memo(_chosen, lambda key, _: len(key[3]) + len(key[4]) + 64, 8_000_000)


def _names_kept_path(arguments: str, keep_paths: _Patterns) -> bool:
    """Whether a path that must be kept stands in the call, in a field or inside of a command."""
    return any(
        _matches(word.rsplit("/", 1)[-1], keep_paths) or _matches(word, keep_paths)
        for text in strings(arguments)
        for word in _WORD.findall(text[:_LONGEST_COMMAND])
    )


def _matches(name: str, patterns: _Patterns) -> bool:
    return _any_of(patterns).match(name.lower()) is not None


@lru_cache(maxsize=64)
def _any_of(patterns: _Patterns) -> re.Pattern[str]:
    """One expression for shell patterns; it matches nothing where there are none."""
    return re.compile("|".join(translate(pattern.lower()) for pattern in patterns) or r"(?!)")


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
