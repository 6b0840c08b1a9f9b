"""Diffs keep every file with its numbers, and the changes before what stands around them."""

from __future__ import annotations

import difflib

import pytest

from holdfast.content.diff import Diff
from holdfast.kernel.ports import Room
from tests.contracts.content_contract import ContentContract, count, real_texts


class TestDiff(ContentContract):
    kind = Diff()


def shrunk(text, tokens, question=""):
    return Diff().shrink(text, Room(tokens, count, question)).text


def change(path, edits, size=200):
    """A git diff of one made-up file: ``edits`` maps the number of a line to its new text."""
    old = [f"line {number} of the file\n" for number in range(size)]
    new = [f"{edits[number]}\n" if number in edits else line for number, line in enumerate(old)]
    body = "".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"))
    return f"diff --git a/{path} b/{path}\nindex 1a2b3c4..5d6e7f8 100644\n{body}"


def test_the_hunk_that_the_question_names_comes_first():
    edits = {n: f"step({n})" for n in range(5, 195, 12)} | {101: "retries = RetryPolicy(limit=5)"}
    told = shrunk(change("src/job.py", edits), 110, "what is the limit of RetryPolicy?")
    assert "+retries = RetryPolicy(limit=5)" in told


def test_the_lines_around_a_change_are_told_only_with_it():
    pieces = Diff().read(change("src/job.py", {50: "first()", 120: "second()"})).pieces
    around = [piece for piece in pieces if piece.text.startswith(" line")]
    assert len(around) >= 4
    assert all("()" in pieces[piece.parent].text for piece in around)


def test_a_change_is_told_with_its_file_and_its_hunk():
    edits = dict.fromkeys(range(0, 200, 9), "x = 1") | {101: "retries = RetryPolicy(limit=5)"}
    told = shrunk(
        change("src/part1.py", edits) + change("src/part2.py", {7: "y = 2"}),
        90,
        "which RetryPolicy?",
    )
    assert "=== src/part1.py +" in told
    assert "@@ -" in told
    assert "+retries = RetryPolicy(limit=5)" in told


def test_new_deleted_renamed_and_binary_files_are_told_as_such():
    text = (
        "diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\n"
        "rename to new.py\n"
        "diff --git a/logo.png b/logo.png\nindex 1..2 100644\n"
        "Binary files a/logo.png and b/logo.png differ\n"
        "diff --git a/gone.py b/gone.py\ndeleted file mode 100644\n--- a/gone.py\n"
        "+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n"
    )
    told = shrunk(text + change("src/job.py", dict.fromkeys(range(200), "y")), 150)
    assert "=== new.py (rename from old.py)" in told
    assert "=== logo.png (binary)" in told
    assert "=== gone.py -1 (deleted file)" in told


def test_lines_that_look_like_heads_inside_a_hunk_are_changes():
    text = (
        "--- a/x.sql\n+++ b/x.sql\n@@ -1,3 +1,3 @@\n--- a comment\n+-- b comment\n"
        " select 1;\n--- more\n+++ more\n"
    )
    assert "=== x.sql +2 -2" in shrunk(text * 2, 60)


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\n---\n\n- one\n+ two\n\n--- a rule\n" * 9,
        "---\nname: x\n---\nname: y\n" * 9,
        "The change is @@ -1 +1 @@ in a diff --git of prose.\n" * 9,
        "+ a\n- b\n  c\n" * 30,
    ],
)
def test_other_texts_are_no_diff(text):
    assert not Diff().recognises(text)


def test_a_diff_with_carriage_returns_is_read_alike():
    text = real_texts("diff")["svn-diff"].text
    assert shrunk(text.replace("\n", "\r\n"), 100) == shrunk(text, 100)


def test_a_diff_between_the_samples_of_a_long_text_does_not_make_it_one():
    said = [f"Sentence {number} of a long talk about other things." for number in range(9_000)]
    said[300] = "diff --git a/src/job.py b/src/job.py"
    assert Diff().fit("\n".join(said)) == 0.0


def test_both_modes_of_a_file_are_told():
    text = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"
    assert Diff().read(text).pieces[0].text == "=== x (old mode 100644, new mode 100755)"
