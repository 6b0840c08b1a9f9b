"""Every case of the specification that concerns what is built passes; the others are named."""

import os

import pytest

from tests.conformance.harness import CASES, cases, judge, main
from tests.conformance.operations import NOT_YET, OPERATIONS

FILE = os.environ.get("HOLDFAST_CASES") or CASES
DONE = [case for case in cases(FILE) if case["params"]["op"] not in NOT_YET]


@pytest.mark.parametrize("case", DONE, ids=lambda case: case["id"])
def test_the_case_holds(case):
    assert judge(case).problems == ()


def test_an_unknown_operation_is_a_failure_that_names_it():
    verdict = judge(
        {"id": "X-1", "input": [], "params": {"op": "levitate"}, "expect": {"unchanged": True}}
    )
    assert "levitate" in verdict.problems[0]


def test_an_unknown_expectation_is_a_failure():
    case = {
        "id": "X-2",
        "input": [],
        "params": {"op": "metrics", "quads": []},
        "expect": {"shines": True},
    }
    assert "does not know" in judge(case).problems[0]


def test_the_account_lists_what_is_not_yet_done_by_id(capsys):
    assert main(CASES) == 0
    pending = [case["id"] for case in cases() if case["params"]["op"] in NOT_YET]
    assert f"not yet done {len(pending)}: {' '.join(pending)}".rstrip() in capsys.readouterr().out


def test_no_operation_is_both_done_and_not():
    assert not NOT_YET & OPERATIONS.keys()
