import re

import pytest

import holdfast
from holdfast import ConfigError
from holdfast.compressors.pipeline import Named
from holdfast.compressors.prune import Prune
from holdfast.compressors.trim import Trim
from holdfast.compressors.window import SlidingWindow
from holdfast.profiles import Profile, load_profile, profile_names, read_profile
from tests.talks import agent_run

TOML = """
name = "mine"
description = "For the tests."
prefers = ["task"]
step = 0.1

[[steps]]
strategy = "prune"
protect_tokens = 0.3
keep_tools = ["read_*"]

[[steps]]
strategy = "trim"
"""


def refusal(text):
    with pytest.raises(ConfigError) as caught:
        read_profile(text, place="mine.toml")
    assert "\n" not in str(caught.value)
    assert caught.value.place.startswith("mine.toml")
    return re.sub("^mine.toml: ?", "", str(caught.value))


def test_a_profile_is_a_name_a_description_preferences_a_step_and_strategies():
    assert read_profile(TOML) == Profile(
        name="mine",
        description="For the tests.",
        prefers=("task",),
        step=0.1,
        steps=(Prune(protect_tokens=0.3, keep_tools=("read_*",)), Trim()),
    )


def test_only_the_name_is_needed():
    assert read_profile('name = "empty"') == Profile("empty")


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_that_comes_along_can_be_read_says_what_it_is_and_ends_with_trim(name):
    profile = load_profile(name)
    assert profile.name == name
    assert profile.description.endswith(".")
    last = profile.steps[-1]
    assert isinstance(last.strategy if isinstance(last, Named) else last, Trim)
    result = holdfast.compress(agent_run(9), 300, profile=name)
    assert (result.budget_met, result.strategy_name) == (True, name)


def test_fast_and_balanced_are_there():
    assert {"fast", "balanced"} <= set(profile_names())


def test_an_unknown_profile_names_the_known_ones():
    with pytest.raises(
        ConfigError,
        match=r"there is no profile named 'fst'; did you mean 'fast'\? known are auto, balanced, ",
    ):
        load_profile("fst")


@pytest.mark.parametrize(
    ("key", "refused"),
    [
        (
            "stepps = []",
            "2: stepps: there is no such key; did you mean 'steps'? known are extends, "
            "name, description",
        ),
        ("speed = 3", "2: speed: there is no such key; known are extends, name, description,"),
        ("description = 5", "2: description: 5 does not belong here; give text"),
        ('step = "much"', "2: step: 'much' does not belong here"),
        ("step = -0.1", "2: step: -0.1 does not belong here"),
        ("step = true", "2: step: True does not belong here"),
        ("step = 1.0", "2: step: 1.0 does not belong here; give a share in [0, 1)"),
        ("prefers = 5", "2: prefers: 5 does not belong here; give a list, each item 'task' or "),
        ('prefers = ["taks"]', "2: prefers: 'taks' does not belong here; give a list, each "),
        ("steps = 5", "2: steps: they are not tables; write [[steps]]"),
        (
            '[steps]\nstrategy = "trim"',
            "3: steps.strategy: there are no steps to change; name what",
        ),
        ("steps = [5]", "2: steps[0]: a step is a table with a strategy"),
        ("[[steps]]\nkeep_recent = 3", "2: steps[0]: a step is a table with a strategy"),
        ("[[steps]]\nstrategy = 5", "2: steps[0]: a step is a table with a strategy"),
        (
            '[[steps]]\nstrategy = "prun"',
            "3: steps[0].strategy: there is no strategy named 'prun'; did you mean 'prune'?",
        ),
        (
            '[[steps]]\nstrategy = "trim"\nkeep = 3',
            "4: steps[0].keep: there is no such key; known are keep_recent,",
        ),
        (
            '[[steps]]\nstrategy = "prune"\nprotekt_tokens = 3',
            "4: steps[0].protekt_tokens: there is no such key; did you mean 'protect_tokens'?",
        ),
        ('[[steps]]\nstrategy = "trim"\nname = "x"', "4: steps[0].name: there is no such key"),
        (
            '[[steps]]\nstrategy = "trim"\n[[steps]]\nstrategy = "prune"\nprotect_tokens = "much"',
            "6: steps[1].protect_tokens: 'much' does not belong here",
        ),
        (
            '[[steps]]\nstrategy = "prune"\ntools = "read_*"',
            "4: steps[0].tools: 'read_*' does not belong here; give a list",
        ),
        (
            '[[steps]]\nstrategy = "sliding_window"\nwindow_size = 3\nkeep_turns = 1',
            "2: steps[0]: sliding_window: only one measure can set the window",
        ),
        (
            '[[steps]]\nstrategy = "tunacode"\nx = 1',
            "4: steps[0].x: there is no such key; nothing can be set here",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(key, refused):
    assert refusal(f'name = "mine"\n{key}').startswith(refused)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("", "it has no name; add name = "),
        ('name = ""', "it has no name; add name = "),
        ("name = 5", "1: name: 5 does not belong here; give text"),
        ("= 5", "this is not TOML"),
        ("\x00", "this is not TOML"),
    ],
)
def test_what_is_no_profile_is_refused(text, refused):
    assert refusal(text).startswith(refused)


def test_a_profile_can_be_a_file_of_the_callers_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\n[[steps]]\nstrategy = "sliding_window"\nwindow_size = 3\n')
    result = holdfast.compress(agent_run(6), 300, profile=str(path), counter="words")
    assert result.strategy == {**result.strategy, "strategy": "mine"}
    assert load_profile(str(path)).steps == (SlidingWindow(window_size=3),)
    assert len(result.messages) == 4


def test_a_file_that_was_changed_is_read_anew(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "first"')
    assert load_profile(str(path)).name == "first"
    path.write_text('name = "second"')
    assert load_profile(str(path)).name == "second"
    assert load_profile("fast") is load_profile("fast")


@pytest.mark.parametrize(
    ("content", "said"), [(None, "No such file or directory"), (b"\xff\xfe", "it is not UTF-8")]
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, content, said):
    path = tmp_path / "gone.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(
        ConfigError, match=rf"gone.toml: it cannot be read \({said}\); name a TOML or YAML file"
    ):
        load_profile(str(path))


def test_what_a_profile_prefers_stays_while_it_fits():
    messages = agent_run(9)
    by_profile = holdfast.compress(messages, 300, profile="fast", counter="words")
    by_strategy = holdfast.compress(
        messages, 300, strategy=["prune", "sliding_window", "trim"], counter="words"
    )
    assert messages[1] in by_profile.messages
    assert holdfast.compress(messages, 300, profile="balanced", counter="words").budget_met
    assert by_strategy.budget_met


def test_the_step_of_a_profile_is_used_unless_the_budget_has_its_own(tmp_path):
    path = tmp_path / "stepped.toml"
    path.write_text('name = "stepped"\nstep = 0.2\n[[steps]]\nstrategy = "trim"\n')
    messages = agent_run(9)
    assert holdfast.compress(messages, 300, profile=str(path)).strategy["step"] == 0.2
    assert holdfast.compress(messages, 300, profile=str(path), step=0.1).strategy["step"] == 0.1


def test_a_step_goes_by_the_name_that_the_profile_gives_it():
    profile = read_profile('name = "mine"\n[[steps]]\nstrategy = "trim"\nas = "FinalTokenTrim"\n')
    result = holdfast.compress(agent_run(9), 300, strategy=list(profile.steps))
    assert [step.name for step in result.steps] == ["FinalTokenTrim"]
    assert profile.steps[0].describe()["as"] == "FinalTokenTrim"
    assert refusal('name = "mine"\n[[steps]]\nstrategy = "trim"\nas = 3\n').startswith(
        "4: steps[0].as: 3 does not belong here; give text"
    )


def test_headroom_is_a_share():
    assert refusal('name = "mine"\nheadroom = 1.5\n').startswith(
        "2: headroom: 1.5 does not belong here"
    )
