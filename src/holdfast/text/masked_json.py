"""Secrets in a text that may be JSON: masked within its strings, so that it stays JSON."""

from __future__ import annotations

import json
import re
from collections import Counter

from .secrets import redact

_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*+")(\s*+:)?|(-?\d[\d.eE+-]*+)|[{}]', re.DOTALL)


def redact_any(text: str) -> tuple[str, Counter[str]]:
    """As ``redact``; JSON stays JSON, what its strings escape is read, and a number may be a secret too."""
    masked, counts = redact(text)
    if not text.lstrip().startswith(("{", "[")) or not (counts or "\\" in text) or not _is_json(text):
        return masked, counts
    inside = _in_json(text)
    return inside if inside[1] else (masked, counts)


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False, parse_int=len)
    except (ValueError, RecursionError):
        return False
    return True


def _in_json(text: str) -> tuple[str, Counter[str]]:
    counts: Counter[str] = Counter()
    name = ""

    def masked(token: re.Match[str]) -> str:
        nonlocal name
        string, colon, number = token.groups()
        if string is None and number is None:
            name = ""
            return token.group()
        said: str = json.loads(string, strict=False) if string else number
        hidden, found = redact(said)
        if colon:
            name = hidden
        elif not found and name:
            hidden, found = _named(name, said)
        counts.update(found)
        if not found:
            return token.group()
        return json.dumps(hidden, ensure_ascii=token.group().isascii()) + (colon or "")

    return _TOKEN.sub(masked, text), counts


def _named(name: str, value: str) -> tuple[str, Counter[str]]:
    """The value masked if its name says that it is secret."""
    if '"' in value or "\n" in value:
        return value, Counter()
    pair, found = redact(f'{name}: "{value}"')
    return pair[len(name) + 3 : -1], found
