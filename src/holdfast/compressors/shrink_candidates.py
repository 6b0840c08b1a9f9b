"""Texts that may shrink: outputs and arguments of calls, and outputs that later ones replace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from holdfast.compressors.arguments import strings
from holdfast.compressors.output_summaries import is_summary
from holdfast.compressors.references import Place, key_in
from holdfast.kernel.budget import Meter
from holdfast.kernel.messages import Message, Text, ToolCall, ToolResult
from holdfast.kernel.transcript import Seal, Transcript
from holdfast.kernel.typed import object_of
from holdfast.text.memo import Memo

if TYPE_CHECKING:
    from holdfast.compressors.shrink import Shrink

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
"""Files with instructions for agents. By default, what a tool read from them is never shortened."""

INSTRUCTION_TOOLS = ("skill", "*_skill", "skill_*", "load_instructions")
"""Tools that return instructions."""

_WORD = re.compile(r"[^\s\"'`,;:=()\[\]{}<>|&]+")
_OMISSION = re.compile(r"\[[^\[\]\n]*\bleft out\b[^\[\]\n]*\]\s*\Z")
_NOTE = 300  # characters at the end of a text that are searched for a note on what was left out
_LONGEST_COMMAND = 2_000  # characters that are searched for a path; longer texts are content


class Shrinkable(NamedTuple):
    """A text that may shrink: its place, its tokens, and the call to which it belongs."""

    place: Place
    text: str
    tokens: int
    call: ToolCall | None
    is_arguments: bool = False

    @property
    def position(self) -> int:
        """The position of its message."""
        return self.place[0]


def candidates_of(
    knobs: Shrink, transcript: Transcript, meter: Meter, start: int
) -> list[Shrinkable]:
    """The texts from position ``start`` on that may shrink, oldest first.

    Pinned messages and short texts are left out, and so are texts that name their original already
    or that a model wrote.
    """
    found: list[Shrinkable] = []
    calls: dict[str, ToolCall] = {}
    for i in range(start, len(transcript)):
        message = transcript.messages[i]
        if message.is_speech and message.role not in knobs.roles:
            continue
        calls.update((call.id, call) for call in message.calls)
        if i in transcript.pinned or message.role == "system":
            continue
        for at, text, call in _texts(knobs, transcript, i, calls):
            tokens = meter.text(text)
            is_arguments = isinstance(message.parts[at], ToolCall)
            candidate = Shrinkable((i, at), text, tokens, call, is_arguments)
            if tokens >= knobs.min_tokens and _may_shrink(knobs, candidate, transcript.seal):
                found.append(candidate)
    return found


def _texts(
    knobs: Shrink, transcript: Transcript, i: int, calls: Mapping[str, ToolCall]
) -> Iterator[tuple[int, str, ToolCall | None]]:
    """The part, text and call of each text of a message that may shrink by its kind."""
    message, of_tools = transcript.messages[i], "tool" in knobs.roles
    for at, part in enumerate(message.parts):
        if isinstance(part, ToolResult):
            if of_tools and not part.media:
                yield at, part.text, calls.get(part.call_id)
        elif isinstance(part, ToolCall):
            if of_tools and i not in transcript.newest:
                yield at, part.arguments, part
        elif isinstance(part, Text) and message.role in knobs.roles and message.role != "user":
            yield at, part.text, None


def _may_shrink(knobs: Shrink, candidate: Shrinkable, seal: Seal | None) -> bool:
    call, text = candidate.call, candidate.text
    if call is None:
        if knobs.tools:
            return False
    else:
        patterns = knobs.tools, knobs.keep_tools, knobs.keep_paths
        if not _is_chosen((*patterns, call.name, call.arguments)):
            return False
    if candidate.is_arguments:
        return "[original: " not in text or not any(key_in(each, seal) for each in strings(text))
    if key_in(text, seal) is not None or _OMISSION.search(text[-_NOTE:]) is not None:
        return False
    return not is_summary(text, candidate.tokens, knobs.summary_tokens)


_Patterns = tuple[str, ...]


def _chosen(key: tuple[_Patterns, _Patterns, _Patterns, str, str]) -> bool:
    """Whether the knobs select the tool of a call and keep neither it nor its paths."""
    tools, keep_tools, keep_paths, name, arguments = key
    if _matches(name, keep_tools) or (tools and not _matches(name, tools)):
        return False
    return not (keep_paths and _names_kept_path(arguments, keep_paths))


# characters in the memo, with 64 for each entry
_is_chosen = Memo(_chosen, lambda key, _: len(key[3]) + len(key[4]) + 64, 8_000_000)


def _names_kept_path(arguments: str, keep_paths: _Patterns) -> bool:
    """Whether a field or a command in the arguments names a path to keep."""
    return any(
        _matches(word.rsplit("/", 1)[-1], keep_paths) or _matches(word, keep_paths)
        for text in strings(arguments)
        for word in _WORD.findall(text[:_LONGEST_COMMAND])
    )


def _matches(name: str, patterns: _Patterns) -> bool:
    return _any_of(patterns).match(name.lower()) is not None


@lru_cache(maxsize=64)
def _any_of(patterns: _Patterns) -> re.Pattern[str]:
    """One expression that matches any of the shell patterns, and nothing if there are none."""
    return re.compile("|".join(translate(pattern.lower()) for pattern in patterns) or r"(?!)")


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
    r"(?:^|_|\b)(?:write|edit|create|replace|insert|update|patch|append|save|delete)(?:_|\b|$)",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FAILED = re.compile(
    r"\W{0,3}(?:error|failed|failure|exception|traceback|cannot|could not|no such)\b", re.IGNORECASE
)
_LONGEST_NAME = 120  # characters of a path that a note shows


def repeats(candidates: Sequence[Shrinkable]) -> Iterator[tuple[Shrinkable, str]]:
    """Outputs whose exact text a later output has too, each with the note that replaces it."""
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
    """Reads of files that were read whole or changed later, each with the note that replaces it.

    ``messages`` are all messages of the conversation. Calls that returned an error did nothing.
    """
    reads = [(c, c.call, deed) for c in candidates if c.call and (deed := _deed(c.call)).is_read]
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
                yield candidate, _note(deed.path, later, changed=what == _WRITE)
                break


_WRITE, _WHOLE = "write", "whole"


class _Deed(NamedTuple):
    """What a call does to a file.

    ``does`` is ``write``, or the arguments of a read, and ``whole`` if it reads the whole file.
    """

    path: str = ""
    does: tuple[str, ...] = ()

    @property
    def is_read(self) -> bool:
        """Whether it reads a file and does not change it."""
        return self.does not in ((), (_WRITE,))


def _deed(call: ToolCall) -> _Deed:
    found, name = object_of(call.arguments) or {}, _CAMEL.sub("_", call.name)
    path = next((value for field in _PATH_FIELDS if isinstance(value := found.get(field), str)), "")
    if path and _WRITES.search(name):
        return _Deed(path, (_WRITE,))
    if path and _READS.search(name):
        return _Deed(path, (call.arguments, _WHOLE) if len(found) == 1 else (call.arguments,))
    return _Deed()


def _done(messages: Sequence[Message], start: int) -> Iterator[tuple[int, ToolCall]]:
    """Each call that succeeded, with the position of its message."""
    results = [result for message in messages[start:] for result in message.results]
    failed = {result.call_id for result in results if result.is_error or _FAILED.match(result.text)}
    for i in range(start, len(messages)):
        yield from ((i, call) for call in messages[i].calls if call.id not in failed)


def _note(path: str, later: ToolCall, *, changed: bool) -> str:
    name = " ".join(path[-_LONGEST_NAME:].split())
    if changed:
        return f"[Left out: {name} as it was before {later.name} changed it later.]"
    return f"[Left out: {name} was read again later.]"
