from __future__ import annotations

from dataclasses import dataclass

import pytest

from holdfast.kernel.messages import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from holdfast.kernel.ports import Tariff
from holdfast.tokens import counter_for, meter_for
from holdfast.tokens.media import media_tokens
from tests.contracts.counter_contract import CounterContract


@dataclass
class Parts:
    """A wire whose messages are their parts."""

    name: str = "parts"

    def parts(self, original):
        return original


def message(role, *parts, plain=None):
    return Message(role, parts, Parts(), plain)


CALL = ToolCall("call_123", "get_data", '{"query":"test"}')
RESULT = ToolResult("call_123", '{"result": "success", "data": "test"}')


@pytest.fixture(
    params=["chars4_plus1", "ceil4_plus2", "floor4", "words", "ceil4_overhead", "fixed:7"]
)
def preset(request):
    return request.param


class TestPresets(CounterContract):
    @pytest.fixture
    def counter(self, preset):
        return counter_for(preset)

    def test_brings_its_own_overheads(self, counter):
        expected = (
            Tariff(4, 10, 10, result_id=True)
            if counter.name == "ceil4_overhead"
            else Tariff(0, 0, 0)
        )
        assert counter.tariff == expected

    def test_does_not_claim_to_be_exact(self, counter):
        assert counter.accuracy.kind != "exact"


@pytest.mark.parametrize(
    ("name", "counts"),
    {
        "chars4_plus1": {"": 1, "hello": 2, "abcd": 2, "你好世界": 2},
        "ceil4_plus2": {"": 2, "hello": 4, "abcd": 3, "你好世界": 3},
        "floor4": {"": 0, "hello": 1, "abcd": 1, "[Old tool result content cleared]": 8},
        "words": {"": 0, "hello": 1, " two  words\n": 2, "你好世界": 1},
        "ceil4_overhead": {"": 0, "hello": 2, "abcd": 1},
        "fixed:100": {"": 100, "hello": 100},
    }.items(),
)
def test_a_formula_counts_characters_as_its_design_does(name, counts):
    assert {text: counter_for(name).count(text) for text in counts} == counts


def test_content_that_is_not_there_takes_nothing_where_the_design_says_so():
    absent, empty = message("assistant"), message("user", Text(""), plain="")
    assert counter_for("chars4_plus1").count_message(absent) == 0
    assert counter_for("chars4_plus1").count_message(empty) == 1
    assert counter_for("ceil4_plus2").count_message(absent) == 2
    assert counter_for("ceil4_plus2").count_message(empty) == 2


def test_a_message_is_counted_by_its_whole_content():
    assert (
        counter_for("chars4_plus1").count_message(message("user", Text("hello"), plain="hello"))
        == 2
    )
    assert counter_for("ceil4_plus2").count_message(message("tool", ToolResult("c", "hello"))) == 4


@pytest.mark.parametrize("name", ["chars4_plus1", "ceil4_plus2"])
def test_calls_reasoning_and_unknown_parts_are_counted_by_the_same_formula(name):
    counter = counter_for(name)
    bare = counter.count_message(message("assistant", Text("hello")))
    for part in (CALL, Reasoning("because of this"), Opaque('{"type":"new"}')):
        more = counter.count_message(message("assistant", Text("hello"), part))
        assert more == bare + counter.count(part.text)


def test_overheads_and_the_id_of_a_result_are_counted_as_llm4s_documents_them():
    meter = meter_for(counter="ceil4_overhead")
    said = message("assistant", Text("Let me check that for you."), CALL)
    assert meter.message(message("user", Text("abcd"), plain="abcd")) == 5
    assert meter.message(said) == 27
    assert meter.message(message("tool", RESULT)) == 20
    assert meter.tariff.conversation == 10


def test_the_name_and_the_arguments_of_a_call_are_rounded_up_apart():
    call = ToolCall("c", "lookup_it", '{"q":"abcdefgh"}x')
    counted = meter_for(counter="ceil4_overhead").message(message("assistant", call))
    assert counted == 4 + 3 + 5 + 10


@pytest.mark.parametrize("name", ["chars4_plus1", "ceil4_plus2", "ceil4_overhead"])
def test_images_are_counted_wherever_they_are(name):
    image = Media("image", source="https://example.com/a.png")
    meter = meter_for(counter=name)
    without = meter.message(message("user", Text("look")))
    assert meter.message(message("user", Text("look"), image)) == without + media_tokens(image)
    without = meter.message(message("tool", ToolResult("c", "look")))
    assert meter.message(
        message("tool", ToolResult("c", "look", (image,)))
    ) == without + media_tokens(image)


def test_a_fixed_count_is_the_same_for_every_message():
    counter = counter_for("fixed:100")
    assert counter.name == "fixed:100"
    assert {
        counter.count_message(m)
        for m in (message("user"), message("assistant", CALL), message("tool", RESULT))
    } == {100}
