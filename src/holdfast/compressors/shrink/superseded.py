"""What a later output made needless: a text that stands again, a file as it was before a new read or an edit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.compressors.shrink.candidates import Candidate, fields
from holdfast.kernel.messages import Message, ToolCall
from holdfast.text.memo import Memo

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


def repeats(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, str]]:
    """Outputs whose very text a later output has too, each with what stands in its place."""
    last = {c.text: c for c in candidates}
    if len(last) == len(candidates):
        return
    for candidate in candidates:
        later = last[candidate.text]
        if later is not candidate:
            by = f" by {later.call.name}" if later.call else ""
            yield candidate, f"[Left out: the same text was returned again later{by}.]"


def superseded(candidates: Sequence[Candidate], messages: Sequence[Message]) -> Iterator[tuple[Candidate, str]]:
    """Reads of a file that a later call read whole again or changed, each with what stands in its place.

    Candidates and messages are those of the same conversation; calls that gave an error back did nothing.
    """
    reads = [(c, c.call, deed) for c in candidates if c.call and (deed := _deed(c.call)).is_read and deed.path]
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
    """What a call does to the file that it names: changes it, reads it whole, reads it in just this way."""

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
    """The calls with the positions of their messages, without those that gave an error back."""
    results = [result for message in messages[start:] for result in message.results]
    failed = {result.call_id for result in results if result.is_error or _FAILED.match(result.text)}
    for i in range(start, len(messages)):
        yield from ((i, call) for call in messages[i].calls if call.id not in failed)


def _told(path: str, later: ToolCall, *, changed: bool) -> str:
    name = " ".join(path[-_LONGEST_NAME:].split())
    if changed:
        return f"[Left out: {name} as it was before {later.name} changed it later.]"
    return f"[Left out: {name} was read again later.]"
