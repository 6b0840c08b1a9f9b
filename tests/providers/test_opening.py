"""Models and embedders by name, as objects and as functions; the doubles and the models that
are none.
"""

import subprocess
import sys

import pytest

from holdfast.kernel.errors import ConfigError, ModelError
from holdfast.kernel.ports import Complete, Embedder, Model
from holdfast.providers import (
    EMBEDDERS,
    MODELS,
    default_embedder,
    name_of,
    open_embedder,
    open_model,
)
from holdfast.providers.prices import price_of
from holdfast.providers.scripted import Scripted
from tests.embedders import ScriptedEmbedder


class Own:
    """A caller's object of both protocols."""

    def complete(self, prompt, *, system="", max_tokens=512):
        return "fine"

    def embed(self, texts):
        return [[1.0] for _ in texts]


def test_an_object_of_the_protocol_is_taken_as_it_is():
    own = Own()
    assert open_model(own) is own
    assert open_embedder(own) is own
    assert name_of(own) == "Own"


def test_a_function_of_the_prompt_is_a_model_and_gets_the_instructions_first():
    model = open_model(str.upper)
    assert model.complete("do it", system="be kind") == "BE KIND\n\nDO IT"
    assert model.complete("do it") == "DO IT"
    assert isinstance(model, Model)


def test_a_function_of_the_texts_is_an_embedder():
    embedder = open_embedder(lambda texts: [[float(len(text))] for text in texts])
    assert embedder.embed(["a", "bc"]) == [[1.0], [2.0]]
    assert isinstance(embedder, Embedder)


def test_functions_go_by_their_names():
    assert name_of(open_model(test_functions_go_by_their_names)).endswith(
        "test_functions_go_by_their_names"
    )


@pytest.mark.parametrize("wrong", [7, None, Own, "nobody:x", "nobody", ""])
def test_what_is_no_model_is_told_with_what_to_give(wrong):
    for opens in (open_model, open_embedder):
        with pytest.raises(ConfigError, match="known are|give 'vendor:name'"):
            opens(wrong)


def test_every_name_of_the_tables_stands_for_something():
    assert all(callable(MODELS.load(name)) for name in MODELS.table)
    assert all(callable(EMBEDDERS.load(name)) for name in EMBEDDERS.table)


def test_the_default_embedder_asks_no_network():
    assert name_of(default_embedder()) in {
        name_of(open_embedder("lexical")),
        name_of(open_embedder("local")),
    }


def test_naming_a_vendor_loads_its_package_only_where_it_is_called():
    script = (
        "import sys, holdfast\n"
        "messages = [{'role': 'user', 'content': 'hello'}]\n"
        "holdfast.compress(messages, 8_000, llm='openai:gpt-4o-mini', embedder='gemini:')\n"
        "holdfast.compress(messages * 50, 100)\n"
        "print(*sorted(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert loaded.isdisjoint(
        {"openai", "google.genai", "asyncio", "holdfast.calls.cache", "holdfast.calls.caller"}
    )


@pytest.mark.parametrize(
    ("vendor", "package"), [("openai",) * 2, ("anthropic",) * 2, ("gemini", "google.genai")]
)
def test_a_vendor_whose_package_is_not_installed_is_told_with_the_extra_that_brings_it(
    vendor, package
):
    script = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "import holdfast\n"
        "messages = [{'role': ('user', 'assistant')[i % 2], 'content': 'hello ' * 50} "
        "for i in range(9)]\n"
        "try:\n"
        f"    holdfast.compress(messages, 100, llm='{vendor}:a-model')\n"
        "except holdfast.MissingExtraError as told:\n"
        "    print(told)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert f"pip install 'holdfast[{vendor}]'" in ran.stdout


# the public double


def test_a_script_is_played_in_order_and_remembers_what_it_was_asked():
    model = Scripted(["one", ValueError("two")])
    assert model.complete("a", system="s", max_tokens=9) == "one"
    with pytest.raises(ValueError, match="two"):
        model.complete("b")
    with pytest.raises(ModelError, match="no reply left"):
        model.complete("c")
    assert model.calls == [Complete("a", "s", 9), Complete("b"), Complete("c")]


def test_a_script_may_be_one_text_or_a_function():
    assert [Scripted("same").complete(prompt) for prompt in "ab"] == ["same", "same"]
    assert Scripted(str.upper).complete("a") == "A"
    assert open_model("scripted:hello: you").complete("a") == "hello: you"


def test_a_scripted_embedder_remembers_its_batches():
    embedder = ScriptedEmbedder(lambda text: [float(len(text))])
    assert embedder.embed(["a", "bb"]) == [[1.0], [2.0]]
    assert embedder.calls == [("a", "bb")]


# the model that is none

NOTES = """Some words about the format, which nobody wants to see again in a summary.

| The port of the service is 8443, and it answers in 12 ms.
| Well, well. Hello there!
| The build failed with error E4021 in /srv/app/main.py because the key had expired.
| They decided to restart the service at noon.
"""


def test_an_extract_is_whole_sentences_of_the_material_in_their_order():
    said = open_model("extractive").complete(NOTES, max_tokens=45)
    lines = said.splitlines()
    assert lines == sorted(lines, key=NOTES.index)
    assert all(f"| {line}" in NOTES for line in lines)
    assert "E4021 in /srv/app/main.py" in said


@pytest.mark.parametrize("tokens", [1, 10, 30, 60])
def test_an_extract_stays_within_its_tokens(tokens):
    assert len(open_model("extractive").complete(NOTES, max_tokens=tokens)) <= 3 * tokens


def test_an_extract_is_the_same_every_time_and_of_nothing_it_is_nothing():
    model = open_model("extractive")
    assert model.complete(NOTES) == model.complete(NOTES)
    assert model.complete("") == ""


def test_messages_without_a_full_stop_stay_apart_and_endless_ones_are_cut_between_words():
    prompt = (
        "Message 1, user:\n| look at the port of the first service\n\nMessage 2, user:\n| "
        + "and then more " * 99
    )
    first, second = open_model("extractive").complete(prompt).splitlines()
    assert first == "look at the port of the first service"
    assert second.startswith("and then more and")
    assert second.endswith(" …")
    assert len(second) <= 302


# prices


@pytest.mark.parametrize(
    ("name", "cost"),
    [
        ("gpt-4o-mini-2024-07-18", 0.75),
        ("gpt-4o", 12.5),
        ("gpt-5", 11.25),
        ("openai/gpt-5-mini", 2.25),
        ("claude-sonnet-4-5-20250929", 18.0),
        ("claude-3-5-haiku-latest", 4.8),
        ("gemini-2.5-flash", 2.8),
        ("extractive", 0.0),
        ("gpt-5.9-unheard-of", None),
        ("somebodys-own", None),
    ],
)
def test_a_million_tokens_in_and_out_cost_what_the_list_says(name, cost):
    price = price_of(object(), name)
    assert (None if price is None else price.of(1_000_000, 1_000_000)) == (
        None if cost is None else pytest.approx(cost)
    )
