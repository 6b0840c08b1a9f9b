"""Which outputs report that their act failed."""

import json

import pytest

from holdfast.text import failures
from holdfast.text.failures import refuses, reports_failure

ROWS = "\n".join(f"part {n} is done" for n in range(40))
CODE = "\n".join(
    f"def part_{n}():\n    raise ValueError('no error of part {n}')" for n in range(40)
)
RAISED = "\n".join(f'  File "job.py", line {n}, in part_{n}\n    part_{n + 1}()' for n in range(40))
COMMAND = f"check --all {' '.join(f'--part {n}' for n in range(30))}"


@pytest.mark.parametrize(
    "text",
    [
        f"{ROWS}\nError: the connection exists already",
        f'{ROWS}\nERROR:  role "shop" does not exist',
        f"{ROWS}\nError: the connection exists\n\n  with peering.a,\n  on main.tf line 12\n",
        f"{ROWS}\nnumpy.core._exceptions._ArrayMemoryError: Unable to allocate 3 GiB",
        f"{COMMAND}: exit status 1\n{ROWS}",
        '{"valido": false, "errores": [{"codigo": "VAL-031", "texto": "falta"}]}',
        '{"created": [], "failed": [{"line": "B-4627", "error": "receipt missing"}]}',
        "unknown command: 3dfx",
        '{"status_code": 503, "body": ""}',
        '{"result_code": "FAILED"}',
        '{"statusCode": 404, "body": ""}',
        '{"errorMessage": "no rows", "errorType": "KeyError", "stackTrace": []}',
        '{"error": "the quota is used up", "error_code": 0}',
        '{"status": "PERMISSION_DENIED", "row": 7}',
        '{"outcome": "OUTCOME_FAILED", "output": "3"}',
        '{"error_code": 17, "error_msg": "the quota is used up"}',
        "\x1b[31mFAILED\x1b[0m part 7",
        f"<results>\n<tool>run</tool>\n<error>\n{ROWS}\n</error>\n</results>",
        f"Traceback (most recent call last):\n{RAISED}\nshop.pay.GatewayUnreachable: gw-eu2",
        json.dumps({"result": f"{CODE}\nError: the connection exists already"}),
        f"{ROWS}\npart 1 of 9\rpart 2 of 9\rerror: the connection exists already",
    ],
)
def test_a_failure_is_reported(text):
    assert reports_failure(text)


@pytest.mark.parametrize(
    "text",
    [
        ROWS,
        "proposable  0.6127\nmissing     2914",
        "missing 2914\nproposable 0.6127",
        "Done.\nError: 0 warnings: 0",
        "{'a': 3, 'unknown': 29}",
        '{"statusCode": 200, "body": ""}',
        '{"error_code": 0, "error_msg": "SUCCESS", "rows": [1]}',
        '{"errorCode": "00000", "errorMessage": "2 rows were written"}',
        '{"error": false, "errorMessage": "2 rows were written"}',
        '{"errorMessage": null, "rows": [1]}',
        '{"policy": "B77104", "insurer": "Northgate", "status": "expired"}',
        '{"card": "4421", "status": "blocked"}',
        '{"on_error": "continue", "error_page": "/500.html", "max_errors": 9}',
        '{"created": [{"line": "B-1"}], "failed": [{"line": "B-2", "error": "receipt missing"}]}',
        f"{COMMAND}: exit status 0\n{ROWS}",
        "<returncode>0</returncode>\n4 files changed",
        "Found 1 error (1 fixed, 0 remaining).\n[exit code 0]",
        json.dumps({"result": CODE}),
        f"<results>\n<result>\n{CODE}\n</result>\n<error></error>\n</results>",
        f"{CODE}\nPart: 3",
        f"{ROWS}\nERROR: mirror a did not answer\n  part 7 came from mirror b\nDone",
        f"{ROWS}\nFailed logins:\n  2026-03-02 bob\n  2026-03-04 eva\nTotal: 2",
        "<returncode>0</returncode>\n<output>\n4f9 parts of the report\n</output>",
        f"{ROWS}\n  of 40\nError: (none)\nExit Code: 0\nSignal: (none)\nGroup: 4076",
    ],
)
def test_no_failure_is_reported(text):
    assert not reports_failure(text)


@pytest.mark.parametrize(
    ("act", "output"),
    [
        ("block_card", "card 4421 blocked"),
        ("rejectRefund", '{"status": "Rejected"}'),
        ("drop_table", "table tmp_2024 dropped"),
        ("deny-access", "Access of R-7 denied"),
    ],
)
def test_that_what_was_asked_for_is_done_is_no_failure(act, output):
    assert reports_failure(output)
    assert not refuses((act, output))


@pytest.mark.parametrize(
    ("act", "output"),
    [
        ("block_card", "error: card 4421 is already blocked"),
        ("block_card", "card 4421 cannot be blocked"),
        ("reject_refund", '{"error": "rejected", "message": "it is not pending"}'),
        ("submit_order", '{"status": "rejected"}'),
        ("list_failed_jobs", "failed: no answer"),
        ("apply_voucher", '{"voucher": "SAVE10", "applied": false}'),
        ("block_card", "card 4421 is not blocked, since it is not yours"),
        ("", "table tmp_2024 dropped"),
    ],
)
def test_what_was_not_asked_for_is_a_failure(act, output):
    assert refuses((act, output))


def test_records_of_which_one_is_not_what_the_act_is_named_for_are_no_failure():
    records = '[{"id": 71, "merged": false}, {"id": 72, "merged": true}]'
    assert not refuses(("list_merge_requests", records))
    assert not refuses(("list_merge_requests", f'{{"page": 1, "requests": {records}}}'))
    assert refuses(("merge_request", '{"id": 71, "merged": false}'))
    assert not refuses(("get_merge_state", '{"merged": false}'))


def test_an_output_that_failed_is_read_for_what_was_asked_for_once(monkeypatch):
    read: list[str] = []
    monkeypatch.setattr(failures, "words", lambda text: read.append(text) or [])
    for _ in range(3):
        assert refuses(("block_card", f"{ROWS}\nError: card 4421 was read once"))
    assert len(read) == 1
