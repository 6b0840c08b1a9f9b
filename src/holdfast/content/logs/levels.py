"""The levels of lines: how programs write them, and how bad each of them is."""

from __future__ import annotations

import re

_NORMAL = "trace debug verbose fine finer finest config info information notice log ok".split()
_WARNINGS = "warn warning wrn".split()
_FAILURES = "error err severe critical crit fatal alert emerg emergency panic fail failure dpanic".split()
_LEVELS = frozenset((*_NORMAL, *_WARNINGS, *_FAILURES))
_AROUND = re.compile(r"^\W*(?:[A-Za-z]+=)?|[\W_]+")
_LEVEL = re.compile(
    r"\W*+(?:(?:level|lvl|severity)=)?\W*+"
    rf"(?:(?:{'|'.join(_NORMAL)})|({'|'.join(_WARNINGS)})|({'|'.join(_FAILURES)}))\W*",
    re.IGNORECASE,
)
_KLOG = re.compile(r"([IWEF])(?:[01]\d[0-3]\d|0)")  # a letter and the day; the day is 0 in a shape
_LETTER_LEVELS = {"V": 0, "D": 0, "I": 0, "N": 0, "W": 1, "E": 2, "F": 2, "C": 2}


def severity(level: str) -> int:
    """0 for what is normal, 1 for a warning, 2 for a failure; a word that is no level is normal."""
    level = bare(level) if _KLOG.fullmatch(level) else level
    if level in _LETTER_LEVELS:
        return _LETTER_LEVELS[level]
    found = _LEVEL.fullmatch(level[:40])
    if found is None:
        return 0
    return 2 if found[2] else 1 if found[1] else 0


def bare(level: str) -> str:
    """The level without brackets, case and what else stands around it."""
    day = _KLOG.fullmatch(level)
    return day[1] if day else _AROUND.sub("", level).upper()


def shown(level: str) -> str:
    """The level as it is told: as the lines write it, without the day that some write behind its letter."""
    return bare(level) if _KLOG.fullmatch(level) else level


def is_level(field: str) -> bool:
    """Whether a field of a line is the name of a level, or one letter for it."""
    if field.isalpha():
        return field in _LETTER_LEVELS or field.lower() in _LEVELS
    if _KLOG.fullmatch(field):
        return True
    return _LEVEL.fullmatch(field[:40]) is not None
