"""The preset ``llm4s`` for logs and errors: that library's own, simpler rules."""

from __future__ import annotations

from itertools import groupby

_WHOLE, _HEAD, _TAIL = 120, 80, 40
_ERROR_HEAD, _FRAMES = 3, 10
_SIGNS = ("at ", ".java:", ".scala:")


def llm4s_log(text: str) -> str:
    """Up to 120 lines whole; else 80 and 40 around a marker, adjacent equal lines as ``line ×N``."""
    if text.count("\n") < _WHOLE:
        return text
    runs = ((line, len(list(run))) for line, run in groupby(text.split("\n")))
    lines = [f"{line} ×{count}" if count > 1 else line for line, count in runs]
    if len(lines) <= _WHOLE:
        return "\n".join(lines)
    marker = f"... [collapsed {len(lines) - _HEAD - _TAIL} repeated/verbose log lines] ..."
    return "\n".join([*lines[:_HEAD], marker, *lines[-_TAIL:]])


def llm4s_error(text: str) -> str:
    """The first three lines, ten frames and a marker; a text of up to ten frames whole."""
    lines = text.split("\n")
    frames = [line for line in lines if any(sign in line for sign in _SIGNS)]
    if len(frames) <= _FRAMES:
        return text
    head = lines[:_ERROR_HEAD]
    marker = f"... [+{len(frames) - _FRAMES} additional stack frames] ..."
    return "\n".join([*head, *[frame for frame in frames if frame not in head][:_FRAMES], marker])
