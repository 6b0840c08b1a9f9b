"""A call in a few words."""

from __future__ import annotations

import pytest

from holdfast.compressors.digest import called

COMMAND = "pytest -q tests/session tests/memory tests/stores --maxfail 3 --deselect tests/session/test_page.py"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("{}", "run()"),
        ("", "run()"),
        ('{"path": "src/app.py", "line": 12}', "run(path src/app.py, line 12)"),
        ("no JSON", "run(no JSON)"),
        ('{"path": "a.py", "text": "' + "x y " * 40 + '"}', "run(path a.py)"),
    ],
)
def test_a_call_is_told_by_its_short_arguments(arguments, told):
    assert called("run", arguments) == told


def test_a_long_argument_that_is_alone_is_told_by_its_beginning():
    told = called("run", f'{{"command": "{COMMAND}"}}')
    assert told.startswith("run(command pytest -q tests/session")
    assert told.endswith("…)")
    assert len(told) < len(COMMAND)


def test_many_arguments_are_told_by_the_first():
    told = called("run", str({f"key{n}": f"value number {n}" for n in range(20)}).replace("'", '"'))
    assert told.startswith("run(key0 value number 0, key1 ")
    assert len(told) < 100
