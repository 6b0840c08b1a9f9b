"""What measures the library: missing data is told, cliffs are seen, size knows no layout."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from benchmarks import size
from benchmarks.quality.__main__ import main
from benchmarks.quality.confirmations import failures, is_reference
from benchmarks.quality.sessions import same
from benchmarks.quality.sweep import Cliffs, Seen, judged

SCORE = SimpleNamespace(words=str.split, text_of=lambda message: message["content"] or "")
WHOLE = Seen(
    1_000, 990, whole=True, dropped=False, paired=True, exact=True, kept=1.0, task=True, noted=False
)
FULL = replace(WHOLE, budget=500, tokens=490, whole=False, dropped=True, kept=0.5, noted=True)


def test_a_folder_without_the_benchmark_is_told_in_one_line(tmp_path, capsys):
    assert main([str(tmp_path), "runs"]) == 2
    told = capsys.readouterr().out
    assert str(tmp_path) in told
    assert told.count("\n") == 1


def test_no_folder_and_an_unknown_part_are_told(tmp_path, capsys):
    assert main([]) == 2
    assert main([str(tmp_path), "walks"]) == 2
    assert "'walks' is no part" in capsys.readouterr().out


def test_a_sweep_without_cliffs_counts_nothing():
    row = [replace(FULL, budget=300, tokens=290, kept=0.4), FULL, WHOLE]
    assert judged(row) == Cliffs(budgets=3)


def test_every_cliff_is_seen_once():
    cliffs = {
        "over": replace(FULL, tokens=501),
        "unpaired": replace(FULL, paired=False),
        "lost": replace(FULL, exact=False),
        "unused": replace(FULL, tokens=424),
        "falls": replace(FULL, kept=0.3),
        "notes": replace(FULL, noted=False),
    }
    before = replace(FULL, budget=300, tokens=290, kept=0.4)
    for name, seen in cliffs.items():
        assert judged([before, seen, WHOLE]) == replace(Cliffs(budgets=3), **{name: 1})
    gone = replace(FULL, budget=1_500, tokens=1_350, task=False)
    assert judged([before, gone, WHOLE]) == Cliffs(budgets=3, task=1)


def test_views_are_alike_as_far_as_their_messages_are_equal():
    assert same([1, 2, 3], [1, 2, 4, 5]) == 2
    assert same([], [1]) == 0


def test_a_failed_call_in_notes_is_told_as_one_or_not():
    def called(name, reply):
        function = {"name": "book", "arguments": f'{{"flight": "{name}"}}'}
        call = {"id": name, "function": function}
        yield {"role": "assistant", "content": "", "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": name, "content": reply}

    done = [*called("HAT001", "Error: no seats"), *called("HAT002", "booked")]
    cases = {
        "book(HAT001) no seats": 0,
        "book(HAT001) failed": 1,
        "book(HAT001,\nbags)\n> failed": 1,
    }
    for step, told in cases.items():
        notes = f"[HISTORY_SUMMARY 1]\n- {step}\n- book(HAT002) booked, failed"
        assert failures(SCORE, done, [{"role": "user", "content": notes}]) == (1, told)
    assert failures(SCORE, done, [{"role": "user", "content": "book(HAT001)"}]) == (0, 0)


def test_a_bare_reference_shows_nothing_of_the_result():
    assert is_reference(SCORE, "seats left", "[original: 12 (text, 9 tokens; left out: seats)]")
    assert not is_reference(SCORE, "seats left", "seats [original: 12 (text, 9 tokens)]")


def test_size_is_counted_without_docstrings_comments_and_layout(tmp_path, capsys):
    plain = "import re\nA = re.compile('x')\nB = {'y': 1}\n\nclass C:\n    pass\n"
    laid_out = f'"""A module."""\n# {"why " * 9}\n{plain}'.replace("{'y': 1}", "{\n    'y': 1\n}")
    (tmp_path / "one.py").write_text(plain, "utf-8")
    (tmp_path / "two.py").write_text(laid_out, "utf-8")
    one, two = (size.size_of(tmp_path / name) for name in ("one.py", "two.py"))
    assert one == two
    assert (one.patterns, one.numbers, one.characters, one.classes) == (1, 1, 2, ["C"])
    assert size.main([str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert f"{2 * one.tokens:,}" in told
    assert "C" in told.partition("class names defined twice:")[2]


def test_every_number_of_a_module_tells_where_it_comes_from():
    bare = {path: size.size_of(path).bare for path in size.HERE.rglob("*.py")}
    assert {path: names for path, names in bare.items() if names} == {}


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("A = 1\n", ["A"]),
        ("A = 1  # why\n", []),
        ("# why\nA = 1\n", []),
        ('A = 1\n"""Why."""\n', []),
        ("A = {\n    'x': 1,  # why\n}\n", []),
        ("A = 1  # why\nB: int = 2\n", ["B"]),
        ("# why\n\nA = 1\n", ["A"]),
        ("A = 1  # noqa: X1\n", ["A"]),
        ("A = 'x'\nB = True\nC = len(A)\n", []),
    ],
)
def test_a_number_is_bare_without_a_comment_of_its_own(tmp_path, text, bare):
    (tmp_path / "one.py").write_text(text, "utf-8")
    assert size.size_of(tmp_path / "one.py").bare == bare
