"""Secrets in a text that may be JSON: masked within its strings, so that it stays JSON."""

from __future__ import annotations

import json
import re
from collections import Counter

from holdfast.text.secrets import redact

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_BARE = re.compile(rf"{_STRING.pattern}|(\[redacted [a-z ]+\])", re.DOTALL)
_BETWEEN = "\n\n\n\n\x00\n\n\n\n"  # no secret reaches across it


def redact_any(text: str) -> tuple[str, Counter[str]]:
    """As ``redact``; JSON stays JSON, and what its strings say is read without their escapes."""
    if not text.lstrip().startswith(("{", "[")) or not _is_json(text):
        return redact(text)
    inside, found = _within(text)
    masked, more = redact(inside)
    if more:
        masked = _BARE.sub(lambda value: f'"{value[1]}"' if value[1] else value[0], masked)  # it was a number
        if not _is_json(masked):
            return _within(text, escaped=False)
    return masked, found + more


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False, parse_int=len)
    except (ValueError, RecursionError):
        return False
    return True


def _within(text: str, *, escaped: bool = True) -> tuple[str, Counter[str]]:
    """The JSON with the secrets masked in its strings, or in those alone that have escapes."""
    strings = [s for s in _STRING.findall(text) if "\\" in s or not escaped]
    said: list[str] = [json.loads(string, strict=False) for string in strings]
    joined, counts = redact(_BETWEEN.join(said))  # in one go: what takes time is the start of a search
    masked = joined.split(_BETWEEN)
    if not counts or len(masked) != len(said):
        return text, Counter()
    now = {
        s: json.dumps(m, ensure_ascii=s.isascii())
        for s, m, was in zip(strings, masked, said, strict=True)
        if m != was
    }
    return _STRING.sub(lambda string: now.get(string[0], string[0]), text), counts
