"""What a later output made needless: a text that stands again, a file as it was before a new read or an edit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from holdfast.kernel.messages import ToolCall

from .candidates import Candidate, fields

_PATH_FIELDS = ("path", "file_path", "filepath", "filename", "file_name", "file", "target_file", "uri")
_READS = re.compile(r"(?:^|_|\b)(?:read|view|cat|open|show|get|fetch)(?:_|\b|$)", re.IGNORECASE)
_WRITES = re.compile(
    r"(?:^|_|\b)(?:write|edit|create|replace|str_replace|insert|update|patch|append|save|delete)(?:_|\b|$)",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def repeats(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, str]]:
    """Outputs whose very text a later output has too, each with what stands in its place."""
    last = {c.text: c for c in candidates if not c.is_arguments}
    for candidate in candidates:
        later = last.get(candidate.text)
        if later is not None and not candidate.is_arguments and later is not candidate:
            yield candidate, f"[The same text was returned again later{_by(later.call)}; it stands there.]"


def superseded(
    candidates: Sequence[Candidate], calls: Sequence[tuple[int, ToolCall]]
) -> Iterator[tuple[Candidate, str]]:
    """Reads of a file that a later call read whole again or changed, each with what stands in its place.

    ``calls`` are all calls of the conversation with the positions of their messages.
    """
    named: dict[str, list[tuple[int, ToolCall]]] = {}
    for index, each in calls:
        if path := path_of(each):
            named.setdefault(path, []).append((index, each))
    for candidate in candidates:
        call = candidate.call
        if call is None or candidate.is_arguments or not _named(_READS, call) or not path_of(call):
            continue
        for index, other in named[path_of(call)]:
            if index >= candidate.index and (told := _told(call, other)):
                yield candidate, told
                break


def path_of(call: ToolCall) -> str:
    """The path of the file that a call names; empty where it names none."""
    found = fields(call.arguments)
    return next((value for name in _PATH_FIELDS if isinstance(value := found.get(name), str)), "")


def _told(call: ToolCall, other: ToolCall) -> str:
    path = path_of(call)
    if _named(_WRITES, other):
        return f"[{path} was changed later by {other.name}; this is what it said before.]"
    again, first = fields(other.arguments), fields(call.arguments)
    if _named(_READS, other) and (again == first or len(again) == 1):
        return f"[{path} was read again later; its newer content stands there.]"
    return ""


def _named(pattern: re.Pattern[str], call: ToolCall) -> bool:
    return pattern.search(_CAMEL.sub("_", call.name)) is not None


def _by(call: ToolCall | None) -> str:
    return f" by {call.name}" if call else ""
