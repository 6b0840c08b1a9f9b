"""Showing foreign text in columns of a terminal."""

import pytest

from holdfast.text.visible import pad


@pytest.mark.parametrize(
    ("text", "cells"), [("ok", 2), ("中文", 4), ("cafe\u0301", 4), ("สวัสดี", 4), ("a\u200bb", 2)]
)
def test_columns_stand_below_each_other_in_any_script(text, cells):
    assert pad(text, 9) == f"{text}{' ' * (9 - cells)}"
