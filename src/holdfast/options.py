"""The options of a compression: declared here once, for every way of asking for one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from inspect import Parameter, signature
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast

from holdfast.calls.lineup import CallLimits
from holdfast.cost import Costs
from holdfast.kernel.compressor import Compressor
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.transcript import Format
from holdfast.meter import Counter
from holdfast.names import ProfileName, ProviderName, StrategyName
from holdfast.profiles import Profile
from holdfast.providers import EmbedderSpec, ModelSpec

if TYPE_CHECKING:
    from holdfast.calls.cache import CompressionCache

Pin = Collection[int] | Callable[[Any], bool] | None
Strategy = StrategyName | Compressor | Sequence[StrategyName | Compressor] | None
Provider = ProviderName | Format | None
"""Whose messages these are: a name, or the object that reads and writes them."""

OnFailure = Literal["degrade", "fit", "raise"]

F = TypeVar("F", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """What callers may say beside the messages and the budget."""

    model: str | None
    """Whose vocabulary tokens are counted with; its window is the budget where none is stated.
    By default the model that a request body names."""

    format: Provider
    """The wire of the messages, where it cannot be seen."""

    profile: ProfileName | PathLike[str] | Profile
    """A named pipeline, the path of a TOML or YAML file, or one that ``load_config`` made."""

    strategy: Strategy
    """A name, an object, or a list of them, in the place of the profile."""

    query: str | None
    """The question in view; by default the newest user message."""

    tools: object
    """Schemas that are sent along, and counted."""

    pin: Pin
    """Positions, or a predicate over messages: what never leaves."""

    step: float | None
    """Share of the budget by which the view lets go at once, so that prompt caches hold."""

    store: str | KeyValueStore | None
    """A URL or an object: keeps what is cut out of a text."""

    counter: Counter
    """Counts tokens in the place of the model's vocabulary: a preset, an object or a callable."""

    on_failure: OnFailure
    """Whether a failing strategy leaves its place to the next one, or raises StrategyError.

    ``fit``: as the first, and where strategies that the caller named fail, a trim meets the budget.
    """

    redact: bool | None
    """Whether secrets are masked; by default the profile decides."""

    llm: ModelSpec | None
    """Who completes: ``vendor:name``, an object or a function."""

    embedder: EmbedderSpec | None
    """Who embeds; by default vectors that need no network."""

    cache: CompressionCache | None
    """Asked before either."""

    thread: str | None
    """The id under which summaries are kept in the store; by default that of a Conversation."""

    limits: CallLimits | None
    """How far calls of models and embedders may go."""

    costs: Costs | None
    """Let what it costs decide whether to compact between trigger and limit."""

    secret: str | None
    """By which what was written here before is known again; by default the store's own."""


USUAL_PROFILE: ProfileName = "balanced"
_DEFAULTS: Options = {"profile": USUAL_PROFILE, "on_failure": "degrade"}
"""Of what is not None by default."""


_TEXTS: Mapping[str, tuple[type, ...]] = {
    "model": (str,),
    "format": (str, Format),
    "profile": (str, PathLike, Profile),
    "query": (str,),
    "thread": (str,),
    "secret": (str,),
}
"""Options that are text, and what else each may be."""


def lists_options(function: F) -> F:
    """Let the signature of a function with ``**options`` name each, for help and tools."""
    own = signature(function)
    named = [each for each in own.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name), annotation=hint)
        for name, hint in Options.__annotations__.items()
    ]
    cast("Any", function).__signature__ = own.replace(parameters=[*named, *options])
    return function


def check(options: Options) -> None:
    """Raise TypeError for an unknown option, ConfigError for a wrong value."""
    for name in options:
        if name not in Options.__annotations__:
            raise TypeError(
                f"there is no option {name!r}; known are {', '.join(Options.__annotations__)}"
            )
    for name, kinds in _TEXTS.items():
        value: object = options.get(name, _DEFAULTS.get(name))
        if not isinstance(value, kinds) and (value is not None or name in _DEFAULTS):
            raise ConfigError(f"{value!r} is not text", place=name, advice=f"give a {name} as text")
    choices = {"on_failure": ("degrade", "fit", "raise"), "redact": (True, False, None)}
    advices = {"on_failure": 'give "degrade", "fit" or "raise"', "redact": "give True or False"}
    for name, known in choices.items():
        if options.get(name, known[0]) not in known:
            raise ConfigError(
                f"{options.get(name)!r} is not a choice", place=name, advice=advices[name]
            )
    cache, limits = options.get("cache"), options.get("limits")
    if cache is not None and not hasattr(cache, "statistics"):
        raise ConfigError(
            f"{cache!r:.40} is no cache", place="cache", advice="give a CompressionCache"
        )
    if not isinstance(cast("object", limits), CallLimits | None):
        raise ConfigError(
            f"{limits!r:.40} are no limits", place="limits", advice="give CallLimits(...)"
        )
    costs = options.get("costs")
    if not isinstance(cast("object", costs), Costs | None):
        advice = "give holdfast.cost.Costs(...)"
        raise ConfigError(f"{costs!r:.40} are no costs", place="costs", advice=advice)
