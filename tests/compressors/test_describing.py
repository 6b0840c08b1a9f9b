import json
from dataclasses import dataclass

import pytest

from holdfast.compressors import COMPRESSORS
from holdfast.compressors.pipeline import Pipeline, Stepwise
from holdfast.compressors.prune import Prune
from holdfast.compressors.shrink import Shrink
from holdfast.compressors.trim import Trim
from holdfast.compressors.window import SlidingWindow
from holdfast.designs import tunacode
from holdfast.kernel.compressor import Plan, described
from tests.talks import Somebody


@dataclass(frozen=True)
class Sieve:
    """A strategy from outside that does not describe itself."""

    mesh: int = 3
    names: tuple[str, ...] = ("a", "b")
    inner: object = None
    name: str = "sieve"

    def plan(self, transcript, allowance):
        return Plan()


class Told(Sieve):
    def describe(self):
        return {"strategy": "told", "how": "by itself"}


def test_a_dataclass_is_described_by_its_fields():
    assert described(Sieve()) == {
        "strategy": "sieve",
        "mesh": 3,
        "names": ["a", "b"],
        "inner": None,
        "name": "sieve",
    }


def test_a_strategy_that_describes_itself_is_believed_also_inside_of_another():
    assert described(Told()) == {"strategy": "told", "how": "by itself"}
    assert described(Sieve(inner=Told()))["inner"] == {"strategy": "told", "how": "by itself"}


def test_any_other_object_has_a_name_and_no_knobs():
    assert described(object()) == {}
    bare = type("Bare", (), {"name": "bare", "plan": lambda *_: None})()
    assert described(bare) == {"strategy": "bare"}


@pytest.mark.parametrize(
    ("strategy", "told"),
    [
        (SlidingWindow(window_size=4), {"strategy": "sliding_window", "window_size": 4}),
        (SlidingWindow(keep_tokens=0.5), {"strategy": "sliding_window", "keep_tokens": 0.5}),
        (
            tunacode(),
            {
                "strategy": "prune",
                "protect_tokens": 40_000,
                "minimum_tokens": 20_000,
                "min_user_turns": 2,
            },
        ),
        (Prune(tools=("read_*",)), {"tools": ["read_*"]}),
        (
            Trim(keep_recent=2, threshold=0.7),
            {"strategy": "trim", "keep_recent": 2, "threshold": 0.7},
        ),
        (Stepwise(Trim(), 0.25), {"strategy": "trim", "step": 0.25}),
        (Shrink(), {"strategy": "shrink"}),
        (Sieve(inner=Sieve()), {"strategy": "sieve"}),
        (Somebody(Plan()), {"strategy": "somebody"}),
    ],
)
def test_a_description_says_how_the_strategy_is_set_and_goes_through_json(strategy, told):
    description = described(strategy)
    assert description.items() >= told.items()
    assert json.loads(json.dumps(description)) == description


def test_a_pipeline_describes_its_steps_in_order():
    steps = described(Pipeline((Prune(), Stepwise(Trim()), SlidingWindow())))
    assert steps["strategy"] == "hybrid"
    assert [step["strategy"] for step in steps["strategies"]] == ["prune", "trim", "sliding_window"]
    assert json.loads(json.dumps(steps)) == steps


def test_a_pipeline_of_one_under_its_own_name_is_described_as_that_one():
    assert described(Pipeline((Trim(),), "trim")) == described(Trim())


@pytest.mark.parametrize("name", COMPRESSORS.table)
def test_every_strategy_that_can_be_named_can_be_described(name):
    description = described(COMPRESSORS.load(name)())
    presets = {"tunacode": "prune", "tunacode_history": "summarizing", "llm4s_history": "digest"}
    assert json.loads(json.dumps(description))["strategy"] == presets.get(name, name)
