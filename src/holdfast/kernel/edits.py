"""The four edits. Only ``apply`` changes a transcript with them.

Positions in a batch of edits refer to the transcript that they were planned for.
"""

from dataclasses import dataclass

from .messages import Role


@dataclass(frozen=True)
class Drop:
    """Removes these messages."""

    indices: tuple[int, ...]
    reason: str = ""


@dataclass(frozen=True)
class Replace:
    """Gives one part a shorter text; ``asked`` allows it for text of users and the system."""

    index: int
    part: int
    text: str
    reason: str = ""
    asked: bool = False


@dataclass(frozen=True)
class Offload:
    """Gives one part a text that names ``key``, under which the original is stored."""

    index: int
    part: int
    text: str
    key: str
    reason: str = ""


@dataclass(frozen=True)
class Insert:
    """Inserts a message before position ``at``.

    It represents the messages from ``covers[0]`` to ``covers[1]``. ``original`` is the message
    itself, if it is more than a text.
    """

    at: int
    role: Role
    text: str
    reason: str = ""
    covers: tuple[int, int] | None = None
    original: object = None


Edit = Drop | Replace | Offload | Insert
