"""YAML: recognised by its structure, shrunk to the lines or the tables that say most."""

from __future__ import annotations

import pytest

from holdfast.content.structured import yaml_values
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
        "2024-01-01 10:00:00 INFO: started\n2024-01-01 10:00:01 INFO: ready\n2024-01-01 10:00:02 WARN: slow\n",
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


def test_a_line_stays_under_the_lines_that_it_belongs_to():
    text = shrink(MANIFEST, 45, "Which port serves the metrics?")
    kept = text.splitlines()
    assert (
        kept.index("spec:")
        < kept.index("  ports:")
        < kept.index("  - name: metrics")
        < kept.index("    port: 9102")
    )


def test_trouble_stays_without_being_asked_for():
    assert "phase: failed" in shrink(MANIFEST, 30)


def test_the_text_says_how_many_lines_it_has():
    assert shrink(MANIFEST, 40).startswith("# ")
    assert "of 17 lines" in shrink(MANIFEST, 40)


def test_lists_of_records_become_tables():
    pods = "".join(f"- name: pod-{row}\n  phase: Running\n  restarts: {row % 3}\n" for row in range(60))
    text = shrink(f"kind: List\nitems:\n{pods}", 400)
    assert "items: 60 records, a line each: name" in text
    assert "pod-59" in text


def test_scalars_keep_their_meaning():
    (value,) = yaml_values.parse("a: 1.10\nb: '1.10'\nc: ~\nd: yes\ne: true\nf: 0x1F\ng: !secret key\n")
    assert value == {"a": "1.10", "b": "1.10", "c": None, "d": "yes", "e": True, "f": "0x1F", "g": "!secret key"}
    assert [type(item).__name__ for item in value.values()][:2] == ["Literal", "str"]


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x, x, x, x, x, x, x]\n"
        + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(12)),
        "- " * 200_000 + "x",
        "[" * 50_000 + "]" * 50_000,
        "a: [1, 2",
        "&a [*a]",
        "*nothing",
    ],
    ids=["alias bomb", "dashes", "brackets", "broken", "a list in itself", "an alias of nothing"],
)
def test_bombs_and_broken_texts_are_refused(text):
    with pytest.raises(ValueError, match=r"."):
        yaml_values.parse(text)
