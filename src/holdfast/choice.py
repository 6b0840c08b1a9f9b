"""Which strategy a call runs, with which settings, and whether costs decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from holdfast.compressors import COMPRESSORS
from holdfast.compressors.knobs import is_strategy
from holdfast.compressors.pipeline import Pipeline
from holdfast.cost import Costs
from holdfast.kernel.budget import Budget
from holdfast.kernel.compressor import Compressor
from holdfast.kernel.errors import ConfigError
from holdfast.options import Options
from holdfast.profiles import Profile, has_profile, load_profile, preset_names, read_step


def chosen(options: Options) -> tuple[Compressor, Profile]:
    """The strategy, and the profile whose other settings hold.

    ``strategy`` may name a profile. A strategy with the name of a design's profile counts tokens as
    that design does. ``redact`` of the caller overrides the profile.
    """
    strategy, redact = options.get("strategy"), options.get("redact")
    settings = Profile("", prefers=("newest_user",), redact=bool(redact))
    if strategy is None or (isinstance(strategy, str) and has_profile(strategy)):
        profile = load_profile(strategy or options.get("profile", "balanced"))
        if strategy is None or strategy not in COMPRESSORS:
            profile = profile if redact is None else replace(profile, redact=redact)
            alone = options.get("on_failure") == "fit" and profile.name in preset_names()
            return Pipeline(profile.steps, profile.name, _rescue() if alone else None), profile
        settings = replace(settings, counter=profile.counter)
    if isinstance(strategy, str | bytes) or not isinstance(strategy, Sequence):
        only = strategy_of(strategy)
        pipeline = only if isinstance(only, Pipeline) else Pipeline((only,), only.name)
    else:
        pipeline = Pipeline(tuple(strategy_of(each) for each in strategy))
    if options.get("on_failure") == "fit":
        pipeline = replace(pipeline, rescue=_rescue())
    return pipeline, settings


def _rescue() -> Compressor:
    """What meets the budget after a failure of strategies that need not meet it."""
    return read_step({"strategy": "trim", "clamp_users_last": True}, "on_failure")


def with_settings(budget: Budget, profile: Profile) -> Budget:
    """The budget, with the profile's headroom and trigger where it states none."""
    if profile.headroom and not budget.headroom:
        budget = replace(budget, headroom=profile.headroom)
    if budget.trigger is None and profile.trigger != 1.0:
        budget = replace(budget, trigger=profile.trigger)
    return budget


def strategy_of(strategy: str | Compressor) -> Compressor:
    """The strategy of a name, or the object. Raises ConfigError for one that cannot plan."""
    found: object = COMPRESSORS.load(strategy) if isinstance(strategy, str) else strategy
    if callable(found) and (isinstance(found, type) or not hasattr(found, "plan")):
        try:
            found = found()
        except TypeError as fault:
            advice = "give an object of it, with what it needs"
            raise ConfigError(
                f"it cannot be made from nothing ({fault})", place="strategy", advice=advice
            ) from fault
    if not is_strategy(found):
        advice = (
            "give a name, an object with name and plan(transcript, allowance), or a list of them"
        )
        raise ConfigError(f"{_shown(found)} is not a strategy", place="strategy", advice=advice)
    return cast("Compressor", found)


def _shown(given: object) -> str:
    """The value for an error message; only its type, if it inherits ``repr`` from object."""
    return (
        f"a {type(given).__name__}" if type(given).__repr__ is object.__repr__ else f"{given!r:.60}"
    )


def costs_of(options: Options, profile: Profile, model: str | None) -> Costs | None:
    """The costs that decide whether to compress, with their price; None if costs do not decide.

    Raises ConfigError if the caller asked for costs and the price is not known.
    """
    asked = options.get("costs")
    known = (asked or Costs()).known(model) if asked or profile.by_cost else None
    if asked and known is None:
        problem = f"the price of {model!r} is not known" if model else "there is no price"
        advice = "give Costs(price=Price(...)), or a model of `holdfast prices`"
        raise ConfigError(problem, place="costs", advice=advice)
    return known
