"""The one place in which an ask is answered."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from holdfast.calls.lineup import Lineup
from holdfast.compressors.summaries import HISTORY
from holdfast.kernel.compressor import Attempt, Plan
from holdfast.kernel.errors import ConfigError, HoldfastError, StoreError
from holdfast.kernel.flow import run
from holdfast.kernel.ports import All, Ask, Complete, Embed, KeyValueStore, Load, Read, Save, Write
from holdfast.kernel.registry import Registry
from holdfast.redacting import incoming, outgoing
from holdfast.stores.answers import Opened, answered, wait_for
from holdfast.stores.artifacts import AsyncArtifactStore
from holdfast.usage import Ledger, ModelUsage

_PARTS = Registry("part of the runtime", "runtime", {"caller": "holdfast.calls.caller:Caller"})
"""What calls models is loaded where one is called: it brings an event loop."""

KEPT = (Load, Save, Read, Write)
CALLED = (Complete, Embed)
Called = Complete | Embed


class Caller(Protocol):
    """Who asks models and embedders."""

    def together(self, asked: Sequence[tuple[Called, Ledger]]) -> Coroutine[Any, Any, list[object]]:
        """The answers in order, each an answer or a HoldfastError."""
        ...


def caller_of(lineup: Lineup) -> Caller:
    """Who asks the models of the line-up."""
    return cast("Callable[[Lineup], Caller]", _PARTS.load("caller"))(lineup)


@dataclass(slots=True)
class Runtime:
    """Answers what strategies ask: with a value, or with the HoldfastError that stands in the way.

    Stores and models may answer at once or with awaitables; what must be waited for is done on a private loop.
    """

    lineup: Lineup
    store: Opened | None = None
    redacts: bool = False
    """Whether secrets are masked in all that leaves."""
    logged: bool = False
    """Whether history is in a log of the caller's."""
    caller: Caller | None = None
    ledger: Ledger = field(default_factory=Ledger)

    def plan(self, attempt: Attempt) -> Plan:
        """The plan of a strategy, its asks answered as they come."""
        return run(attempt, self.answer)

    def answer(self, request: Ask[object]) -> object:
        """The answer to one ask."""
        if isinstance(request, All):
            return answers([(self, each) for each in request.asks])
        if isinstance(request, CALLED):
            return answers([(self, request)])[0]
        if self.logged and isinstance(request, Save) and request.kind == HISTORY:
            return ""
        work = self.work(request)
        if isinstance(work, HoldfastError) or self.store is None:
            return work
        return self.store.ask(work)

    def calls(self) -> Caller:
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

    def work(self, request: Ask[object]) -> Callable[[KeyValueStore], Coroutine[Any, Any, object]] | HoldfastError:
        """What the request wants of the store, or why it has no answer here."""
        if not isinstance(request, KEPT):
            return ConfigError(f"{type(request).__name__} is no ask that this runtime knows")
        if self.store is None:
            return StoreError("no store was given; pass store=")
        leaving = cast("Load | Save | Read | Write", self.leaving(request))
        return lambda store: _kept(store, leaving)

    def usage(self) -> ModelUsage:
        """What the calls so far took."""
        cache = self.lineup.cache
        return ModelUsage(tuple(self.ledger.calls), None if cache is None else cache.figures())


def answers(asked: Sequence[tuple[Runtime, Ask[object]]]) -> list[object]:
    """The answers in order; what models and embedders are asked goes out together."""
    calls = called(asked)
    told = iter(wait_for(asked[0][0].calls().together(calls)) if calls else ())
    return [
        runtime.arriving(request, next(told)) if isinstance(request, CALLED) else runtime.answer(request)
        for runtime, request in asked
    ]


def called(asked: Sequence[tuple[Runtime, Ask[object]]]) -> list[tuple[Called, Ledger]]:
    """What of it goes to models and embedders, as it leaves the process."""
    return [
        (cast("Called", runtime.leaving(request)), runtime.ledger)
        for runtime, request in asked
        if isinstance(request, CALLED)
    ]


async def _kept(store: KeyValueStore, request: Load | Save | Read | Write) -> str | None:
    """The text under the key, or the key of the text that is kept from now on."""
    if isinstance(request, Read):
        return await answered(store.get(request.key))
    if isinstance(request, Write):
        await answered(store.set(request.key, request.value))
        return None
    artifacts = AsyncArtifactStore(store)
    if isinstance(request, Load):
        return await artifacts.get(request.key)
    return (await artifacts.put(request.text, request.kind)).reference
