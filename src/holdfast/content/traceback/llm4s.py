"""The preset ``llm4s`` for errors: that library's own, simpler rule, for those who want its exact output."""

from __future__ import annotations

_HEAD, _FRAMES = 3, 10
_SIGNS = ("at ", ".java:", ".scala:")


def llm4s_error(text: str) -> str:
    """The first three lines, ten frames and a marker; a text of up to ten frames whole."""
    lines = text.split("\n")
    frames = [line for line in lines if any(sign in line for sign in _SIGNS)]
    if len(frames) <= _FRAMES:
        return text
    head = lines[:_HEAD]
    marker = f"... [+{len(frames) - _FRAMES} additional stack frames] ..."
    return "\n".join([*head, *[frame for frame in frames if frame not in head][:_FRAMES], marker])
