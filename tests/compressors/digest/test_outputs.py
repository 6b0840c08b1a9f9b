"""How notes quote what tools gave: files, changes and lines, without what says where they stood."""

import holdfast
from holdfast.compressors.digest import Digest
from holdfast.compressors.digest.atoms import written
from holdfast.compressors.digest.notation import Exchange, Words, line_of
from tests.compressors.digest.conversations import assistant, user

DIFF = """diff --git a/shop/tax.py b/shop/tax.py
index 1f0c2aa..93be771 100644
--- a/shop/tax.py
+++ b/shop/tax.py
@@ -10,7 +10,7 @@ def rate(country: str) -> Decimal:
     table = load()
-    return table[country]
+    return table.get(country, DEFAULT_RATE)
diff --git a/shop/cart.py b/shop/cart.py
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -1,3 +1,4 @@
 import json
+from shop.tax import rate
"""


def _written(saying):
    line = line_of(saying)
    return written(line, range(len(line.atoms)))


def test_changes_stand_with_their_file_and_their_sign():
    text = _written(Exchange("run", '{"command": "git diff"}', DIFF))
    assert "shop/tax.py (table = load() | - return table[country] | + return table.get(country" in text
    assert "shop/cart.py (import json | +from shop.tax import rate)" in text
    assert "@@" not in text
    assert "index " not in text


def test_of_a_long_diff_each_change_stands_with_its_file():
    kept = "".join(f" kept = {n}\n" for n in range(80))
    files = "".join(
        f"--- a/shop/m{n}.py\n+++ b/shop/m{n}.py\n@@ -1,81 +1,81 @@\n-rate_{n} = {n}\n+rate_{n} = {n}.5\n{kept}"
        for n in range(2)
    )
    text = _written(Exchange("run", '{"command": "git diff"}', files))
    assert "shop/m0.py (+1 -1 | -rate_0 = 0 | +rate_0 = 0.5" in text
    assert "shop/m1.py (+1 -1 | -rate_1 = 1 | +rate_1 = 1.5" in text
    assert "@@" not in text
    assert "…" not in text


def test_numbers_of_lines_are_left_out():
    code = "\n".join(f"{n:6}\tvalue_{n} = {n * 7}" for n in range(1, 9))
    text = _written(Exchange("read_file", '{"path": "m.py"}', code))
    assert "read_file(path m.py) value_1 = 7 | value_2 = 14 |" in text


def test_a_list_that_begins_with_numbers_of_its_own_keeps_them():
    text = _written(
        Exchange("count", "{}", "17  apples in the cellar of the old house\n4  pears on the table\n90  nuts")
    )
    assert "17 apples" in text
    assert "90 nuts" in text


def test_hits_of_a_long_search_stand_with_their_file():
    hits = "\n".join(f"src/part_{n % 5}.py:{n}: total = compute(order_{n})" for n in range(120))
    text = _written(Exchange("search", '{"pattern": "compute"}', hits))
    assert "src/part_0.py (" in text
    assert "hits" not in text


def test_an_argument_that_is_too_long_for_the_call_stands_behind_its_name():
    command = "python -m shop report --from 2024-01-01 --to 2024-06-30 --format csv --output build/report.csv"
    text = _written(Exchange("run", f'{{"command": "{command}"}}', None))
    assert text == f"run: command {command}"


def test_no_line_says_only_that_something_is_left_out():
    pasted = "a. " * 100_000
    messages = [user("Look."), assistant("Yes."), user(pasted), assistant(pasted), user("Go on.")]
    result = holdfast.compress(messages, 400, strategy=[Digest(), "trim"], format="openai")
    notes = next(m["content"] for m in result.messages if m["content"].startswith("[HISTORY_SUMMARY"))
    assert "left out" not in notes


def test_a_long_sentence_loses_whole_words():
    said = "The reason is that " + "counterproductive measures " * 40
    (atom,) = line_of(Words("user", said)).atoms
    assert set(atom.text.rstrip("…").split()) <= set(said.split())
