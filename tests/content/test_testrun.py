"""Test runs and builds keep the outcome, what failed and why, and each diagnostic once."""

from __future__ import annotations

import pytest

from holdfast.content.testrun import TestRun
from holdfast.kernel.ports import Room
from tests.contracts.content_contract import ContentContract, count


class TestTestRun(ContentContract):
    kind = TestRun()


def shrunk(text, tokens, question=""):
    return TestRun().shrink(text, Room(tokens, count, question)).text


def pytest_run(failures):
    passing = [
        f"tests/test_cart.py::test_case_{number} PASSED    [ {number % 90}%]"
        for number in range(400)
    ]
    blocks = [
        f"______ test_{name} ______\n\n    def test_{name}():\n"
        f">       assert {name}() == 1\nE       AssertionError: {name} is {number}"
        for number, name in enumerate(failures)
    ]
    total = f"=== {len(failures)} failed, 400 passed in 1.20s ==="
    return "\n".join([*passing, "=== FAILURES ===", *blocks, total])


def test_what_failed_is_told_before_what_passed():
    text = shrunk(pytest_run(["price"]), 120)
    assert "AssertionError: price is 0" in text
    assert "1 failed, 400 passed" in text


def test_every_failure_is_named_with_its_reason():
    names = ["price", "tax", "voucher", "stock", "mail"]
    text = shrunk(pytest_run(names), 250)
    assert [
        name
        for number, name in enumerate(names)
        if f"AssertionError: {name} is {number}" not in text
    ] == []
    assert "5 failed, 400 passed" in text


def test_a_passing_test_is_told_if_it_is_asked_for():
    assert "test_case_371 PASSED" in shrunk(pytest_run(["price"]), 150, "did test_case_371 pass?")


def test_errors_are_told_before_warnings():
    warnings = [
        f"src/a{number}.c:{number}:5: warning: unused variable ‘v{number}’ [-Wunused-variable]"
        for number in range(80)
    ]
    error = "src/pool.c:9:3: error: ‘struct pool’ has no member named ‘lok’"
    text = shrunk("\n".join([*warnings, error, "make: *** [Makefile:6: app] Error 1"]), 110)
    assert error in text
    assert "make: *** [Makefile:6: app] Error 1" in text


def test_errors_with_the_same_words_but_other_symbols_are_all_told():
    lines = []
    for name in ("Cart", "Stock", "Tax"):
        lines += [
            f"Shop.java:{len(name)}: error: cannot find symbol",
            f"    new {name}();",
            f"  symbol:   class {name}",
        ]
    text = shrunk(
        "\n".join([*lines, "3 errors", *["note: see also the manual of the shop"] * 99]), 130
    )
    assert [name for name in ("Cart", "Stock", "Tax") if f"class {name}" not in text] == []


@pytest.mark.parametrize(
    ("run", "name"),
    [
        (
            "ok 1 - adds\n  ---\n  duration_ms: 1\n  ...\nnot ok 2 - rounds\n  ---\n"
            "  error: 'off by a cent'\n  ...\n# pass 1\n# fail 1\n",
            "rounds",
        ),
        (
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n"
            "    b_test.go:9: got 1, want 2\n--- FAIL: TestB (0.00s)\nFAIL\n"
            "FAIL\tshop/b\t0.01s\n",
            "got 1, want 2",
        ),
        (
            "[INFO] Running CartTest\n[ERROR] Tests run: 2, Failures: 1\n"
            "[ERROR]   CartTest.rounds:12 expected: <1> but was: <2>\n"
            "[INFO] BUILD FAILURE\n",
            "CartTest.rounds:12",
        ),
        (
            "PASS src/a.test.js\nFAIL src/b.test.js\n  ● cart › rounds\n\n"
            "    Expected: 1\n    Received: 2\n\n"
            "Tests:       1 failed, 1 passed, 2 total\n",
            "cart › rounds",
        ),
        (
            "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type "
            "'number'.\nsrc/b.ts(4,5): error TS2304: Cannot find name 'x'.\n"
            "Found 2 errors.\n",
            "TS2304",
        ),
        (
            "a.py:1:1: F401 `os` imported but unused\nb.py:2:1: E501 Line too long\n"
            "Found 2 errors.\n",
            "E501",
        ),
    ],
    ids=["TAP", "go", "maven", "jest", "tsc", "ruff"],
)
def test_runs_of_many_tools_are_recognised_and_their_failures_kept(run, name):
    assert TestRun().recognises(run)
    assert name in shrunk(run * 3 + "\n".join(["    some other output"] * 60), 130)


@pytest.mark.parametrize(
    "text",
    [
        "The build FAILED yesterday: 3 passed, 1 failed in 5 minutes.\nError: nobody knows why.\n"
        * 9,
        "src/a.py:3:def error():\nsrc/b.py:4:    raise Error\nsrc/c.py:9:FAIL = 1\n" * 9,
        "ERROR: disk full\nINFO: retry\nERROR: disk full\n" * 9,
        "# Tests\n\n- ok\n- not ok\n" * 9,
    ],
)
def test_other_texts_are_no_test_run(text):
    assert not TestRun().recognises(text)
