from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.text.importance import FAILURE, SEVERE, TROUBLE, WARNING, alarm, signals
from tests.text.adversarial import LARGE


@pytest.mark.parametrize(
    "line",
    [
        "ERROR could not connect",
        "10 errors",
        "java.io.IOException: broken pipe",
        "TypeError: x is not a function",
        "E0515 10:32:01.1 1 main.go:3] x",
        "03-17 16:13:38.811  1702  2395 E WindowManager: x",
        '"GET / HTTP/1.1" 500 12',
        "status=503",
        '{"error": "disk full"}',
        "[error] child 12",
        "authentication failure; uid=0",
        "No such file or directory",
        "Tests passed: 5, failed: 1",
        "Fehler beim Lesen",
        "Fehler: Keine Verbindung zum Server",
        "10 件のエラー",
        "пошла ошибка",
        "发生错误",
    ],
)
def test_failures_are_heard(line):
    assert alarm(line) >= FAILURE


@pytest.mark.parametrize(
    "line", ["panic: runtime error", "FATAL: no disk", "Segmentation fault (core dumped)"]
)
def test_the_worst_is_heard_as_such(line):
    assert alarm(line) == SEVERE


@pytest.mark.parametrize(
    "line",
    [
        "keine Fehler gefunden",
        "aucune erreur",
        "senza errori",
        "没有错误",
        "0 件のエラー",
        "エラーはありません",
        "错误：无",
        "Fehler: keine",
        "오류 없음",
        "0 errors",
        "no error found",
        "without any failure",
        "the build did not fail",
        "failed=0",
        "Errors: 0, ok",
        '{"error": null}',
        "error-free",
        "error_handler.py loaded",
        "src/errors/x.go",
        "--fail-fast",
        "lost+found",
        "handleError(x)",
        "terror and failsafe",
        "INFO all good",
        "",
    ],
)
def test_what_did_not_happen_is_no_alarm(line):
    assert alarm(line) < WARNING


def test_a_warning_is_less_than_trouble():
    assert 0 < alarm("WARN slow query") <= WARNING < TROUBLE


def test_sentences_tell_decisions_and_constraints():
    assert signals("We decided to move the date.").decides == 1.0
    assert signals("It broke because the disk was full.").decides == 0.5
    assert signals("The sun shines.").decides == 0.0
    assert signals("You must not share the key.").constrains
    assert not signals("You share the key.").constrains


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_can_be_judged(text):
    assert 0.0 <= alarm(text) <= SEVERE
    assert signals(text).alarm == alarm(text)


@pytest.mark.parametrize("name", LARGE)
def test_it_ends_on_any_text(name):
    assert alarm(LARGE[name]) in {0.0, WARNING, TROUBLE, FAILURE, SEVERE}
