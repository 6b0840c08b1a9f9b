"""What is settled before a strategy is asked: whose messages, how many tokens, which strategy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from holdfast.calls.lineup import CallLimits, Lineup
from holdfast.compressors import COMPRESSORS
from holdfast.compressors.pipeline import Pipeline
from holdfast.compressors.stepwise import Stepwise
from holdfast.conversation import Conversation
from holdfast.formats import read
from holdfast.kernel.budget import Allowance, Budget, Meter, tokens_of
from holdfast.kernel.compressor import Attempt, Compressor
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.transcript import Format, Preference, Transcript
from holdfast.metering import Counter, meter_for
from holdfast.profiles import load_profile
from holdfast.providers import EmbedderSpec, ModelSpec
from holdfast.redacting import Redaction, redacted
from holdfast.result import bare
from holdfast.runtime import Runtime
from holdfast.stores.answers import opened
from holdfast.tokens import window_of

if TYPE_CHECKING:
    from holdfast.calls.cache import CompressionCache

RECALL_TOOL = "recall"
"""The name of the tool by which a model gets an original back."""

Pin = Collection[int] | Callable[[Any], bool] | None
Strategy = str | Compressor | Sequence[str | Compressor] | None
OnFailure = Literal["degrade", "raise"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a compression, as ``compress`` takes them."""

    model: str | None = None
    format: str | None = None
    profile: str = "balanced"
    strategy: Strategy = None
    query: str | None = None
    tools: object = None
    pin: Pin = None
    step: float | None = None
    store: str | KeyValueStore | None = None
    counter: Counter = None
    on_failure: OnFailure = "degrade"
    redact: bool | None = None
    llm: ModelSpec | None = None
    embedder: EmbedderSpec | None = None
    cache: CompressionCache | None = None
    thread: str | None = None
    limits: CallLimits | None = None
    logged: bool = False
    """Whether the caller keeps every message: then no history is kept a second time."""

    def __post_init__(self) -> None:
        for name in ("model", "format", "profile", "query", "thread"):
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name == "profile"):
                raise ConfigError(f"{value!r} is not text", place=name, advice=f"give a {name} as text")
        if self.on_failure not in ("degrade", "raise"):
            advice = 'give "degrade" or "raise"'
            raise ConfigError(f"{self.on_failure!r} is not a choice", place="on_failure", advice=advice)
        if self.redact not in (True, False, None):
            raise ConfigError(f"{self.redact!r} is not a choice", place="redact", advice="give True or False")
        if self.cache is not None and not hasattr(self.cache, "statistics"):
            raise ConfigError(f"{self.cache!r:.40} is no cache", place="cache", advice="give a CompressionCache")
        if not isinstance(cast("object", self.limits), CallLimits | None):
            raise ConfigError(f"{self.limits!r:.40} are no limits", place="limits", advice="give CallLimits(...)")


class Options(TypedDict, total=False):
    """The fields of ``Settings`` that callers set, for who passes them on."""

    model: str | None
    format: str | None
    profile: str
    strategy: Strategy
    query: str | None
    tools: object
    pin: Pin
    step: float | None
    store: str | KeyValueStore | None
    counter: Counter
    on_failure: OnFailure
    redact: bool | None
    llm: ModelSpec | None
    embedder: EmbedderSpec | None
    cache: CompressionCache | None
    thread: str | None
    limits: CallLimits | None


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that is settled before a strategy is asked."""

    payload: Any
    format: Format
    transcript: Transcript
    tokens: int
    trigger: int
    allowance: Allowance
    compressor: Compressor
    runtime: Runtime
    hard: bool
    raises: bool
    conversation: Conversation | None = None
    """What the payload stood in, if it stood in one."""
    redaction: Redaction | None = None
    """The transcript without its secrets, where they are to be masked and something is to be done."""

    @property
    def attempt(self) -> Attempt:
        """The request for a plan."""
        return Attempt(self.compressor, self.start, self.allowance)

    @property
    def start(self) -> Transcript:
        """What the strategies work on."""
        return self.redaction.transcript if self.redaction else self.transcript

    @property
    def fits(self) -> bool:
        """Whether there is nothing to do."""
        return self.tokens <= self.trigger


def prepare(messages: Any, budget: Budget | int, settings: Settings) -> Job:
    """Read, count and choose. Raises InputError where a person's input is wrong."""
    stated = Budget.of(budget)
    if settings.step is not None:
        stated = replace(stated, step=settings.step)
    meter = meter_for(settings.model, settings.counter)
    choice = chosen(settings)
    allowed, trigger, target = _spend(choice.shared(stated), settings.model)
    conversation = messages if isinstance(messages, Conversation) else None
    payload, form, transcript = read(bare(messages), settings.format, settings.tools)
    transcript = replace(transcript, pinned=_pinned(transcript, settings.pin), prefers=choice.prefers)
    tokens = meter.total(transcript)
    lineup = _lineup(settings, meter, opens=tokens > trigger)
    store = None if settings.store is None else opened(settings.store)
    return Job(
        payload=payload,
        format=form,
        transcript=transcript,
        tokens=tokens,
        trigger=trigger,
        allowance=Allowance(
            allowed,
            target,
            allowed,
            meter,
            settings.query,
            settings.store is not None,
            _recall_tool(transcript),
            settings.thread or (conversation.thread_id if conversation else ""),
            lineup.writer,
            lineup.writer_window,
            choice.redact,
        ),
        compressor=choice.stepped(stated.step or choice.step if settings.step is None else settings.step),
        runtime=Runtime(lineup, store, choice.redact, settings.logged),
        hard=stated.hard,
        raises=settings.on_failure == "raise",
        conversation=conversation,
        redaction=redacted(transcript) if choice.redact and tokens > trigger else None,
    )


def _recall_tool(transcript: Transcript) -> str:
    """The name of the tool by which the model gets originals back, if its tools hold one."""
    named = f'"name":"{RECALL_TOOL}"'
    return RECALL_TOOL if any(named in part.text for part in transcript.envelope) else ""


def _lineup(settings: Settings, meter: Meter, *, opens: bool) -> Lineup:
    """Who completes and embeds; a vendor's package is loaded only where something is to be done."""
    cache, limits = settings.cache, settings.limits
    return Lineup.of(meter.text, settings.llm, settings.embedder, cache=cache, limits=limits, opens=opens)


def _spend(budget: Budget, model: str | None) -> tuple[int, int, int]:
    """What the conversation may take, what starts a compression, and what one aims at; all in tokens."""
    window = window_of(model)
    if model and window is None and budget.limit is None and budget.window is None:
        advice = "check the name, or give limit= or window="
        raise ConfigError(f"the window of {model!r} is not known", place="model", advice=advice)
    allowed = budget.tokens(window)
    trigger = min(allowed, allowed if budget.trigger is None else tokens_of(budget.trigger, allowed))
    return allowed, trigger, min(trigger, trigger if budget.target is None else tokens_of(budget.target, allowed))


@dataclass(frozen=True, slots=True)
class Choice:
    """The strategy, what is preferred to stay, the step, the headroom, and whether secrets are masked."""

    compressor: Compressor
    prefers: tuple[Preference, ...] = ("newest_user",)
    step: float = 0.0
    headroom: float = 0.0
    redact: bool = False

    def stepped(self, step: float) -> Compressor:
        """The strategy, in steps of this size if there is one."""
        return Stepwise(self.compressor, step) if step else self.compressor

    def shared(self, budget: Budget) -> Budget:
        """The budget with the profile's own headroom, if it states none."""
        return replace(budget, headroom=self.headroom) if self.headroom and not budget.headroom else budget


def chosen(settings: Settings) -> Choice:
    """What the profile says, or the strategies that stand in its place; ``redact`` is the caller's, if given."""
    if settings.strategy is None:
        profile = load_profile(settings.profile)
        redact = profile.redact if settings.redact is None else settings.redact
        pipeline = Pipeline(profile.steps, profile.name)
        return Choice(pipeline, profile.prefers, profile.step, profile.headroom, redact)
    if isinstance(settings.strategy, str | bytes) or not isinstance(settings.strategy, Sequence):
        only = strategy_of(settings.strategy)
        pipeline = only if isinstance(only, Pipeline) else Pipeline((only,), only.name)
    else:
        pipeline = Pipeline(tuple(strategy_of(each) for each in settings.strategy))
    return Choice(pipeline, redact=bool(settings.redact))


def strategy_of(strategy: str | Compressor) -> Compressor:
    """A strategy by name, or the object itself. Raises ConfigError for what cannot plan."""
    found: object = COMPRESSORS.load(strategy) if isinstance(strategy, str) else strategy
    if callable(found) and (isinstance(found, type) or not hasattr(found, "plan")):
        try:
            found = found()
        except TypeError as fault:
            advice = "give an object of it, with what it needs"
            raise ConfigError(
                f"it cannot be made from nothing ({fault})", place="strategy", advice=advice
            ) from fault
    if not callable(getattr(found, "plan", None)) or not isinstance(getattr(found, "name", None), str):
        advice = "give a name, an object with name and plan(transcript, allowance), or a list of them"
        raise ConfigError(f"{_shown(found)} is no strategy", place="strategy", advice=advice)
    return cast("Compressor", found)


def _shown(given: object) -> str:
    """A value as it was written; of an object that does not show itself, what it is."""
    return f"a {type(given).__name__}" if type(given).__repr__ is object.__repr__ else f"{given!r:.60}"


def _pinned(transcript: Transcript, pin: Pin) -> frozenset[int]:
    """The positions that a caller pins: given as indices (negative from the end) or by a predicate."""
    if pin is None:
        return transcript.pinned
    if callable(pin):
        return transcript.pinned.union(i for i, m in enumerate(transcript.messages) if pin(m.original))
    length, positions = len(transcript), _listed(pin)
    for i in positions:
        if not -length <= i < length:
            advice = f"there {'is 1 message' if length == 1 else f'are {length} messages'}, counted from 0"
            raise ConfigError(f"there is no message {i}", place="pin", advice=advice)
    return transcript.pinned.union(i % length for i in positions)


def _listed(pin: object) -> list[int]:
    """The positions that were given. Raises ConfigError for anything else."""
    positions = list(cast("Iterable[object]", pin)) if isinstance(pin, Iterable) else [None]
    if not all(isinstance(i, int) and not isinstance(i, bool) for i in positions):
        advice = "give a list of positions, or a function that says of a message whether it stays"
        raise ConfigError(f"{pin!r} are no positions", place="pin", advice=advice)
    return cast("list[int]", positions)
