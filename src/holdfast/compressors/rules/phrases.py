"""Phrases that only say that something was said before leave, where commas set them off."""

from __future__ import annotations

import re

from holdfast.compressors.rules.prose import OPENING, opened, rewritten

_SAID = r"(?:mentioned|said|stated|noted)(?: (?:before|earlier|above|previously))?"
_PHRASE = (
    rf"(?:[Aa]s (?:I|we)(?: have|'ve)? (?:already |previously )?{_SAID}|[Aa]s (?:previously|already) {_SAID}"
    r"|[Ll]ike (?:I|we) said(?: before| earlier)?|[Tt]o (?:reiterate|repeat))"
)
_BARE = r"(?:[Aa]gain|[Oo]nce more)"
"""Inside a sentence these two mean something: "run it again"."""

_REMOVED = re.compile(
    rf"{OPENING}(?P<phrase>{_PHRASE}|{_BARE}), (?P<next>\w[\w'-]*)"
    rf"|, {_PHRASE}(?=[.!?…]|$)"
    rf"|, (?P<between>{_PHRASE}), (?=\S)",
    re.MULTILINE,
)


def without_phrases(text: str) -> str:
    """The text without what only points back."""
    return rewritten(_REMOVED, _left, text)


def _left(match: re.Match[str]) -> str:
    if match["next"]:
        return opened(match, match["phrase"])
    return " " if match["between"] else ""
