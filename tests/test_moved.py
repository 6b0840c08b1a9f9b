"""Names of modules that were documented once still work, and say where things are now."""

from __future__ import annotations

from importlib import import_module

import pytest

from holdfast import telemetry
from holdfast.calls import cache
from holdfast.moved import MOVED
from holdfast.telemetry import spans


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_gives_what_the_new_module_has_and_warns(old):
    new = import_module(f"holdfast.{MOVED[old]}")
    name = next(name for name in vars(new) if name[0].isalpha())
    with pytest.warns(DeprecationWarning, match=f"holdfast.{old} is now holdfast.{MOVED[old]}"):
        assert getattr(import_module(f"holdfast.{old}"), name) is getattr(new, name)


def test_an_old_name_can_be_imported_from():
    with pytest.warns(DeprecationWarning, match="is now holdfast.calls.cache"):
        from holdfast.cache.lru import Lru
    assert Lru is cache.Lru


def test_a_name_that_moved_out_of_its_module_is_found_there_and_warns():
    with pytest.warns(DeprecationWarning, match="is now in holdfast.telemetry.spans"):
        assert telemetry.span is spans.span
