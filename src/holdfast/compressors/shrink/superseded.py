"""What a later output made needless: a text that stands again, a file as it was before a new read or an edit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from holdfast.kernel.messages import Message, ToolCall

from .candidates import Candidate, fields

_PATH_FIELDS = ("path", "file_path", "filepath", "filename", "file_name", "file", "target_file", "uri")
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


def done(messages: Iterable[Message]) -> Iterator[tuple[int, ToolCall]]:
    """The calls with the positions of their messages, without those that gave an error back."""
    every = list(messages)
    results = [result for message in every for result in message.results]
    failed = {result.call_id for result in results if result.is_error or _FAILED.match(result.text)}
    for i, message in enumerate(every):
        yield from ((i, call) for call in message.calls if call.id not in failed)


def repeats(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, str]]:
    """Outputs whose very text a later output has too, each with what stands in its place."""
    last = {c.text: c for c in candidates if not c.is_arguments}
    for candidate in candidates:
        later = last.get(candidate.text)
        if later is not None and not candidate.is_arguments and later is not candidate:
            by = f" by {later.call.name}" if later.call else ""
            yield candidate, f"[Left out: the same text was returned again later{by}.]"


def superseded(
    candidates: Sequence[Candidate], calls: Iterable[tuple[int, ToolCall]]
) -> Iterator[tuple[Candidate, str]]:
    """Reads of a file that a later call read whole again or changed, each with what stands in its place.

    ``calls`` are all calls of the conversation that did what they say, with the positions of their messages.
    """
    last: dict[tuple[str, str], tuple[int, ToolCall]] = {}
    for index, call in calls:
        last.update({(_path(call), what): (index, call) for what in _does(call)})
    for candidate in candidates:
        read = candidate.call
        if read is None or candidate.is_arguments or not (path := _path(read)) or not _named(_READS, read):
            continue
        for what in (_WRITE, _WHOLE, read.arguments):
            index, later = last.get((path, what), (-1, read))
            if index >= candidate.index:
                yield candidate, _told(path, later, changed=what == _WRITE)
                break


_WRITE, _WHOLE = "write", "whole"


def _does(call: ToolCall) -> Iterator[str]:
    """What a call does to the file that it names: changes it, reads it whole, reads it in just this way."""
    if _named(_WRITES, call):
        yield _WRITE
    elif _named(_READS, call):
        yield call.arguments
        if len(fields(call.arguments)) == 1:
            yield _WHOLE


def _path(call: ToolCall) -> str:
    """The path of the file that a call names; empty where it names none."""
    found = fields(call.arguments)
    return next((value for name in _PATH_FIELDS if isinstance(value := found.get(name), str)), "")


def _told(path: str, later: ToolCall, *, changed: bool) -> str:
    name = " ".join(path[-_LONGEST_NAME:].split())
    if changed:
        return f"[Left out: {name} as it was before {later.name} changed it later.]"
    return f"[Left out: {name} was read again later.]"


def _named(pattern: re.Pattern[str], call: ToolCall) -> bool:
    return pattern.search(_CAMEL.sub("_", call.name)) is not None
