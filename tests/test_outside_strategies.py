"""A strategy from outside the package: as an object, a class, a function that makes one, and by
entry point.
"""

import pytest

import holdfast
from holdfast.compressors import COMPRESSORS
from holdfast.compressors.pipeline import Pipeline
from holdfast.compressors.trim import Trim
from holdfast.kernel.compressor import Plan
from holdfast.profiles import read_profile
from tests.talks import Somebody, agent_run, drops, same

PACKAGE = '''
from dataclasses import dataclass

from holdfast.kernel.compressor import Plan
from holdfast.kernel.edits import Drop


@dataclass(frozen=True)
class Thin:
    """Every second exchange goes."""

    first: int = 2

    name = "thin"

    def plan(self, transcript, allowance):
        free = [unit for unit in transcript.units if transcript.protected.isdisjoint(unit)]
        going = tuple(i for unit in free[self.first :: 2] for i in unit)
        return Plan((Drop(going, "every second"),))
'''


@pytest.fixture
def thin(tmp_path, monkeypatch):
    """An installed distribution that brings the strategy ``thin``."""
    (tmp_path / "thinning.py").write_text(PACKAGE)
    info = tmp_path / "thinning-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thinning\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[holdfast.compressors]\nthin = thinning:Thin\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "thin"
    import sys

    sys.modules.pop("thinning", None)


class Second:
    """A class of the caller that can be made from nothing."""

    name = "second"

    def plan(self, transcript, allowance):
        return drops(2, 3).plan(transcript, allowance)


def second():
    return Second()


FORMS = {"object": Second(), "class": Second, "function": second, "double": drops(2, 3)}


@pytest.mark.parametrize("form", FORMS)
def test_it_runs_alone(form):
    messages = agent_run(6)
    done = holdfast.compress(messages, 550, strategy=FORMS[form], counter="words")
    assert same(done.messages, messages[:2] + messages[4:])
    assert (done.status, done.budget_met) == ("compacted", True)
    assert (
        done.strategy_name == done.steps[0].name == ("somebody" if form == "double" else "second")
    )
    assert holdfast.restore(done) == messages


@pytest.mark.parametrize("form", FORMS)
def test_it_runs_inside_of_a_list_and_of_a_pipeline(form):
    strategy = FORMS[form]
    listed = holdfast.compress(agent_run(6), 300, strategy=[strategy, "trim"], counter="words")
    assert [step.applied for step in listed.steps] == [True, True]
    assert listed.strategy_name == "hybrid"
    if form in ("object", "double"):
        inside = holdfast.compress(
            agent_run(6), 300, strategy=Pipeline((strategy, Trim())), counter="words"
        )
        assert inside.messages == listed.messages


def test_it_is_found_by_its_entry_point_and_runs_alone(thin):
    done = holdfast.compress(agent_run(6), 500, strategy=thin, counter="words")
    assert (done.strategy_name, done.strategy) == ("thin", {"strategy": "thin", "first": 2})
    assert done.status == "compacted"
    assert holdfast.restore(done) == agent_run(6)


def test_it_is_found_by_its_entry_point_and_runs_in_a_list_and_in_a_profile(thin, tmp_path):
    done = holdfast.compress(agent_run(6), 300, strategy=[thin, "trim"], counter="words")
    assert [(step.name, step.applied) for step in done.steps] == [("thin", True), ("trim", True)]
    profile = (
        'name = "thinned"\n[[steps]]\nstrategy = "thin"\nfirst = 1\n[[steps]]\nstrategy = "trim"\n'
    )
    assert read_profile(profile).steps[0].first == 1
    (tmp_path / "thinned.toml").write_text(profile)
    by_profile = holdfast.compress(
        agent_run(6), 300, profile=str(tmp_path / "thinned.toml"), counter="words"
    )
    assert by_profile.steps[0].name == "thin"


def test_its_name_is_among_the_known_ones_while_it_is_installed(thin):
    assert thin in COMPRESSORS.names()
    with pytest.raises(holdfast.ConfigError, match="did you mean 'thin'"):
        holdfast.compress(agent_run(6), 100, strategy="thinn")
    with pytest.raises(
        holdfast.ConfigError,
        match=r"profile:4: steps\[0\].last: there is no such key; known are first",
    ):
        read_profile('name = "x"\n[[steps]]\nstrategy = "thin"\nlast = 1')


def test_without_its_package_the_name_is_unknown():
    with pytest.raises(holdfast.ConfigError, match="there is no strategy named 'thin'"):
        holdfast.compress(agent_run(6), 100, strategy="thin")


def test_a_name_of_ours_a_class_and_objects_may_be_mixed():
    strategies = ["prune", Trim, Second, Somebody(Plan.skip("nothing")), "trim"]
    done = holdfast.compress(agent_run(6), 300, strategy=strategies, counter="words")
    assert done.budget_met
    assert [step.name for step in done.steps][:3] == ["prune", "trim", "second"]


@pytest.mark.parametrize("name", ["trim", "sliding_window", "prune", "window", "shrink"])
def test_one_strategy_gives_its_own_name_to_the_result(name):
    done = holdfast.compress(agent_run(6), 300, strategy=name, counter="words")
    assert (
        done.strategy_name
        == done.strategy["strategy"]
        == {"window": "sliding_window"}.get(name, name)
    )
