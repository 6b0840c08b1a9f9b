from dataclasses import dataclass
from typing import Literal

import pytest

from holdfast import ConfigError
from holdfast.compressors.pipeline import Pipeline, Stepwise
from holdfast.compressors.prune import Prune
from holdfast.compressors.select import Select
from holdfast.compressors.trim import Trim
from holdfast.compressors.window import SlidingWindow
from holdfast.kernel.budget import Share
from holdfast.kernel.typed import check_fields
from tests.talks import drops

SHARE = "give a number of tokens or a share in [0, 1]"
NUMBER = "give a whole number of 0 or more"
STRATEGY = "a strategy, which has a name and a method plan(transcript, allowance)"


@pytest.mark.parametrize(
    ("made", "place", "advice"),
    [
        (lambda: Prune(protect_tokens="much"), "Prune.protect_tokens", SHARE),
        (lambda: Prune(protect_tokens=-1), "Prune.protect_tokens", SHARE),
        (lambda: Prune(protect_tokens=1.5), "Prune.protect_tokens", SHARE),
        (lambda: Prune(minimum_tokens=float("nan")), "Prune.minimum_tokens", SHARE),
        (lambda: Prune(minimum_tokens=True), "Prune.minimum_tokens", SHARE),
        (lambda: Prune(min_user_turns=1.5), "Prune.min_user_turns", NUMBER),
        (lambda: Prune(placeholder=None), "Prune.placeholder", "give text"),
        (lambda: Prune(contextual="yes"), "Prune.contextual", "give true or false"),
        (lambda: Prune(tools="read_*"), "Prune.tools", "give a list, each item text"),
        (lambda: Prune(keep_tools=(5,)), "Prune.keep_tools", "give a list, each item text"),
        (lambda: Prune(by="half"), "Prune.by", "give 'part' or 'message'"),
        (lambda: Trim(keep_recent=-1), "Trim.keep_recent", NUMBER),
        (lambda: Trim(keep_recent=True), "Trim.keep_recent", NUMBER),
        (lambda: Trim(threshold=2.0), "Trim.threshold", SHARE),
        (lambda: SlidingWindow(window_size="ten"), "SlidingWindow.window_size", NUMBER),
        (lambda: SlidingWindow(keep_tokens=-0.5), "SlidingWindow.keep_tokens", SHARE),
        (lambda: Stepwise("trim"), "Stepwise.strategy", f"give {STRATEGY}"),
        (lambda: Stepwise(Trim(), "small"), "Stepwise.step", "give a share in [0, 1]"),
        (lambda: Stepwise(Trim(), 1.5), "Stepwise.step", "give a share in [0, 1]"),
        (lambda: Select(told=1.5), "Select.told", "give a share in [0, 1]"),
        (lambda: Pipeline(("trim",)), "Pipeline.steps", f"give a list, each item {STRATEGY}"),
        (lambda: Pipeline((Trim,)), "Pipeline.steps", f"give a list, each item {STRATEGY}"),
        (lambda: Pipeline((), 5), "Pipeline.name", "give text"),
    ],
)
def test_a_wrong_knob_is_named_with_what_it_takes(made, place, advice):
    with pytest.raises(ConfigError) as caught:
        made()
    assert (caught.value.place, caught.value.advice) == (place, advice)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Prune(protect_tokens=0, minimum_tokens=0.0, tools=["read_*"], by="message"),
        lambda: Prune(protect_tokens=1.0, keep_tools=()),
        lambda: Trim(threshold=None, keep_recent=10**9),
        lambda: SlidingWindow(keep_tokens=40_000),
        lambda: Stepwise(drops(1), 0),
        lambda: Select(recent=0, told=1),
        lambda: Pipeline([Trim(), drops(1)]),
    ],
)
def test_what_a_knob_takes_it_takes(make):
    assert make()


def test_a_strategy_of_the_caller_can_check_its_knobs_alike():
    @dataclass(frozen=True)
    class Sift:
        mesh: Share | None = None
        mode: Literal["wet", "dry"] = "dry"

        def __post_init__(self):
            check_fields(self)

    Sift.__annotations__.update(mesh=Share | None, mode=Literal["wet", "dry"])
    assert Sift(3).mesh == 3
    with pytest.raises(
        ConfigError, match=r"Sift.mode: 'moist' does not belong here; give 'wet' or 'dry'"
    ):
        Sift(mode="moist")
