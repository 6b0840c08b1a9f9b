"""Which texts may shrink: outputs and arguments of calls, and what a later output made needless."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple, cast

from holdfast.compressors.output_summaries import is_summary
from holdfast.compressors.references import key_in
from holdfast.content.structured.values import Literal, Value, dump, parse
from holdfast.kernel.budget import Meter
from holdfast.kernel.messages import Message, Text, ToolCall, ToolResult
from holdfast.kernel.transcript import Seal, Transcript
from holdfast.text.fit import head_tail
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
"""Names of files that tell an agent how to work: what a tool read from them is never shrunk by
default."""

INSTRUCTION_TOOLS = ("skill", "*_skill", "skill_*", "load_instructions")
"""Tools that give instructions."""

Place = tuple[int, int]
"""A message and a part of it."""

_WORD = re.compile(r"[^\s\"'`,;:=()\[\]{}<>|&]+")
_OMISSION = re.compile(r"\[[^\[\]\n]*\bleft out\b[^\[\]\n]*\]\s*\Z")
_NOTE = 300  # characters at the end of a text in which it says what it leaves out
# characters in which a path is looked for: what is longer is content, not a command
_LONGEST_COMMAND = 2_000


class Shrinkable(NamedTuple):
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


class Eligible(NamedTuple):
    """What is a candidate at all; patterns are shell patterns, without regard to case."""

    least: int
    tools: tuple[str, ...] = ()
    keep_tools: tuple[str, ...] = ()
    keep_paths: tuple[str, ...] = ()
    roles: Collection[str] = ("tool",)
    summary_tokens: int = 0

    def of(self, transcript: Transcript, meter: Meter, start: int = 0) -> list[Shrinkable]:
        """The candidates from a position on, oldest first.

        Pinned messages have none, short texts are none.

        Nor is a text that names its original already, or that a model told.
        """
        found: list[Shrinkable] = []
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
        self,
        i: int,
        message: Message,
        transcript: Transcript,
        meter: Meter,
        calls: dict[str, ToolCall],
    ) -> Iterator[Shrinkable]:
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
                yield Shrinkable((i, at), text, tokens, call, isinstance(part, ToolCall))

    def _may_shrink(self, candidate: Shrinkable, seal: Seal | None) -> bool:
        call = candidate.call
        if call is None:
            chosen = not self.tools
        else:
            chosen = _is_chosen(
                (self.tools, self.keep_tools, self.keep_paths, call.name, call.arguments)
            )
        return chosen and not self._is_shrunk(candidate, seal)

    def _is_shrunk(self, candidate: Shrinkable, seal: Seal | None) -> bool:
        """Whether it names an original, ends with what it leaves out, or is a model's summary."""
        text = candidate.text
        if candidate.is_arguments:
            return "[original: " in text and any(key_in(each, seal) for each in strings(text))
        if key_in(text, seal) is not None or _OMISSION.search(text[-_NOTE:]) is not None:
            return True
        return is_summary(text, candidate.tokens, self.summary_tokens)


_Patterns = tuple[str, ...]


def _chosen(key: tuple[_Patterns, _Patterns, _Patterns, str, str]) -> bool:
    """Whether outputs of a call may shrink.

    Of the wanted tools, not of those and of the paths that stay.
    """
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


_PATH_FIELDS = (
    "path",
    "file_path",
    "filepath",
    "filename",
    "file_name",
    "file",
    "target_file",
    "uri",
)
_READS = re.compile(r"(?:^|_|\b)(?:read|view|cat|open|show|get|fetch)(?:_|\b|$)", re.IGNORECASE)
_WRITES = re.compile(
    r"(?:^|_|\b)(?:write|edit|create|replace|str_replace|insert|update|patch|append|save|delete)(?:_|\b|$)",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FAILED = re.compile(
    r"\W{0,3}(?:error|failed|failure|exception|traceback|cannot|could not|no such)\b", re.IGNORECASE
)
_LONGEST_NAME = 120  # characters of a path that a marker shows


def repeats(candidates: Sequence[Shrinkable]) -> Iterator[tuple[Shrinkable, str]]:
    """Outputs whose very text a later output has too, each with what stands in its place."""
    last = {c.text: c for c in candidates}
    if len(last) == len(candidates):
        return
    for candidate in candidates:
        later = last[candidate.text]
        if later is not candidate:
            by = f" by {later.call.name}" if later.call else ""
            yield candidate, f"[Left out: the same text was returned again later{by}.]"


def superseded(
    candidates: Sequence[Shrinkable], messages: Sequence[Message]
) -> Iterator[tuple[Shrinkable, str]]:
    """Reads of files that were read whole or changed later, each with what takes its place.

    Candidates and messages are those of the same conversation; calls that gave an error back did
    nothing.
    """
    reads = [
        (c, c.call, deed)
        for c in candidates
        if c.call and (deed := _deed(c.call)).is_read and deed.path
    ]
    if not reads:
        return
    last: dict[tuple[str, str], tuple[int, ToolCall]] = {}
    for index, call in _done(messages, reads[0][0].position):
        deed = _deed(call)
        last.update({(deed.path, what): (index, call) for what in deed.does})
    for candidate, read, deed in reads:
        for what in (_WRITE, _WHOLE, read.arguments):
            index, later = last.get((deed.path, what), (-1, read))
            if index >= candidate.position:
                yield candidate, _told(deed.path, later, changed=what == _WRITE)
                break


_WRITE, _WHOLE = "write", "whole"


class _Deed(NamedTuple):
    """What a call does to the file that it names.

    Changes it, reads it whole, reads it in just this way.
    """

    path: str
    does: tuple[str, ...]
    is_read: bool


def _deed(call: ToolCall) -> _Deed:
    return _deed_of((call.name, call.arguments))


def _worked_out(call: tuple[str, str]) -> _Deed:
    name, arguments = call
    found = fields(arguments)
    path = next((value for field in _PATH_FIELDS if isinstance(value := found.get(field), str)), "")
    spread = _CAMEL.sub("_", name)
    is_read = _READS.search(spread) is not None
    if _WRITES.search(spread):
        return _Deed(path, (_WRITE,), is_read)
    reads = (arguments, _WHOLE) if len(found) == 1 else (arguments,)
    return _Deed(path, reads if is_read else (), is_read)


_deed_of = Memo(_worked_out, lambda call, _: len(call[0]) + len(call[1]) + 64, 8_000_000)


def _done(messages: Sequence[Message], start: int) -> Iterator[tuple[int, ToolCall]]:
    """Each call that succeeded, with the position of its message."""
    results = [result for message in messages[start:] for result in message.results]
    failed = {result.call_id for result in results if result.is_error or _FAILED.match(result.text)}
    for i in range(start, len(messages)):
        yield from ((i, call) for call in messages[i].calls if call.id not in failed)


def _told(path: str, later: ToolCall, *, changed: bool) -> str:
    name = " ".join(path[-_LONGEST_NAME:].split())
    if changed:
        return f"[Left out: {name} as it was before {later.name} changed it later.]"
    return f"[Left out: {name} was read again later.]"


_WORTH_CLAMPING = 40  # tokens; a text that is not longer is left whole


class _Long(NamedTuple):
    """A long text: the object that has it, and under which key."""

    holder: dict[str, Value]
    key: str
    text: str
    tokens: int


def shortened(
    arguments: str, tokens: int, count: Callable[[str], int], reference: str = ""
) -> str | None:
    """The arguments with long texts clamped to fit, the reference at the end of the last.

    None where they are no JSON object, or hold no long text. Numbers and the order of keys stay as
    written.
    """
    try:
        found = parse(arguments)
    except ValueError:
        return None
    long = list(_long(found[0], count)) if len(found) == 1 else []
    if not long:
        return None
    in_long = sum(each.tokens for each in long)
    room = tokens - (count(arguments) - in_long) - count(reference)
    for each in long:
        part = max(_WORTH_CLAMPING // 2, room * each.tokens // in_long)
        if part < each.tokens:
            each.holder[each.key] = head_tail(each.text, part, count)
    if reference:
        last = long[-1]
        last.holder[last.key] = f"{last.holder[last.key]}\n{reference}"
    return dump(found[0])


def _long(values: Value, count: Callable[[str], int]) -> Iterator[_Long]:
    """The long texts under keys, at any depth."""
    waiting = [values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            texts = {
                k: v for k, v in value.items() if isinstance(v, str) and not isinstance(v, Literal)
            }
            sizes = {key: count(text) for key, text in texts.items() if len(text) > _WORTH_CLAMPING}
            yield from (
                _Long(value, key, texts[key], size)
                for key, size in sizes.items()
                if size > _WORTH_CLAMPING
            )
            waiting += reversed(value.values())
        elif isinstance(value, list):
            waiting += reversed(value)
