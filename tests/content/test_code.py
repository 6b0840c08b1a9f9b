"""Code keeps what it declares and what is asked."""

from __future__ import annotations

import re
import sys

import pytest

from holdfast.content import recognise
from holdfast.content.code import Code
from holdfast.kernel.ports import Room
from tests.contracts.content_contract import ContentContract, count, real_texts

SERVICE = """\
import json
import os

LIMIT = 3


class Service:
    \"\"\"Answers requests.\"\"\"

    def __init__(self, store):
        self.store = store
        self.cache = {}
        self.hits = 0
        self.misses = 0
        self.started = os.times()

    def lookup(self, key):
        \"\"\"From the cache, else from the store.\"\"\"
        if key in self.cache:
            self.hits += 1
            return self.cache[key]
        self.misses += 1
        value = json.loads(self.store.get(key))
        self.cache[key] = value
        return value

    def forget(self, key):
        \"\"\"Drop one key.\"\"\"
        self.cache.pop(key, None)
        self.store.delete(key)
        self.store.flush()
        self.audit("forget", key)
        return None


def main(arguments):
    service = Service(open_store(arguments.path))
    for key in arguments.keys:
        print(service.lookup(key))
    for key in arguments.stale:
        service.forget(key)
    return 0
"""


def shrunk(text: str, tokens: int, question: str = "") -> str:
    return Code().shrink(text, Room(tokens, count, question)).text


class TestCode(ContentContract):
    kind = Code()


def test_signatures_stay_and_bodies_become_a_comment_with_their_lines():
    short = shrunk(SERVICE, 90)
    assert "class Service:" in short
    assert "    def lookup(self, key):\n        # … lines 18-25" in short
    assert "self.misses += 1" not in short


def test_the_body_that_is_asked_for_is_kept_whole():
    short = shrunk(SERVICE, 130, "what does forget do with the store?")
    body = SERVICE[SERVICE.index("    def forget") : SERVICE.index("\n\n\ndef main")]
    assert body in short
    assert "json.loads" not in short


def test_line_numbers_are_kept_and_named():
    numbered = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(SERVICE.split("\n"), start=101))
    short = shrunk(numbered, 150)
    assert "   117\t    def lookup(self, key):" in short
    assert re.search(r"^        # … lines 1\d\d-1\d\d$", short, re.MULTILINE)


@pytest.mark.parametrize(("name", "mark"), [("go", "// … lines"), ("python", "# … lines"), ("rust", "// … lines")])
def test_the_comment_is_one_of_the_language(name, mark):
    text = real_texts("code")[name].text
    assert mark in shrunk(text, count(text) // 6)


def test_it_works_without_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "holdfast.content.code.by_tree", raising=False)
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    assert "    def lookup(self, key):\n        # … lines 18-25" in shrunk(SERVICE, 90)
    java = real_texts("code")["java"].text
    assert "public Invoice draft(String customerId, Period period) {\n        // … lines" in shrunk(java, 200)


def test_code_that_does_not_parse_is_read_by_its_indentation():
    assert "def lookup(self, key):\n        # … lines" in shrunk(SERVICE.replace("return 0", "return ((0"), 90)


@pytest.mark.parametrize(
    "text",
    [
        "Read this page.\n\n```python\nimport os\nfor x in y:\n    print(x)\n    go(x)\n```\n\nThat was it.\n",
        "The function returns early; the class is final.\nImport the module first, then run it.\nWhile it runs, wait.\n",
        "name: build\non: push\njobs:\n  test:\n    steps:\n      - run: make\n",
        "a;b;c\n1;2;3\n4;5;6\n",
    ],
)
def test_what_mentions_code_is_not_code(text):
    assert not Code().recognises(text)


def test_a_diff_of_code_is_not_code():
    diff = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2\n"
    assert recognise(diff).name == "diff"
