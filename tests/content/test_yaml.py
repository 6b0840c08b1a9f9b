"""YAML: recognised by its structure, shrunk to the lines or the tables that say most."""

from __future__ import annotations

import pytest

from holdfast.content.yaml import Yaml
from holdfast.kernel.ports import Room
from holdfast.tokens import counter_for
from tests.contracts.content_contract import ContentContract

count = counter_for("o200k_base").count


class TestYaml(ContentContract):
    kind = Yaml()


def shrink(text: str, tokens: int, question: str = "") -> str:
    shrunk = Yaml().shrink(text, Room(tokens, count, question))
    assert count(shrunk.text) <= tokens
    return shrunk.text


MANIFEST = """\
# One service of many
apiVersion: v1
kind: Service
metadata:
  name: web
  labels: {app: web}
spec:
  ports:
  - name: http
    port: 80
  - name: metrics
    port: 9102
  script: |
    anything: goes here
    - or there, even prose and 1 + 1
status:
  phase: failed
"""


def test_a_manifest_is_recognised():
    assert Yaml().recognises(MANIFEST)
    assert Yaml().recognises(f"---\n{MANIFEST}---\n{MANIFEST}")


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\n---\n\nSome prose: with a colon.\n- an item\n- another one\n",
        "--- a/x.yaml\n+++ b/x.yaml\n@@ -1 +1 @@\n-name: web\n+name: api\n",
        "2024-01-01 10:00:00 INFO: started\n2024-01-01 10:00:01 INFO: ready\n"
        "2024-01-01 10:00:02 WARN: slow\n",
        "INFO: started\nINFO: ready\nERROR: slow\nINFO: stopped\n",
        "Note: this is prose.\nIt goes on without any shape.\nAnd ends: here.\n",
        "class A:\n    def f(self):\n        return 1\n",
        "- one\n- two\n- three\n",
        "a:\n\tb: 1\n\tc: 2\n",
        '{\n"a": 1,\n"b": 2,\n"c": \n',
    ],
)
def test_what_only_has_colons_or_dashes_is_no_yaml(text):
    assert not Yaml().recognises(text)


def test_a_value_is_told_with_the_keys_on_the_way_to_it():
    text = shrink(MANIFEST, 45, "Which port serves the metrics?")
    assert "spec: ports [(name http, port 80), (name metrics, port 9102)]" in text


def test_documents_are_read_one_by_one_and_block_texts_as_texts():
    pieces = [piece.text for piece in Yaml().read(f"---\n{MANIFEST}---\nkind: ConfigMap\n").pieces]
    assert pieces[-1] == "kind ConfigMap"
    assert any("anything: goes here" in piece for piece in pieces)
    assert any("status (phase failed)" in piece for piece in pieces)


def test_the_text_says_that_something_is_left_out():
    assert "…" in shrink(MANIFEST, 40)


def test_lists_of_records_become_rows():
    pods = "".join(
        f"- name: pod-{row}\n  phase: Running\n  restarts: {row % 3}\n" for row in range(60)
    )
    text = shrink(f"kind: List\nitems:\n{pods}", 400, "How is pod-59?")
    assert "items: 60 records, a row each: name, phase, restarts" in text
    assert "pod-59 Running 2" in text


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n"
            for n in range(12)
        ),
        "- " * 200_000 + "x",
        "[" * 50_000 + "]" * 50_000,
        "".join(" " * n + f"k{n}:\n" for n in range(1_000)) + " " * 1_000 + "x: found",
        "a: [1, 2",
        "*nothing",
    ],
    ids=["aliases of aliases", "dashes", "brackets", "deep", "broken", "an alias of nothing"],
)
def test_odd_texts_are_read_as_they_are_written(text):
    told = "".join(piece.text for piece in Yaml().read(text).pieces)
    assert len(told) <= 4 * len(text)
    assert text.strip()[-1] in told


def test_a_key_of_several_words_is_a_key():
    text = (
        "age: 4\nhome town: Oslo\nnote: it goes\n  on here: so\nparts:\n  - list price: 5\n"
        "    unit: kg\n"
    )
    told = [piece.text for piece in Yaml().read(text).pieces]
    assert told == [
        "age 4, home town: Oslo, note it goes on here: so, parts [(list price: 5, unit kg)]"
    ]
    assert "first name: Bob" in Yaml().read("first name: Bob\nage: 4\n").pieces[0].text
