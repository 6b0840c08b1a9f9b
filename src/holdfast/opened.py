"""A store that answers at once or with awaitables, and how a synchronous caller asks it either way."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, TypeVar, cast

from holdfast.kernel.errors import HoldfastError, StoreError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.registry import Registry
from holdfast.stores import open_store
from holdfast.stores.answers import Pending, instantly

T = TypeVar("T")

_PARTS = Registry("part of the runtime", "runtime", {"wait_for": "holdfast.waiting:wait_for"})
"""What brings an event loop is loaded only where something waits: it doubles the time of an import."""

Work = Callable[[KeyValueStore], Coroutine[Any, Any, object]]
"""What is to be done with a store; it may be begun again."""


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
                wait_for(met.settled())
        return wait_for(self.begun(work))

    def begun(self, work: Work) -> Coroutine[Any, Any, object]:
        """The work, for whoever waits in a way of their own."""
        return _shielded(work(self.store))


def opened(spec: str | KeyValueStore) -> Opened:
    """The store of a URL, or the caller's object. Raises ConfigError for what is none."""
    store = open_store(spec)
    return Opened(store, iscoroutinefunction(store.get))


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """The result of the work, done on the private loop, which is started when first needed."""
    return cast("Callable[[Coroutine[Any, Any, T]], T]", _PARTS.load("wait_for"))(work)


async def _shielded(work: Coroutine[Any, Any, object]) -> object:
    """The answer, or the StoreError that its fault amounts to: a caller's store may raise anything."""
    try:
        return await work
    except HoldfastError as fault:
        return fault
    except Exception as fault:  # noqa: BLE001 - stores are anyone's; what they raise must not end a compression
        return StoreError(f"the store failed: {type(fault).__name__}: {fault}")
