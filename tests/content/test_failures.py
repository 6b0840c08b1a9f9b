"""Of test runs, builds, traces and searches, whatever their tool, what failed and what is asked."""

from __future__ import annotations

import pytest

from holdfast.content import recognise
from holdfast.kernel.ports import Room
from tests.contracts.content_contract import count, real_texts

TRACES = [
    name
    for name, real in real_texts("prose").items()
    if any(mark in real.text for mark in ("panic: ", "Caused by: ", "thread '"))
]


def shrunk(text, tokens, question=""):
    return recognise(text).shrink(text, Room(tokens, count, question)).text


def suite_with(failures):
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


@pytest.mark.parametrize(
    ("names", "tokens"), [(["price"], 120), (["price", "tax", "voucher", "stock", "mail"], 250)]
)
def test_every_failure_among_many_passing_tests_is_told_with_its_reason(names, tokens):
    told = shrunk(suite_with(names), tokens)
    reasons = [f"AssertionError: {name} is {number}" for number, name in enumerate(names)]
    assert [reason for reason in reasons if reason not in told] == []
    assert f"{len(names)} failed, 400 passed" in told


def test_a_passing_test_is_told_if_it_is_asked_for():
    told = shrunk(suite_with(["price"]), 150, "did test_case_371 pass?")
    assert "test_case_371 PASSED" in told


@pytest.mark.parametrize("tokens", [110, 150])
def test_an_error_is_told_besides_many_warnings(tokens):
    warnings = [
        f"src/a{number}.c:{number}:5: warning: unused variable ‘v{number}’ [-Wunused-variable]"
        for number in range(80)
    ]
    error = "error: ‘struct pool’ has no member named ‘lok’"
    end = "make: *** [Makefile:6: app] Error 1"
    told = shrunk("\n".join([*warnings, f"src/pool.c:9:3: {error}", end]), tokens)
    assert error in told
    assert end in told


def test_errors_with_the_same_words_but_other_symbols_are_all_told():
    lines = []
    for name in ("Cart", "Stock", "Tax"):
        lines += [
            f"Shop.java:{len(name)}: error: cannot find symbol",
            f"    new {name}();",
            f"  symbol:   class {name}",
        ]
    text = "\n".join([*lines, "3 errors", *["note: see also the manual of the shop"] * 99])
    told = shrunk(text, 130)
    assert "class Cart|Stock|Tax" in told


PASSING = {
    "TAP": "ok {0} - case {0}\n  ---\n  duration_ms: {0}\n  ...\n",
    "go": "=== RUN   TestCase{0}\n--- PASS: TestCase{0} (0.00s)\n",
    "maven": "[INFO] Running shop.Case{0}Test\n[INFO] Tests run: {0}, Failures: 0, Errors: 0\n",
    "jest": "PASS src/case{0}.test.js\n",
    "tsc": "src/case{0}.ts: checked\n",
}
FAILING = {
    "TAP": ("not ok 41 - rounds\n  ---\n  error: 'off by a cent'\n  ...\n", "off by a cent"),
    "go": ("    b_test.go:9: got 1, want 2\n--- FAIL: TestB (0.00s)\nFAIL\n", "--- FAIL: TestB"),
    "maven": ("[ERROR]   CartTest.rounds:12 expected: <1> but was: <2>\n", "CartTest.rounds:12"),
    "jest": ("FAIL src/b.test.js\n  ● cart › rounds\n\n    Expected: 1\n", "FAIL src/b.test.js"),
    "tsc": ("src/b.ts(4,5): error TS2304: Cannot find name 'x'.\n", "error TS2304"),
}


@pytest.mark.parametrize("tool", PASSING)
def test_what_failed_in_the_middle_of_a_run_is_kept_whatever_the_tool(tool):
    passed = [PASSING[tool].format(number) for number in range(80)]
    failed, reason = FAILING[tool]
    text = "".join([*passed[:40], failed, *passed[40:]])
    assert reason in shrunk(text, count(text) // 8)


@pytest.mark.parametrize("name", sorted(TRACES))
def test_no_error_of_a_trace_is_lost_in_a_quarter_of_its_tokens(name):
    text = real_texts("prose")[name].text
    told = shrunk(text, count(text) // 4)
    missed = [
        line
        for line in dict.fromkeys(text.split("\n"))
        if line.startswith(("panic: ", "Caused by: ", "thread '")) and line not in told
    ]
    assert missed == []


def test_the_question_decides_between_the_frames_of_a_trace():
    frames = [
        f'  File "/srv/shop/shop{number}.py", line {number}, in shop\n    step({number})'
        for number in range(60)
    ]
    frames[30] = frames[30].replace("shop30.py", "tax_table.py")
    trace = "\n".join(["Traceback (most recent call last):", *frames, "ValueError: x"])
    assert "tax_table.py" in shrunk(trace, 70, "what does tax_table.py do?")


def test_the_hit_of_a_search_that_the_question_names_comes_first():
    hits = [
        f"src/part{number % 7}/module.py:{number + 1}:    value = load({number})"
        for number in range(300)
    ]
    hits[210] = "src/part0/module.py:211:    retry = RetryPolicy(5)"
    assert hits[210] in shrunk("\n".join(hits), 60, "where is RetryPolicy made?")
