"""The five strategies of the context compression design, each by its name through the one door."""

import asyncio
import json

import pytest

import holdfast
from holdfast.compressors.dedupe import Semantic
from holdfast.compressors.pipeline import Pipeline
from holdfast.compressors.rank import Hierarchical
from holdfast.compressors.summarize import Summarize
from holdfast.compressors.window import SlidingWindow
from holdfast.options import strategy_of
from holdfast.profiles import read_step
from holdfast.providers.scripted import Scripted
from tests.talks import agent_run, chat, system

FIVE = {
    "sliding_window": SlidingWindow(window_size=7),
    "summarizing": Summarize(keep_recent=4),
    "semantic": Semantic(similarity_threshold=0.7, keep_recent=3),
    "hierarchical": Hierarchical(keep_recent=3),
    "hybrid": Pipeline((Semantic(), SlidingWindow(keep_turns=2))),
}
NAMES = pytest.mark.parametrize("name", FIVE)


def talk():
    """Turns that repeat one another, and runs of tools: something for every strategy."""
    return [system("Be careful."), *chat(6, 40), *chat(6, 40), *agent_run(4, 100)[1:], *chat(3, 40)]


def fitted(strategy, budget=500):
    model = Scripted("## Goal\nThey spoke.")
    return holdfast.compress(
        talk(), budget, strategy=strategy, counter="words", llm=model, embedder="lexical"
    )


@NAMES
def test_each_goes_by_its_name_changes_something_and_with_a_trim_behind_it_meets_the_budget(name):
    strategy = name if name != "hybrid" else FIVE[name]
    result = fitted([strategy, "trim"])
    assert result.budget_met
    ran = {step.name for step in result.steps if step.applied}
    assert ran & ({name} if name != "hybrid" else {"semantic", "sliding_window"})
    assert holdfast.restore(result) == talk()
    assert holdfast.validate(result.messages, provider="openai") == []


@NAMES
def test_its_description_survives_json_and_makes_the_same_strategy_again(name):
    result = holdfast.CompressionResult.from_json(fitted(FIVE[name]).to_json())
    assert result.strategy_name == name
    assert json.loads(json.dumps(result.strategy)) == dict(result.strategy)
    told = result.strategy
    assert told["strategy"] == name
    if name != "hybrid":
        assert read_step(told, "here") == FIVE[name]
    else:
        assert tuple(read_step(each, "here") for each in told["strategies"]) == FIVE[name].steps


@pytest.mark.parametrize(
    ("name", "knobs"),
    [
        ("sliding_window", {"window_size": 7}),
        ("summarizing", {}),
        ("semantic", {"similarity_threshold": 0.7, "keep_recent": 3}),
        ("hierarchical", {"keep_recent": 3}),
    ],
)
def test_the_description_has_the_knobs_of_the_design(name, knobs):
    assert fitted(FIVE[name]).strategy.items() >= {"strategy": name, **knobs}.items()


def test_a_hybrid_names_its_strategies_in_order():
    told = fitted(FIVE["hybrid"]).strategy
    assert [each["strategy"] for each in told["strategies"]] == ["semantic", "sliding_window"]


def test_all_five_in_a_row_stop_when_the_budget_is_met():
    every = ["semantic", "summarizing", "hierarchical", FIVE["hybrid"], "sliding_window"]
    result = fitted(every, 450)
    assert result.budget_met
    assert result.strategy_name == "hybrid"
    reasons = [step.reason for step in result.steps]
    first = reasons.index("target_met")
    assert set(reasons[first:]) == {"target_met"}


@NAMES
def test_every_door_gives_the_same(name):
    options = {"strategy": [FIVE[name], "trim"], "counter": "words", "embedder": "lexical"}

    def model():
        return Scripted("## Goal\nThey spoke.")

    plain = holdfast.compress(talk(), 500, llm=model(), **options).messages
    awaited = asyncio.run(holdfast.acompress(talk(), 500, llm=model(), **options)).messages
    assert (
        holdfast.ContextCompressor(llm=model(), **options).compress(talk(), 500) == plain == awaited
    )


def test_the_names_are_those_of_the_classes():
    for name, strategy in FIVE.items():
        made = strategy_of(name)
        assert (made.name, type(made)) == (name, type(strategy))
