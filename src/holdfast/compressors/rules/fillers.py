"""Words that fill pauses leave, from text that is a transcript of speech, and only where they mean nothing.

``like`` and ``well`` are words: only what commas set off is a filler, ``um`` and ``uh`` apart.
"""

from __future__ import annotations

import re

from holdfast.compressors.rules.prose import OPENING, opened, rewritten

# The list and the tests for "transcript" and "precise" are those of the llm4s design.
_PAUSE = r"[Uu][mh]"
_FILLER = rf"(?:{_PAUSE}|[Ww]ell|[Yy]ou know|[Ll]ike|[Aa]ctually|[Bb]asically)"
_RUN = rf"(?:(?:{_FILLER},|{_PAUSE}) ){{0,9}}{_FILLER}"
_SPOKEN = (
    re.compile(r"(?<![\w'-])um(?![\w'-])"),
    re.compile(r"(?<![\w'-])uh(?![\w'-])"),
    *(
        re.compile(rf"(?:^|[.!?…:]\s|, ){word},|, {word}[.!?…]", re.MULTILINE)
        for word in ("well", "you know", "like")
    ),
)
_PHRASES = ("let me think", "so basically", "i mean")
_FEWEST_FILLERS = 2
_MOST_BRACES, _MOST_QUOTES = 2, 4

_REMOVED = re.compile(
    rf"{OPENING}(?P<run>(?:(?:{_FILLER},|{_PAUSE}) ){{1,9}})(?P<next>\w[\w'-]*)"
    rf"|(?P<closing>, {_RUN})(?=[.!?…]|$)"
    rf"|, (?P<between>{_RUN}), (?=\S)"
    rf"|(?<=\w) {_PAUSE}(?: {_PAUSE}){{0,9}}(?= \w)",
    re.MULTILINE,
)
_PAUSES = re.compile(rf"{_PAUSE}(?:, {_PAUSE})*")


def without_fillers(text: str) -> str:
    """The text without its fillers, if it is a transcript and holds nothing that is precise."""
    if _is_precise(text) or not _is_spoken(text):
        return text
    return rewritten(_REMOVED, _left, text)


def _left(match: re.Match[str]) -> str:
    if match["next"]:
        return opened(match, match["run"])
    if match["between"]:
        # "nuts, um, bolts": where a pause alone stands between, the comma may be that of a list.
        return ", " if _PAUSES.fullmatch(match["between"]) else " "
    return ""


def _is_spoken(text: str) -> bool:
    low = text.lower()
    if any(phrase in low for phrase in _PHRASES):
        return True
    return sum(1 for filler in _SPOKEN if filler.search(low)) >= _FEWEST_FILLERS


def _is_precise(text: str) -> bool:
    if "```" in text or "~~~" in text or ("=" in text and ":" in text):
        return True
    if text.count("{") + text.count("}") > _MOST_BRACES or text.count('"') > _MOST_QUOTES:
        return True
    low = text.lower()
    return "error:" in low or "exception" in low
