"""The preset ``llm4s`` for logs: that library's own, simpler rule, for those who want its exact output."""

from __future__ import annotations

from itertools import groupby

_WHOLE, _HEAD, _TAIL = 120, 80, 40


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
