"""The one place in which an ask is answered."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, cast

from holdfast.kernel.compressor import Attempt, Plan
from holdfast.kernel.errors import ConfigError, HoldfastError, ModelError, StoreError
from holdfast.kernel.flow import run
from holdfast.kernel.ports import All, Ask, Complete, Embed, KeyValueStore, Load, Save
from holdfast.kernel.registry import Registry
from holdfast.redacting import outgoing
from holdfast.stores import open_store
from holdfast.stores.answers import Pending, instantly
from holdfast.stores.artifacts import AsyncArtifactStore

_PARTS = Registry("part of the runtime", "runtime", {"wait_for": "holdfast.waiting:wait_for"})
"""What brings an event loop is loaded only where something waits: it doubles the time of an import."""


Work = Callable[[AsyncArtifactStore], Coroutine[Any, Any, object]]
"""What is to be done with the artifacts of a store; it may be begun again."""


@dataclass(slots=True)
class Opened:
    """A store, and whether it answers with awaitables, which may show only when it does."""

    store: KeyValueStore
    waits: bool

    def ask(self, work: Work) -> object:
        """The result of the work, waited for, or the StoreError that stands in the way."""
        if not self.waits:
            try:
                return instantly(self.begun(work))
            except Pending as met:
                self.waits = True
                _wait_for(met.settled())
        return _wait_for(self.begun(work))

    def begun(self, work: Work) -> Coroutine[Any, Any, object]:
        """The work, for whoever waits in a way of their own."""
        return shielded(work(AsyncArtifactStore(self.store)))


def _wait_for(work: Coroutine[Any, Any, object]) -> object:
    return cast("Callable[[Coroutine[Any, Any, object]], object]", _PARTS.load("wait_for"))(work)


def opened(spec: str | KeyValueStore) -> Opened:
    """The store of a URL, or the caller's object. Raises ConfigError for what is none."""
    store = open_store(spec)
    return Opened(store, iscoroutinefunction(store.get))


@dataclass(frozen=True, slots=True)
class Runtime:
    """Answers what strategies ask: with a value, or with the HoldfastError that stands in the way.

    A store may answer at once or with awaitables; for one that does, the work is done on a private loop.
    """

    store: Opened | None = None
    redacts: bool = False
    """Whether secrets are masked in all that leaves."""

    def plan(self, attempt: Attempt) -> Plan:
        """The plan of a strategy, its asks answered as they come."""
        return run(attempt, self.answer)

    def answer(self, request: Ask[object]) -> object:
        """The answer to one ask."""
        if isinstance(request, All):
            return [self.answer(each) for each in request.asks]
        asked = self.leaving(request)
        if not isinstance(asked, Load | Save) or self.store is None:
            return refusal(asked)
        return self.store.ask(lambda artifacts: kept(artifacts, asked))

    def leaving(self, request: Ask[object]) -> Ask[object]:
        """The request as it leaves the process."""
        return outgoing(request) if self.redacts else request


async def kept(artifacts: AsyncArtifactStore, request: Load | Save) -> str | None:
    """The text under the key, or the key of the text that is kept from now on."""
    if isinstance(request, Load):
        return await artifacts.get(request.key)
    return (await artifacts.put(request.text, request.kind)).reference


async def shielded(work: Coroutine[Any, Any, object]) -> object:
    """The answer, or the StoreError that its fault amounts to: a caller's store may raise anything."""
    try:
        return await work
    except HoldfastError as fault:
        return fault
    except Exception as fault:  # noqa: BLE001 - stores are anyone's; what they raise must not end a compression
        return StoreError(f"the store failed: {type(fault).__name__}: {fault}")


def refusal(request: Ask[object]) -> HoldfastError:
    """Why an ask has no answer here."""
    if isinstance(request, Load | Save):
        return StoreError("no store was given; pass store=")
    if isinstance(request, Complete | Embed):
        return ModelError("no model was given; pass llm=")
    return ConfigError(f"{type(request).__name__} is no ask that this runtime knows")
