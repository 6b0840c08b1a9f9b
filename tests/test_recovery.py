"""Originals come back: to a program, and to a model that may pass anything."""

import asyncio
import json
import re

import pytest

import holdfast
from holdfast.recovery import MOST, RecallTool, line_range, recall, recall_tool
from holdfast.stores.artifacts import ArtifactStore
from holdfast.stores.in_process import InProcessStore
from tests.stores.doubles import AwaitedTextStore, TextStore

LINES = "".join(f"line {i} of {'ERROR' if i % 10 == 0 else 'INFO'}\n" for i in range(1, 101))
ORDERS = '{"orders": [{"id": 12345678901234567890, "status": "open"}, {"id": 2, "status": "paid"}]}'


def kept(text: str) -> tuple[InProcessStore, str]:
    store = InProcessStore()
    return store, ArtifactStore(store).put(text).reference


def test_an_original_comes_back_whole_or_in_part():
    store, key = kept(LINES)
    assert recall(key, store=store) == LINES
    assert recall(key, store=store, lines=(10, 11)) == "line 10 of ERROR\nline 11 of INFO\n"
    assert recall(key, store=store, lines="10:11") == recall(key, store=store, lines=(10, 11))
    assert recall(key, store=store, pattern="ERROR").count("\n") == 10
    assert recall(key, store=store, pattern=r"line \d of", lines=(5, 50)) == "".join(
        LINES.splitlines(True)[4:9]
    )


def test_a_field_comes_back_as_it_is_written():
    store, key = kept(ORDERS)
    assert recall(key, store=store, field="orders[0].id") == "12345678901234567890"
    assert recall(key, store=store, field="orders[-1].status") == "paid"


def test_the_whole_reference_does_for_a_key():
    store, key = kept(LINES)
    for name in (key, f"[original: {key} (log, 5 tokens)]", f"content_{key}", f" {key.upper()}\n"):
        assert recall(name, store=store) == LINES


@pytest.mark.parametrize("make", [TextStore, AwaitedTextStore])
def test_any_store_gives_back_what_it_has(make):
    store = make()
    key = holdfast.shrink(LINES, 60, store=store).key
    assert recall(key, store=store) == LINES


@pytest.mark.parametrize(
    ("asked", "error", "place"),
    [
        ({"key": ""}, holdfast.ConfigError, "key"),
        ({"key": None}, holdfast.ConfigError, "key"),
        ({"lines": "ten"}, holdfast.ConfigError, "lines"),
        ({"lines": (0, 5)}, holdfast.ConfigError, "lines"),
        ({"lines": (9, 5)}, holdfast.ConfigError, "lines"),
        ({"lines": (1, 2, 3)}, holdfast.ConfigError, "lines"),
        ({"pattern": "("}, holdfast.ConfigError, "pattern '('"),
        ({"field": "a"}, holdfast.InputError, "field 'a'"),
    ],
)
def test_what_cannot_be_asked_is_named(asked, error, place):
    store, key = kept(LINES)
    with pytest.raises(error) as caught:
        recall(**{"key": key, **asked}, store=store)
    assert caught.value.place == place


def test_a_key_that_is_not_there_is_not_found():
    with pytest.raises(holdfast.NotFoundError, match="there is no '123456789abc'"):
        recall("123456789abc", store=InProcessStore())


def test_a_store_that_fails_is_a_store_error():
    class Failing(TextStore):
        def get(self, key):
            raise OSError("the disk is gone")

    with pytest.raises(holdfast.StoreError, match="the disk is gone"):
        recall("123456789abc", store=Failing())
    assert "the disk is gone" in recall_tool(Failing())({"key": "123456789abc"})


@pytest.mark.parametrize(
    ("written", "range_"),
    [
        ("10:80", (10, 80)),
        ("10-80", (10, 80)),
        (" 7 ", (7, 7)),
        (7, (7, 7)),
        ([1, 2], (1, 2)),
        ("", None),
        (None, None),
    ],
)
def test_a_range_of_lines_is_written_in_many_ways(written, range_):
    assert line_range(written) == range_


@pytest.mark.parametrize(
    "written", ["a:b", "1:2:3", "-5", ":", [1], [1, "2"], {}, 1.5, True, "1" * 5_000, "१:२"]
)
def test_anything_else_is_no_range(written):
    if written is True:
        written = [True, True]
    with pytest.raises(holdfast.ConfigError, match="is not a range of lines"):
        line_range(written)


@pytest.mark.parametrize(
    ("form", "path"), [("openai", ("function", "parameters")), ("anthropic", ("input_schema",))]
)
def test_the_schema_is_of_the_form_that_the_provider_takes(form, path):
    schema = recall_tool(InProcessStore(), provider=form).schema
    for step in path:
        schema = schema[step]
    assert schema["required"] == ["key"]
    assert set(schema["properties"]) == {"key", "lines", "pattern", "field", "offset"}
    assert json.loads(json.dumps(schema)) == schema


def test_a_format_without_tools_names_the_known_ones():
    with pytest.raises(holdfast.ConfigError, match="known are anthropic, bedrock, converse"):
        recall_tool(InProcessStore(), provider="telegram")


def tool(text: str, **options: int) -> tuple[RecallTool, str]:
    store, key = kept(text)
    return recall_tool(store, **options), key


def test_the_model_gets_lines_with_their_numbers():
    call, key = tool(LINES)
    assert call({"key": key}) == LINES
    assert call({"key": key, "lines": "10:11"}) == "10:line 10 of ERROR\n11:line 11 of INFO\n"
    assert call({"key": key, "pattern": "line 100"}) == "100:line 100 of ERROR\n"
    assert call({"key": key, "pattern": "absent"}) == "[nothing of the original matches]"


def test_arguments_may_be_the_json_that_the_provider_sends():
    call, key = tool(ORDERS)
    assert call(json.dumps({"key": key, "field": "orders[1]"})) == '{"id": 2, "status": "paid"}'


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        "",
        "not json",
        "[" * 100_000,
        "[]",
        7,
        {},
        {"key": None},
        {"key": ["a"]},
        {"key": {}},
        {"key": True},
        {"key": "123456789abc"},
        {"key": "\ud800"},
        {"lines": "1;2"},
        {"lines": {}},
        {"lines": [5, 1]},
        {"pattern": "("},
        {"pattern": ["x"]},
        {"pattern": "(?<=x)y"},
        {"field": "a..b"},
        {"field": 3},
        {"offset": -1},
        {"offset": "soon"},
        {"offset": 1.5},
    ],
)
def test_whatever_the_model_passes_the_answer_is_an_error_in_words(arguments):
    call, key = tool(LINES)
    if isinstance(arguments, dict) and arguments and "key" not in arguments:
        arguments = {"key": key, **arguments}
    answer = call(arguments)
    assert answer.startswith("error: ")
    assert "\n" not in answer


@pytest.mark.parametrize("name", ["key", "lines", "pattern", "field", "offset"])
def test_an_error_does_not_repeat_all_that_the_model_passed(name):
    call, key = tool(LINES)
    answer = call({"key": key, name: "[" * 100_000})
    assert answer.startswith("error: ")
    assert len(answer) < 500


def test_a_long_original_comes_in_parts_that_join_to_the_whole():
    text = "".join(f"{i} {'x' * 50}\n" for i in range(2_000))
    call, key = tool(text)
    parts, offset = [], 0
    while True:
        part, _, note = call({"key": key, "offset": offset}).rpartition("\n")
        assert len(part) <= MOST
        parts.append(part)
        offset += len(part)
        if "next part" not in note:
            break
        assert f"give offset {offset}," in note
        assert part.endswith("\n")
    assert "".join(parts) == text
    assert (
        call({"key": key, "offset": len(text)}) == f"[the answer ends at character {len(text):,}]"
    )


def test_a_single_long_line_comes_in_parts_too():
    call, key = tool("x" * 1_000, most=300)
    answer = call({"key": key, "offset": "300"})
    assert answer == (
        "x" * 300 + "\n[characters 300 to 600 of 1,000; for the next part give offset 600, "
        "or narrow it by lines, pattern or field]"
    )


@pytest.mark.parametrize("most", [0, -1, "many", True])
def test_the_bound_is_a_positive_number(most):
    with pytest.raises(holdfast.ConfigError, match="give a whole number of 1 or more"):
        recall_tool(InProcessStore(), most=most)


def test_the_tool_answers_inside_of_a_running_loop():
    store = AwaitedTextStore()
    key = holdfast.shrink(LINES, 60, store=store).key

    async def called() -> str:
        return recall_tool(store)({"key": key})

    assert asyncio.run(called()) == LINES


def test_the_example_of_the_recall_tool_is_read_as_a_reference_is():
    told = recall_tool("memory://", provider="openai").schema["function"]["description"]
    (key,) = re.findall(r"\[original: (\S+)", told)
    log = "".join(f"{n} worker took job {n * 7}\n" for n in range(900))
    real = holdfast.shrink(log, 100, store="memory://example").key
    assert (len(key), key.isdecimal()) == (len(real), real.isdecimal()) == (20, True)
