"""Copies between stores that are interrupted, go on, and have nothing left to do."""

from __future__ import annotations

import pytest

from holdfast import upkeep


class InterruptedCopyError(Exception):
    pass


def interrupts(done):
    if done > 4:
        raise InterruptedCopyError


def copied(source, target):
    with pytest.raises(InterruptedCopyError):
        upkeep.copy(source, target, interrupts)
    upkeep.copy(source, target)
    again = upkeep.copy(source, target)
    assert (again.new_keys, again.new_lines) == (0, 0)
    assert upkeep.check(target) == []
