"""The counts of a log are true: what stands at another level, or says that things stand
otherwise, is another kind.
"""

from __future__ import annotations

import re

import pytest

from holdfast.content.logs import Log
from holdfast.kernel.ports import Room

TIMES = [f"2026-03-03T11:{n // 60:02}:{n % 60:02}Z" for n in range(120)]


def shrunk(lines, tokens=150):
    return Log().shrink("\n".join(lines), Room(tokens, lambda text: len(text) // 3 + 1)).text


def counts(lines):
    return [piece.units for piece in Log().read("\n".join(lines)).pieces if len(piece.labels) > 1]


def odd(n):
    return n % 15 == 3


def test_lines_that_differ_in_their_level_are_two_kinds_each_with_its_count():
    lines = [
        f"{TIMES[n]} {'WARN' if odd(n) else 'INFO'} gateway: took {n * 7}ms req={n:08x}"
        for n in range(60)
    ]
    text = shrunk(lines)
    assert "2 kinds of line" in text
    assert re.search(r"×4 WARN took", text)
    assert re.search(r"×56 took", text)


def test_the_letter_of_an_error_is_its_level_and_no_hexadecimal_number():
    lines = [
        f"{'E' if odd(n) else 'I'}0303 11:29:00.000{n}  1342 proxy.go:12] request {n} took {n} ms"
        for n in range(60)
    ]
    assert "×4 ERROR request " in shrunk(lines)


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("{time} {word} net: link {n} ready", "INFO", "DEBUG"),
        ("{time} {word} net: link {n} ready", "ERROR", "FATAL"),
        ("{word}0303 11:29:00.000{n}   1 proxy.go:12] request {n} took {n} ms", "I", "W"),
        ("{word}0303 11:29:00.000{n}   1 proxy.go:12] request {n} took {n} ms", "I", "E"),
        ("{time} {word} | link eth{n} speed {n}", "UP", "DOWN"),
        ("time={time} level={word} msg=served dur={n}ms", "info", "warn"),
        ("{time} INFO net: link eth{n} is {word}", "up", "down"),
        ("{time} INFO runner: job {n} {word}", "ok", "failed"),
        ("{time} INFO runner: step {n} of build {n}: {word}.", "passed", "skipped"),
        ("{time} INFO net: probe {n} ready={word} took {n}ms", "true", "false"),
        ("{time} INFO gateway: GET /v2/endpoint/{n} {word} {n}ms", "200", "500"),
        ("{time} INFO gateway: call {n} gave status={word} dur={n}", "200", "503"),
        ("{time} INFO gateway: POST /v2/{n} -> HTTP/1.1 {word}", "201", "404"),
        ("{time} INFO runner: job {n} exited with code {word} after {n} s", "0", "137"),
        ("{time} INFO runner: command {n} finished, rc={word}", "0", "1"),
    ],
)
def test_states_are_no_values_and_are_never_counted_together(form, good, bad):
    lines = [form.format(time=TIMES[n], n=n, word=bad if odd(n) else good) for n in range(10, 70)]
    assert Log().recognises("\n".join(lines))
    assert sorted(counts(lines)) == [4, 56]


def test_a_server_that_fails_is_a_failure_without_a_word_of_it():
    lines = [
        f"{TIMES[n]} INFO gateway: GET /v2/{n} {500 if odd(n) else 200} {n}ms" for n in range(60)
    ]
    assert re.search(r"×4 .* 500 ", shrunk(lines))


def test_a_value_that_three_lines_share_by_chance_is_not_told_of_all_lines():
    lines = [
        f"{TIMES[n]} INFO db: port {22 if n in {0, 30, 59} else n} opened by {n}" for n in range(60)
    ]
    assert "×60 port … opened by …" in shrunk(lines)
