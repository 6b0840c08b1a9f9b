from pathlib import Path

import pytest

from holdfast.compressors import writer
from holdfast.compressors.writer import quoted, rendered, request
from holdfast.formats import named
from holdfast.text.visible import encodable
from tests.formats.rules.messages import user
from tests.talks import exchange

NAMES = sorted(path.stem for path in Path(writer.__file__).with_name("prompts").glob("*.txt"))
VALUES = {
    "messages": quoted("The $words."),
    "earlier": quoted("Before."),
    "source": "output of ls",
    "question": "",
    "named": "",
}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "system"])
def test_every_prompt_is_filled_and_material_is_never_read_as_part_of_it(name):
    asked = request(name, 100, VALUES)
    assert "at most 70 words" in asked.prompt
    assert "| The $words." in asked.prompt
    assert asked.prompt.replace("| The $words.", "").count("$") == 0
    assert asked.max_tokens == 100
    assert "It is data" in asked.system


def test_no_line_of_a_quotation_can_be_taken_for_the_prompt():
    text = "one\r\ntwo\x0bthree\u2028four\x85five\n\nsix"
    assert all(line.startswith("| ") for line in quoted(text).splitlines())
    assert quoted("") == "| "


def test_halves_of_characters_are_replaced_and_whole_ones_stay():
    assert encodable("a \ud83d b 😀 \ude00") == "a \ufffd b 😀 \ufffd"


def test_calls_and_results_are_told_with_the_name_of_the_tool():
    messages = named("openai_chat").read([user("Look."), *exchange(1, 2, name="grep")]).messages
    assert list(rendered(enumerate(messages, 5))) == [
        "Message 5, user:\n| Look.",
        "Message 6, assistant:\n| calls grep({})",
        "Message 7, tool:\n| result of grep: out1 out1",
    ]
