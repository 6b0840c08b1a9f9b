"""What each line of a digest stands for."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.compressors.blocks import BlockType


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a digest: the block and the turn that it comes from, and the tokens of what it stands for."""

    block: int
    type: BlockType
    turn: int
    tokens: int
    text: str
