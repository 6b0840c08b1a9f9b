"""The counts of a log are true: what stands at another level, or says that things stand otherwise, is another kind."""

from __future__ import annotations

import re

import pytest

from holdfast.content.logs import Log
from holdfast.content.logs.mine import Miner
from holdfast.content.logs.rank import entries
from holdfast.content.testrun import TestRun
from holdfast.kernel.ports import Room
from holdfast.text.states import states, with_codes

TIMES = [f"2026-03-03T11:{n // 60:02}:{n % 60:02}Z" for n in range(120)]


def shrunk(lines, tokens=150):
    return Log().shrink("\n".join(lines), Room(tokens, lambda text: len(text) // 3 + 1)).text


def odd(n):
    return n % 15 == 3


def test_lines_that_differ_in_their_level_are_two_kinds_each_with_its_count():
    lines = [f"{TIMES[n]} {'WARN' if odd(n) else 'INFO'} gateway: took {n * 7}ms req={n:08x}" for n in range(60)]
    text = shrunk(lines)
    assert "all 2 kinds of line" in text
    assert re.search(r"Warnings:\n×4 \S+ WARN gateway: took", text)
    assert re.search(r"Other kinds:\n×56 \S+ INFO gateway: took", text)


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("{time} {word} net: link {n} ready", "INFO", "DEBUG"),
        ("{time} {word} net: link {n} ready", "ERROR", "FATAL"),
        ("{word}0303 11:29:00.000{n}   1 proxy.go:12] request {n} took {n} ms", "I", "W"),
        ("{time} {word} | link eth{n} speed {n}", "UP", "DOWN"),
        ("time={time} level={word} msg=served dur={n}ms", "info", "warn"),
        ("{time} INFO net: link eth{n} is {word}", "up", "down"),
        ("{time} INFO runner: job {n} {word}", "ok", "failed"),
        ("{time} INFO runner: step {n} of build {n}: {word}.", "passed", "skipped"),
        ("{time} INFO net: probe {n} ready={word} took {n}ms", "true", "false"),
        ("{time} INFO gateway: GET /v2/endpoint/{n} {word} {n}ms", "200", "500"),
        ("{time} INFO gateway: call {n} gave status={word} dur={n}", "200", "503"),
        ("{time} INFO gateway: POST /v2/{n} -> HTTP/1.1 {word}", "201", "404"),
        ("[GIN] 2026/03/03 - 11:29:{n} | {word} | {n}ms | 10.0.0.1 | GET /ping", "200", "502"),
        ("{time} INFO runner: job {n} exited with code {word} after {n} s", "0", "137"),
        ("{time} INFO runner: command {n} finished, rc={word}", "0", "1"),
    ],
)
def test_states_are_no_values_and_are_never_counted_together(form, good, bad):
    lines = [form.format(time=TIMES[n], n=n, word=bad if odd(n) else good) for n in range(10, 70)]
    assert Log().recognises("\n".join(lines))
    told = sorted((entry.kind.count, entry.label, entry.full) for entry in entries(Miner(lines)))
    assert [count for count, _, _ in told] == [4, 56]
    for (_, label, full), word in zip(told, (bad, good), strict=True):
        assert word in f"{label} {full}"


def test_codes_that_say_the_same_are_one_kind_that_names_them():
    lines = [f"{TIMES[n]} INFO gateway: GET /v2/{n} {201 if odd(n) else 200} {n}ms" for n in range(60)]
    text = shrunk(lines)
    assert "×60" in text
    assert "200|201" in text


def test_a_server_that_fails_is_a_failure_without_a_word_of_it():
    lines = [f"{TIMES[n]} INFO gateway: GET /v2/{n} {500 if odd(n) else 200} {n}ms" for n in range(60)]
    assert re.search(r"Failures:\n×4 .* 500 ", shrunk(lines))


def test_the_counts_and_the_lines_without_a_word_make_up_the_log():
    lines = [
        f"{TIMES[n]} {'WARN' if odd(n) else 'INFO'} gateway: {'' if n % 2 else f'took {n} ms'}" for n in range(60)
    ]
    lines[30:30] = ["", "  at shop.Cart.price(Cart.java:7)", "  ^^^^", ""]
    told = entries(Miner(lines))
    assert "64 lines, 3 of them without a word" in shrunk(lines, 400)
    assert sum(entry.kind.count for entry in told) == 64 - 3


def test_a_value_that_three_lines_share_by_chance_is_not_told_of_all_lines():
    lines = [f"{TIMES[n]} INFO db: port {22 if n in {0, 30, 59} else n} opened by {n}" for n in range(60)]
    assert [entry.short for entry in entries(Miner(lines))] == ["port … opened by …"]


def test_values_beside_a_count_are_said_to_be_those_of_the_first_line():
    lines = [f"{TIMES[n]} INFO db: port {n} opened" for n in range(60)]
    assert "×n n such lines, … differs, a|b either, other values of the first]" in shrunk(lines)


def test_numbers_of_lines_and_bytes_are_no_codes():
    assert states(tuple(with_codes("read 200 rows, 404 bytes in 500ms").split())) == ()
    assert states(tuple(with_codes("ended, exit code 0").split()))[-1] == (3, "0")


def test_diagnostics_that_are_counted_together_but_name_other_things_say_so():
    lines = [f"src/a{n}.c:{n}:5: warning: unused variable ‘v{n}’ [-Wunused-variable]" for n in range(20)]
    run = "\n".join([*lines, "make: *** [Makefile:6: app] Error 1"])
    text = TestRun().shrink(run, Room(80, lambda text: len(text) // 3 + 1)).text
    assert "(×20, also src/a1.c:1:5" in text
    assert "what they name differs)" in text


def test_errors_with_other_exit_codes_are_not_counted_together():
    lines = [f"src/a{n}.c:{n}:5: error: hook exited with code {n % 2 + 1}" for n in range(20)]
    run = "\n".join([*lines, "make: *** [Makefile:6: app] Error 1"])
    text = TestRun().shrink(run, Room(150, lambda text: len(text) // 3 + 1)).text
    assert text.count("(×10") == 2


def test_source_code_beside_a_short_log_is_no_failure_of_a_log():
    listing = [f"-rw-r--r-- 1 ann staff {n} shop{n}.py" for n in range(10)]
    code = ["def price(item):", "    try:", "        return rates[item]", "    except RateMissingError:"] * 10
    log = [f"{TIMES[n]} INFO gateway: took {n} ms" for n in range(30)]
    assert not Log().recognises("\n".join([*listing, *code, *log]))
    assert Log().recognises("\n".join([*code[:8], *log]))
