"""The options of a compression, and the strategy and the settings that they choose.

They are declared once for Python, the command line and configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from inspect import Parameter, signature
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, TypeVar, cast

from holdfast.calls.lineup import CallLimits
from holdfast.compressors import COMPRESSORS
from holdfast.compressors.pipeline import Pipeline
from holdfast.kernel.budget import Meter
from holdfast.kernel.compressor import Compressor, is_strategy
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.registry import imported, nearest
from holdfast.kernel.transcript import Format
from holdfast.kernel.typed import Only, check_type
from holdfast.names import ProfileName, ProviderName, StrategyName
from holdfast.profiles import Profile, built_in, load_profile, preset_names, read_step
from holdfast.providers import EmbedderSpec, ModelSpec
from holdfast.tokens import Counter, meter_for

if TYPE_CHECKING:
    from holdfast.calls.cache import CompressionCache
    from holdfast.cost import Costs

Pin = Collection[int] | Callable[[Any], bool] | None
Strategy = StrategyName | Compressor | Sequence[StrategyName | Compressor] | None
Provider = ProviderName | Format | None
"""The format of messages: a name, or an object that reads and writes them."""

OnFailure = Literal["degrade", "fit", "raise"]

F = TypeVar("F", bound=Callable[..., Any])


class SharedOptions(TypedDict, total=False):
    """The keyword arguments that ``compress`` and ``Session`` have in common."""

    model: str | None
    """The model whose vocabulary counts tokens, and whose window is the default budget.
    Defaults to the model that a request body names."""

    format: Provider
    """The format of the messages; detected by default."""

    profile: ProfileName | PathLike[str] | Profile
    """A named pipeline, the path of a TOML or YAML file, or ``load_config(...).profile``."""

    strategy: Strategy
    """A strategy by name, an object, or a list of them, instead of a profile."""

    counter: Counter
    """Counts tokens instead of the model's vocabulary: a name, an object or a function."""

    redact: bool | None
    """Mask secrets before anything is stored, summarised or referred to, in what the model and
    its tools said, and in what users said once it leaves the view. By default, the profile
    decides."""

    llm: ModelSpec | None
    """The model that writes summaries: ``vendor:name``, an object or a function."""

    embedder: EmbedderSpec | None
    """The embedder that compares texts; by default one that needs no network."""

    cache: CompressionCache | None
    """Answers of earlier calls of the model and the embedder."""

    limits: CallLimits | None
    """Limits on the time, number, retries and cost of calls."""

    costs: Costs | None
    """Let what it costs decide whether to compact between trigger and limit."""


class Options(SharedOptions, total=False):
    """The keyword arguments of ``compress`` beside the messages and the budget."""

    query: str | None
    """The question to keep material for; defaults to the newest user message."""

    tools: object
    """Tool schemas that are sent with the messages; they are counted."""

    pin: Pin
    """Messages that are never removed: positions, or a function of a message."""

    step: float | None
    """Share of the budget that is freed at a time, so that the provider's prompt cache holds."""

    store: str | KeyValueStore | None
    """Where originals of shortened texts are kept: a URL or a store object."""

    on_failure: OnFailure
    """What happens when a strategy fails: ``degrade`` goes on with the next step, ``fit`` also
    trims to the budget at the end, ``raise`` raises StrategyError."""

    thread: str | None
    """The id under which summaries and originals are kept in the store."""

    secret: str | None
    """The secret that signs summaries and references; defaults to one kept in the store."""


USUAL_PROFILE: ProfileName = "balanced"
_DEFAULTS: Options = {"profile": USUAL_PROFILE, "on_failure": "degrade"}
"""Options whose default is not None."""


def _is_cache(given: object) -> bool:
    return hasattr(given, "statistics")


def _are_costs(given: object) -> bool:
    return isinstance(given, imported("holdfast.cost:Costs"))


_TYPES: Mapping[str, object] = {
    "model": str,
    "format": str | Format,
    "profile": str | PathLike[str] | Profile,
    "query": str,
    "on_failure": OnFailure,
    "redact": bool,
    "cache": Annotated[object, Only("a CompressionCache", _is_cache)],
    "thread": str,
    "limits": CallLimits,
    "costs": Annotated[object, Only("a Costs", _are_costs)],
    "secret": str,
}
"""The types of options that are not checked where they are used."""


def listing(declared: type, defaults: Mapping[str, object]) -> Callable[[F], F]:
    """Replace ``**options`` in a signature by each declared option, for help and tools."""

    def listed(function: F) -> F:
        own = signature(function)
        named = [each for each in own.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        options = [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=defaults.get(name),
                annotation=getattr(hint, "__forward_arg__", hint),
            )
            for name, hint in declared.__annotations__.items()
        ]
        cast("Any", function).__signature__ = own.replace(parameters=[*named, *options])
        return function

    return listed


lists_options = listing(Options, _DEFAULTS)


def check(options: Options) -> None:
    """Raise TypeError for an unknown option, ConfigError for a wrong value."""
    for name, value in options.items():
        if name not in Options.__annotations__:
            known = ("budget", *Options.__annotations__)
            raise TypeError(f"there is no option {name!r}; {nearest(name, known)}")
        if name in _TYPES and (value is not None or name in _DEFAULTS):
            check_type(value, _TYPES[name], name)
    if "profile" in options and options.get("strategy") is not None:
        raise ConfigError(
            "a profile and strategies exclude each other",
            place="profile",
            advice="give one of them",
        )


def chosen(options: Options) -> tuple[Compressor, Profile]:
    """The strategy, and the profile whose other settings hold.

    ``strategy`` may name a profile. A strategy with the name of a design's profile counts tokens as
    that design does. ``redact`` of the caller overrides the profile.
    """
    strategy, counter = options.get("strategy"), ""
    if strategy is None:
        wanted = options.get("profile", USUAL_PROFILE)
        known = built_in(wanted) if isinstance(wanted, str) else None
        return _of_profile(known or load_profile(wanted), options)
    if isinstance(strategy, str) and (design := built_in(strategy)):
        if strategy not in COMPRESSORS:
            return _of_profile(design, options)
        counter = design.counter
    if isinstance(strategy, str | bytes) or not isinstance(strategy, Sequence):
        only = strategy_of(strategy)
        pipeline = only if isinstance(only, Pipeline) else Pipeline((only,), only.name)
    else:
        pipeline = Pipeline(tuple(map(strategy_of, strategy)))
    if options.get("on_failure") == "fit":
        pipeline = replace(pipeline, rescue=_rescue())
    redacts = bool(options.get("redact"))
    return pipeline, Profile("", prefers=("newest_user",), counter=counter, redact=redacts)


def _of_profile(profile: Profile, options: Options) -> tuple[Compressor, Profile]:
    redact = options.get("redact")
    if redact is not None and redact != profile.redact:
        profile = replace(profile, redact=redact)
    fits = options.get("on_failure") == "fit" and profile.name in preset_names()
    return Pipeline(profile.steps, profile.name, _rescue() if fits else None), profile


def _rescue() -> Compressor:
    """What meets the budget after a failure of strategies that need not meet it."""
    return read_step({"strategy": "trim", "clamp_users_last": True}, "on_failure")


def strategy_of(strategy: str | Compressor) -> Compressor:
    """The strategy of a name, or the object. Raises ConfigError for one that cannot plan."""
    found: object = COMPRESSORS.load(strategy) if isinstance(strategy, str) else strategy
    if callable(found) and (isinstance(found, type) or not hasattr(found, "plan")):
        try:
            found = found()
        except TypeError as fault:
            problem = f"it cannot be made from nothing ({fault})"
            raise ConfigError(
                problem, place="strategy", advice="give an object of it, with what it needs"
            ) from fault
    if is_strategy(found):
        return found
    shown, kind = f"{found!r:.60}", type(found)
    if kind.__repr__ is object.__repr__:  # it says nothing but the type
        shown = f"a {kind.__name__}"
    advice = "give a name, an object with name and plan(transcript, allowance), or a list of them"
    raise ConfigError(f"{shown} is not a strategy", place="strategy", advice=advice)


def meter_of(options: Options, profile: Profile, model: str | None) -> Meter:
    """The meter; without a model and a counter, it counts as the profile says."""
    counter = options.get("counter")
    if counter is None and not model:
        counter = profile.counter or None
    return meter_for(model, counter)


def costs_of(options: Options, profile: Profile, model: str | None) -> Costs | None:
    """The costs that decide whether to compress, with their price; None if costs do not decide.

    Raises ConfigError if the caller asked for costs and the price is not known.
    """
    asked = options.get("costs")
    if not (asked or profile.by_cost):
        return None
    costs: Costs = asked or imported("holdfast.cost:Costs")()
    known = costs.known(model)
    if asked and known is None:
        raise ConfigError(
            f"the price of {model!r} is not known" if model else "there is no price",
            place="costs",
            advice="give Costs(price=Price(...)), or a model of `holdfast prices`",
        )
    return known
