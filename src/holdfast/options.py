"""The options of a compression, declared once for Python, the command line and configuration."""

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
"""The format of messages: a name, or an object that reads and writes them."""

OnFailure = Literal["degrade", "fit", "raise"]

F = TypeVar("F", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """The keyword arguments of ``compress`` beside the messages and the budget."""

    model: str | None
    """The model whose vocabulary counts tokens, and whose window is the default budget.
    Defaults to the model that a request body names."""

    format: Provider
    """The format of the messages; detected by default."""

    profile: ProfileName | PathLike[str] | Profile
    """A named pipeline, the path of a TOML or YAML file, or ``load_config(...).profile``."""

    strategy: Strategy
    """A strategy by name, an object, or a list of them, instead of a profile."""

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

    counter: Counter
    """Counts tokens instead of the model's vocabulary: a name, an object or a function."""

    on_failure: OnFailure
    """What happens when a strategy fails: ``degrade`` goes on with the next step, ``fit`` also
    trims to the budget at the end, ``raise`` raises StrategyError."""

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

    thread: str | None
    """The id under which summaries and originals are kept in the store."""

    limits: CallLimits | None
    """Limits on the time, number, retries and cost of calls."""

    costs: Costs | None
    """Let what it costs decide whether to compact between trigger and limit."""

    secret: str | None
    """The secret that signs summaries and references; defaults to one kept in the store."""


USUAL_PROFILE: ProfileName = "balanced"
_DEFAULTS: Options = {"profile": USUAL_PROFILE, "on_failure": "degrade"}
"""Options whose default is not None."""


_TEXTS: Mapping[str, tuple[type, ...]] = {
    "model": (str,),
    "format": (str, Format),
    "profile": (str, PathLike, Profile),
    "query": (str,),
    "thread": (str,),
    "secret": (str,),
}
"""The types of options that take text."""


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
            f"{cache!r:.40} is not a cache", place="cache", advice="give a CompressionCache"
        )
    if not isinstance(cast("object", limits), CallLimits | None):
        raise ConfigError(
            f"{limits!r:.40} are not limits", place="limits", advice="give CallLimits(...)"
        )
    costs = options.get("costs")
    if not isinstance(cast("object", costs), Costs | None):
        advice = "give holdfast.cost.Costs(...)"
        raise ConfigError(f"{costs!r:.40} are not costs", place="costs", advice=advice)
