"""Edits are data: the four of them. ``apply`` is the only way in which they change a transcript.

All edits of one batch speak of positions in the transcript that they were planned against.
"""

from __future__ import annotations

from dataclasses import dataclass

from .messages import Role


@dataclass(frozen=True, slots=True)
class Drop:
    """These messages leave the view."""

    indices: tuple[int, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Replace:
    """One part gets a shorter text; ``asked`` allows it for a user's or the system's text."""

    index: int
    part: int
    text: str
    reason: str = ""
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Offload:
    """One part gives way to ``text``, which names ``key``: there the original is kept."""

    index: int
    part: int
    text: str
    key: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Insert:
    """A new message before position ``at``; it stands for the first to the last of ``covers``.

    ``original``: the message itself, where a repair brings more than a text.
    """

    at: int
    role: Role
    text: str
    reason: str = ""
    covers: tuple[int, int] | None = None
    original: object = None


Edit = Drop | Replace | Offload | Insert
