"""Code keeps what it declares and what is asked."""

from __future__ import annotations

import pytest

from holdfast.content import recognise
from holdfast.content.code import Code, numbered
from tests.contracts.content_contract import ContentContract, real_texts

SERVICE = '''\
import json
import os

LIMIT = 3


def lookup(store, key):
    """From the cache, else from the store."""
    if key in store.cache:
        store.hits += 1
        return store.cache[key]
    store.misses += 1
    value = json.loads(store.get(key))
    store.cache[key] = value
    return value


def forget(
    store,
    key,
):
    store.cache.pop(key, None)
    store.delete(key)
    store.flush()
    store.notes.append("one key less, the cache is smaller now")
    audit("forget", key, count=len(store.cache), reason="asked for by the caller")
    return None


def main(arguments):
    service = open_store(arguments.path)
    for key in arguments.keys:
        print(service.lookup(key))
    return 0
'''


class TestCode(ContentContract):
    kind = Code()


@pytest.mark.parametrize("prefix", ["{:6}\t", "{:>5}→", "{}: ", "{}:", "{:4}| ", "{:3}  "])
def test_line_numbers_in_front_are_no_code(prefix):
    lines = [
        prefix.format(number) + line for number, line in enumerate(SERVICE.split("\n"), start=40)
    ]
    assert numbered(lines)
    assert Code().fit("\n".join(lines)) == Code().fit(SERVICE) == 1


@pytest.mark.parametrize("text", ["1. one\n2. two", "3 x\n1 y", "a\tb\n1\tc", "", "12"])
def test_not_every_number_in_front_is_a_line_number(text):
    assert not numbered(text.split("\n"))


@pytest.mark.parametrize("prefix", ["{:6}\t", "{:>5}→", "{}:", "{}-"])
def test_a_file_that_is_shown_with_line_numbers_is_code(prefix):
    for one in real_texts("code").values():
        if not numbered(one.text.split("\n")):
            lines = enumerate(one.text.split("\n"), start=1)
            assert (
                recognise("\n".join(prefix.format(number) + line for number, line in lines)).name
                == "code"
            )


@pytest.mark.parametrize(
    "text",
    [
        "Read this page.\n\n```python\nimport os\nfor x in y:\n    print(x)\n    go(x)\n"
        "```\n\nThat was it.\n",
        "The function returns early; the class is final.\n"
        "Import the module first, then run it.\nWhile it runs, wait.\n",
        "name: build\non: push\njobs:\n  test:\n    steps:\n      - run: make\n",
        "a;b;c\n1;2;3\n4;5;6\n",
    ],
)
def test_what_mentions_code_is_not_code(text):
    assert not Code().recognises(text)


def test_a_diff_of_code_is_not_code():
    diff = (
        "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n def f():\n"
        "-    return 1\n+    return 2\n"
    )
    assert recognise(diff).name == "diff"
