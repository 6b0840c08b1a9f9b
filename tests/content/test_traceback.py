"""Stack traces keep every error, then the frames nearest to the failure."""

from __future__ import annotations

import pytest

from holdfast.content.traceback import Traceback
from holdfast.designs.llm4s import llm4s_error
from holdfast.kernel.ports import Room
from tests.contracts.content_contract import ContentContract, count, real_texts


class TestTraceback(ContentContract):
    kind = Traceback()


def shrunk(text, tokens, question=""):
    return Traceback().shrink(text, Room(tokens, count, question)).text


def python_trace(frames, error):
    lines = [
        f'  File "/srv/shop/{name}", line {number}, in {name[:4]}\n    step({number})'
        for number, name in frames
    ]
    return "\n".join(["Traceback (most recent call last):", *lines, error])


def test_own_frames_come_before_those_of_libraries():
    own = [(number, f"shop{number}.py") for number in range(4)]
    library = [
        (number, f"lib/python3.12/site-packages/web/core{number}.py") for number in range(40)
    ]
    text = shrunk(python_trace([*library, *own, *library], "ValueError: no price"), 150)
    assert "ValueError: no price" in text
    assert [name for _, name in own if name not in text] == []
    assert text.count("site-packages") <= 1


def test_the_question_decides_between_frames():
    frames = [(number, f"shop{number}.py") for number in range(60)]
    frames[30] = (1_234, "tax_table.py")
    assert "tax_table.py" in shrunk(
        python_trace(frames, "ValueError: x"), 70, "what does tax_table.py do?"
    )


@pytest.mark.parametrize("name", sorted(real_texts("traceback")))
def test_no_error_is_lost_in_a_quarter_of_the_tokens(name):
    text = real_texts("traceback")[name].text
    told = shrunk(text, count(text) // 4)
    missed = [
        line
        for line in dict.fromkeys(text.split("\n"))
        if line.startswith(("panic: ", "Caused by: ", "thread '")) and line not in told
    ]
    assert missed == []


@pytest.mark.parametrize(
    "text",
    [
        "An Exception is not an Error. Traceback (most recent call last): is what Python prints.\n"
        * 9,
        "2026-03-01 10:00:00 ERROR x\n\tat a.B.c(D.java:1)\n" * 9,
        'FAIL: test_x\nTraceback (most recent call last):\n  File "a.py", line 1, in x\n'
        '    y\n  File "b.py", line 1, in x\nValueError: z\nRan 3 tests in 0.1s\n',
        "at the gate\nat the door\nat the window\n" * 9,
    ],
)
def test_other_texts_are_no_traceback(text):
    assert not Traceback().recognises(text)


def test_the_llm4s_preset_keeps_three_lines_and_ten_frames():
    frames = [f"\tat shop.A.f{number}(A.java:{number})" for number in range(25)]
    head = ["java.lang.Error: x", "first detail", "second detail"]
    told = llm4s_error("\n".join([*head, *frames])).split("\n")
    assert told == [*head, *frames[:10], "... [+15 additional stack frames] ..."]


def test_the_llm4s_preset_leaves_ten_frames_alone():
    text = "\n".join(
        ["java.lang.Error: x", *[f"\tat shop.A.f{number}(A.java:{number})" for number in range(10)]]
    )
    assert llm4s_error(text) == text
