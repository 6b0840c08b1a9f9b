"""The preset of llm4s: what an output's size and type decide."""

import json
import re

import pytest

import holdfast
from holdfast.designs.llm4s import SizeClasses, llm4s_error, type_of
from holdfast.kernel.edits import Offload
from holdfast.stores.in_process import InProcessStore
from tests.compressors.shrink.exchanges import outputs, run
from tests.stores.doubles import TextStore

JAVA = "ERROR: boom\nfirst\nsecond\n" + "\n".join(
    f"    at com.shop.Cart{i}.add(Cart.java:{i})" for i in range(60)
)
PROSE = "some words that say nothing in particular " * 70


def compacted(text: str, store: object = None, **knobs: int) -> holdfast.CompressionResult:
    """A budget that nothing can meet: every output is treated."""
    return holdfast.compress(run(("f", {}, text)), 1, strategy=SizeClasses(**knobs), store=store)


def said(text: str, **knobs: int) -> str:
    return outputs(compacted(text, InProcessStore(), **knobs))[0]


def test_the_name_stands_for_the_preset():
    assert holdfast.compress(run(("f", {}, PROSE)), 1, strategy="llm4s").strategy == {
        "strategy": "llm4s",
        "inline_bytes": 2_048,
        "external_bytes": 8_192,
    }


@pytest.mark.parametrize("character", ["x", "é", "世", "🙂"])
def test_bytes_decide_the_class_and_not_characters(character):
    whole = character * (2_048 // len(character.encode()))
    assert said(whole) == whole
    large = character * (8_193 // len(character.encode()) + 1)
    assert said(large).endswith(f"| TEXT | Text content, {len(large.encode())} bytes]")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"a": 1}', "JSON"),
        (" [1, 2] \n", "JSON"),
        ("{no json at all}", "JSON"),
        ("---\nname: shop\nports:\n  - 80\n  - 443\n", "YAML"),
        ("a table\n---|---\na: b", "TEXT"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n- old: 1\n+ new: 2\n", "TEXT"),
        (JAVA, "ERROR"),
        ("Traceback (most recent call last):\nValueError: x", "ERROR"),
        ("INFO start\nWARN Exception was handled\nINFO end", "LOG"),
        ("INFO start\nWARN Exception\n  at com.shop.Cart.add(Cart.java:3)", "ERROR"),
        ("DEBUG one\nDEBUG two", "LOG"),
        ("data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAA" * 60, "BINARY"),
        ("PNG\x00\x01\x02\x03" * 90, "BINARY"),
        ("it is sent as base64, see data: below", "TEXT"),
    ],
)
def test_the_type_is_seen_by_structure(text, kind):
    assert type_of(text) == kind


def test_json_loses_what_is_empty_and_the_middle_of_long_lists_and_keeps_numbers():
    value = {
        "z": list(range(50)),
        "none": None,
        "blank": "",
        "gone": [],
        "id": 12345678901234567890,
        "a": "p" * 2_000,
    }
    now = json.loads(said(json.dumps(value)))
    assert list(now) == ["z", "id", "a"]
    assert now["z"] == [*range(10), "...[+30 items]...", *range(40, 50)]
    assert now["id"] == 12345678901234567890


def test_text_in_braces_that_is_no_json_is_cut_as_text():
    assert "... [+" in said("{" + "no json " * 400 + "}")


def test_a_text_keeps_its_first_50_words_and_its_last_20():
    words = [f"word{i}" for i in range(400)]
    assert said(" ".join(words)).split() == [
        *words[:50],
        "...",
        "[+330",
        "words]",
        "...",
        *words[-20:],
    ]


def test_an_error_keeps_its_first_lines_and_ten_frames():
    lines = said(JAVA).split("\n")
    assert lines[:3] == ["ERROR: boom", "first", "second"]
    assert sum(".java:" in line for line in lines) == 10
    assert lines[-1] == "... [+50 additional stack frames] ..."


def test_a_word_that_names_an_error_costs_no_lines():
    report = "\n".join(f"Exception handling, chapter {i}: look at page {i}" for i in range(80))
    assert said(report) == report


def test_yaml_loses_its_empty_members_alone():
    text = "---\n" + "".join(f"key{i}: {'null' if i % 2 else i}\n" for i in range(300))
    assert said(text) == "---\n" + "".join(f"key{i}: {i}\n" for i in range(0, 300, 2))


@pytest.mark.parametrize(
    "text", ["x" * 3_000, ("w" * 60 + " ") * 60, JAVA[:2_100], "{" + "x" * 3_000 + "}"]
)
def test_no_text_grows(text):
    assert len(said(text)) <= len(text)


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (
            json.dumps({f"k{i}": "v" * 40 for i in range(300)}),
            r"JSON \| JSON object with 300 fields",
        ),
        (json.dumps(["v" * 40] * 300), r"JSON \| JSON array with 300 items"),
        ("{" + "x" * 9_000 + "}", r"JSON \| JSON content"),
        ("INFO line of a log\n" * 600, r"LOG \| Log output with 600 lines"),
        ("ERROR: " + "far too long " * 800, r"ERROR \| Error: ERROR: (?:far too long ){7}fa"),
        ("plain " * 2_000, r"TEXT \| Text content"),
    ],
)
def test_a_large_output_is_moved_out_and_can_be_had_back(text, summary):
    store = InProcessStore()
    result = compacted(text, store)
    found = re.fullmatch(
        rf"\[EXTERNALIZED: (content_[0-9a-f]{{64}}) \| {summary}, (\d+) bytes\]", outputs(result)[0]
    )
    assert int(found[2]) == len(text)
    assert holdfast.recall(found[1], store=store) == text
    assert [edit.key for edit in result.edits if isinstance(edit, Offload)] == [found[1]]


def test_binary_is_moved_out_at_any_size_but_the_smallest():
    store = InProcessStore()
    data = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAA" * 120
    found = re.fullmatch(
        r"\[BINARY CONTENT - 2902 bytes - externalized: (content_[0-9a-f]{64})\]",
        outputs(compacted(data, store))[0],
    )
    assert holdfast.recall(found[1], store=store) == data


class Failing(TextStore):
    def set(self, key: str, value: str) -> None:
        raise OSError("full")


@pytest.mark.parametrize("store", [None, Failing()])
def test_nothing_is_called_externalized_that_is_not_kept(store):
    result = compacted("plain " * 2_000, store)
    assert outputs(result) == ["[LEFT OUT: TEXT | Text content, 12000 bytes; it is not kept]"]
    assert ("no original was saved" in result.steps[0].detail) is (store is not None)
    assert holdfast.restore(result)[3]["content"] == "plain " * 2_000


@pytest.mark.parametrize(
    "text", [PROSE, JAVA, "INFO same\n" * 300, json.dumps(list(range(900))), "plain " * 2_000]
)
def test_a_second_run_changes_nothing(text):
    store = InProcessStore()
    once = compacted(text, store).messages
    assert holdfast.compress(once, 1, strategy="llm4s", store=store).messages == once


def test_pinned_outputs_and_what_fits_stay():
    messages = run(("f", {}, PROSE), ("f", {}, PROSE))
    result = holdfast.compress(messages, 1, strategy="llm4s", pin=[3])
    assert [edit.index for edit in result.edits] == [5]
    assert not holdfast.compress(messages, 100_000, strategy="llm4s").edits


def test_the_classes_cannot_be_turned_around():
    with pytest.raises(holdfast.ConfigError, match="inline_bytes"):
        SizeClasses(inline_bytes=100, external_bytes=10)


def test_the_llm4s_preset_keeps_the_message_and_ten_frames():
    frames = [f"\tat shop.A.f{number}(A.java:{number})" for number in range(25)]
    head = ["java.lang.Error: x", "first detail", "second detail"]
    told = llm4s_error("\n".join([*head, *frames])).split("\n")
    assert told == [*head, *frames[:10], "... [+15 additional stack frames] ..."]


def test_the_llm4s_preset_keeps_causes_and_counts_what_is_gone():
    frames = [f"\tat shop.A.f{number}(A.java:{number})" for number in range(14)]
    cause = "Caused by: java.io.IOException: the disk is full"
    told = llm4s_error("\n".join(["ERROR: x", *frames[:12], cause, *frames[12:], "Exit 1"]))
    marker = "... [+4 additional stack frames] ..."
    assert told.split("\n") == ["ERROR: x", *frames[:10], marker, cause, "Exit 1"]


def test_the_llm4s_preset_leaves_ten_frames_alone():
    text = "\n".join(
        ["java.lang.Error: x", *[f"\tat shop.A.f{number}(A.java:{number})" for number in range(10)]]
    )
    assert llm4s_error(text) == text


@pytest.mark.parametrize(
    "mark", ["[EXTERNALIZED: x]", "[LEFT OUT: x]", "... [collapsed 3 x]", "...[+3 x]"]
)
def test_a_mark_that_anybody_can_write_keeps_no_output_whole(mark):
    rows = "\n".join(f"row {n}: value {n * 7919 % 100_003} is open" for n in range(600))
    assert len(said(f"{mark}\n{rows}")) < 200
    assert len(said(f"{mark}\n{rows[:6_000]}")) < 1_500


@pytest.mark.parametrize("lines", [121, 500])
def test_what_was_shortened_is_not_shortened_again(lines):
    log = "\n".join(f"INFO step {n} of the migration is done" for n in range(lines))
    listed = json.dumps([{"id": n, "name": f"name {n} " * 12} for n in range(40)])
    for output in (log, listed):
        once = said(output, external_bytes=100_000)
        assert said(once, external_bytes=100_000) == once
