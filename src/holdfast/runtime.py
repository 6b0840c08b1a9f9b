"""The one place in which an ask is answered: at once, or awaited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from holdfast.calls.lineup import Lineup
from holdfast.compressors.summaries import HISTORY, Marks
from holdfast.kernel.errors import ConfigError, ContextOverflowError, HoldfastError, StoreError
from holdfast.kernel.ports import (
    All,
    Ask,
    Complete,
    Embed,
    KeyValueStore,
    Load,
    Read,
    Save,
    Secret,
    Write,
)
from holdfast.kernel.registry import Registry
from holdfast.redact import incoming, outgoing
from holdfast.result import CallRecords, ModelUsage
from holdfast.stores.answers import Opened, Work, answered, wait_for
from holdfast.stores.secret import secret_of

if TYPE_CHECKING:
    from holdfast.stores.artifacts import AsyncArtifactStore

_PARTS = Registry(
    "part of the runtime",
    "runtime",
    {
        "caller": "holdfast.calls.caller:Caller",
        "awaited": "holdfast.calls.event_loop:asked",
        "gather": "asyncio:gather",
        "artifacts": "holdfast.stores.artifacts:AsyncArtifactStore",
    },
)
"""What calls models, waits or keeps originals is loaded where that is done."""

T = TypeVar("T")
KEPT = (Load, Save, Read, Write, Secret)
CALLED = (Complete, Embed)
Called = Complete | Embed
Requests = Sequence[tuple["Runtime", Ask[object]]]
Rounds = Generator[Requests, Sequence[object], T]
"""Yields what is to be answered in a round, is sent the answers, and returns what came of it."""


class CallsModels(Protocol):
    """Who asks models and embedders."""

    def together(
        self, asked: Sequence[tuple[Called, CallRecords]]
    ) -> Coroutine[Any, Any, list[object]]:
        """The answers in order, each an answer or a HoldfastError."""
        ...


def caller_of(lineup: Lineup) -> CallsModels:
    """Who asks the models of the line-up."""
    return cast("Callable[[Lineup], CallsModels]", _PARTS.load("caller"))(lineup)


@dataclass(slots=True)
class Runtime:
    """Answers what strategies ask: with a value, or with the HoldfastError that stands in the way.

    Stores and models may answer at once or with awaitables; what must be waited for is done on a
    private loop.
    """

    lineup: Lineup
    store: Opened | None = None
    redacts: bool = False
    """Whether secrets are masked in all that leaves."""
    logged: bool = False
    """Whether history is in a log of the caller's."""
    marks: Marks = field(default_factory=Marks)
    """Recognises texts written here, by the caller's secret or else by that of the store."""
    caller: CallsModels | None = None
    ledger: CallRecords = field(default_factory=CallRecords)
    troubled: bool = False
    """Whether a store, a model or an embedder could not answer."""

    def answer(self, request: Ask[object]) -> object:
        """The answer to one ask."""
        return answers([(self, request)])[0]

    def has(self, request: Ask[object]) -> bool:
        """Whether there is somebody who can be asked that."""
        if isinstance(request, Complete):
            return self.lineup.model is not None
        return isinstance(request, Embed) or self.store is not None

    def calls(self) -> CallsModels:
        """Who calls, made when first needed."""
        if self.caller is None:
            self.caller = caller_of(self.lineup)
        return self.caller

    def leaving(self, request: Ask[object]) -> Ask[object]:
        """The request as it leaves the process."""
        return outgoing(request) if self.redacts else request

    def arriving(self, request: Ask[object], answer: object) -> object:
        """The answer as it enters the process."""
        return incoming(request, answer) if self.redacts else answer

    def work(self, request: Ask[object]) -> Work | HoldfastError | str:
        """What the request wants of the store, or the answer that it has without one."""
        if not isinstance(request, KEPT):
            return ConfigError(f"{type(request).__name__} is no ask that this runtime knows")
        if self.logged and isinstance(request, Save) and request.kind == HISTORY:
            return ""
        if isinstance(request, Secret) and (self.marks.secret or self.store is None):
            return self.marks.secret
        if self.store is None:
            return StoreError("no store was given; pass store=")
        leaving = cast("Load | Save | Read | Write | Secret", self.leaving(request))
        return lambda store: _kept(store, leaving, self.marks.secret)

    def stored(self, request: Ask[object]) -> object:
        """What the store answers."""
        work = self.work(request)
        return self.store.ask(work) if callable(work) and self.store else work

    async def awaited(self, request: Ask[object]) -> object:
        """What the store answers, awaited."""
        work = self.work(request)
        if not callable(work) or self.store is None:
            return work
        wait = cast("Callable[[Opened, Work], Awaitable[object]]", _PARTS.load("awaited"))
        return await wait(self.store, work)

    def usage(self) -> ModelUsage:
        """What the calls so far took."""
        cache = self.lineup.cache
        return ModelUsage(tuple(self.ledger.calls), None if cache is None else cache.figures())


def answers(asked: Requests) -> list[object]:
    """The answers in order; what models and embedders are asked goes out together."""
    singles = _singles(asked)
    calls = _called(singles)
    told = wait_for(singles[0][0].calls().together(calls)) if calls else []
    kept = [
        runtime.stored(request) for runtime, request in singles if not isinstance(request, CALLED)
    ]
    return _in_order(asked, told, kept)


async def awaited(asked: Requests) -> list[object]:
    """As ``answers``, awaited; a store that blocks gets a thread."""
    gather = cast("Callable[..., Awaitable[list[Any]]]", _PARTS.load("gather"))
    singles = _singles(asked)
    calls = _called(singles)
    others = [
        runtime.awaited(request) for runtime, request in singles if not isinstance(request, CALLED)
    ]
    together = [singles[0][0].calls().together(calls)] if calls else []
    replies = await gather(*together, *others)
    return _in_order(asked, replies[0] if calls else [], replies[len(together) :])


def _singles(asked: Requests) -> Requests:
    """Every request by itself, those of an ``All`` too."""
    return [
        (runtime, each)
        for runtime, request in asked
        for each in (request.asks if isinstance(request, All) else (request,))
    ]


def _called(singles: Requests) -> list[tuple[Called, CallRecords]]:
    """What of it goes to models and embedders, as it leaves the process."""
    return [
        (cast("Called", runtime.leaving(request)), runtime.ledger)
        for runtime, request in singles
        if isinstance(request, CALLED)
    ]


def _in_order(asked: Requests, told: Sequence[object], kept: Sequence[object]) -> list[object]:
    """What models told and what the store gave, as it was asked for."""
    replies, found = iter(told), iter(kept)

    def reply(runtime: Runtime, request: Ask[object]) -> object:
        if isinstance(request, All):
            return [reply(runtime, each) for each in request.asks]
        called = isinstance(request, CALLED)
        answer = runtime.arriving(request, next(replies)) if called else next(found)
        if isinstance(answer, HoldfastError) and runtime.has(request):
            # what is too long for a model is asked again in parts
            runtime.troubled |= not isinstance(answer, ContextOverflowError)
        return answer

    return [reply(runtime, request) for runtime, request in asked]


async def _kept(
    store: KeyValueStore, request: Load | Save | Read | Write | Secret, secret: str
) -> str | None:
    """The text under the key, or the key of the text that is kept from now on."""
    if isinstance(request, Read):
        return await answered(store.get(request.key))
    if isinstance(request, Write):
        if request.value is None:
            await answered(store.delete(request.key))
        else:
            await answered(store.set(request.key, request.value))
        return None
    if isinstance(request, Secret):
        return await secret_of(store)
    own = "" if isinstance(request, Save) and request.open else secret
    artifacts = cast("type[AsyncArtifactStore]", _PARTS.load("artifacts"))(store, own)
    if isinstance(request, Load):
        return await artifacts.get(request.key)
    return (await artifacts.put(request.text, request.kind)).reference
