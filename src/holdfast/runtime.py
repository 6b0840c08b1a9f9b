"""Answers what strategies ask for, from stores and models, synchronously or awaited."""

from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from holdfast.calls.lineup import Lineup
from holdfast.compressors.summaries import Marks
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
from holdfast.kernel.registry import imported
from holdfast.kernel.typed import is_list
from holdfast.model_usage import CallRecords, ModelUsage
from holdfast.redact import incoming, outgoing
from holdfast.stores.protocols import as_store_errors, settled

if TYPE_CHECKING:
    from holdfast.calls.caller import Caller

T = TypeVar("T")
StoreRequest = Load | Save | Read | Write | Secret
ModelRequest = Complete | Embed
Request = tuple["Runtime", Ask[object]]
Requests = Sequence[Request]
Rounds = Generator[Requests, Sequence[object], T]
"""A generator that yields the requests of a round, is sent the answers, and returns a value."""


@dataclass(slots=True)
class Runtime:
    """Answers the requests of one compression, with a value or a HoldfastError.

    Stores and models may be synchronous or not; awaitables run on a private event loop.
    """

    lineup: Lineup
    store: KeyValueStore | None = None
    redacts: bool = False
    """Whether secrets are masked in everything that is stored or sent to a model."""
    marks: Marks = field(default_factory=Marks)
    """Recognises own notes, by the caller's secret or that of the store."""
    caller: "Caller | None" = None
    ledger: CallRecords = field(default_factory=CallRecords)
    trouble: HoldfastError | None = None
    """The first failure of a store, a model or an embedder."""

    def answer(self, request: Ask[object]) -> object:
        """The answer to one request."""
        return answers([(self, request)])[0]

    def answer_or_raise(self, request: Ask[Any]) -> Any:
        """The answer to one request. Raises the first error of a model or an embedder."""
        answer = self.answer(request)
        for each in answer if is_list(answer) else [answer]:
            if isinstance(each, HoldfastError):
                raise each
        return answer

    def has(self, request: Ask[object]) -> bool:
        """Whether there is a model, embedder or store for the request."""
        if isinstance(request, Complete):
            return self.lineup.model is not None
        return isinstance(request, Embed) or self.store is not None

    def calls(self) -> "Caller":
        """The caller of models, made on first use: most compressions do not need its module."""
        if self.caller is None:
            self.caller = imported("holdfast.calls.caller:Caller")(self.lineup)
        return cast("Caller", self.caller)

    def leaving(self, request: Ask[object]) -> Ask[object]:
        """The request with secrets masked, if they are to be."""
        return outgoing(request) if self.redacts else request

    def stored(self, request: Ask[object]) -> object:
        """The answer of the store, or the error that prevents it."""
        if not isinstance(request, StoreRequest):
            return ConfigError(f"{type(request).__name__} is not a request that this runtime knows")
        if isinstance(request, Secret) and (self.marks.secret or self.store is None):
            return self.marks.secret
        if self.store is None:
            return StoreError("no store was given; pass store=")
        try:
            with as_store_errors():
                return _asked(self.store, self.leaving(request), self.marks.secret)
        except HoldfastError as fault:
            return fault

    async def stored_in_thread(self, request: Ask[object]) -> object:
        """The answer of the store, which may block."""
        if self.store is None:
            return self.stored(request)
        return await imported("holdfast.calls.event_loop:in_thread")(partial(self.stored, request))

    def usage(self) -> ModelUsage:
        """The calls so far."""
        cache = self.lineup.cache
        return ModelUsage(tuple(self.ledger.calls), None if cache is None else cache.figures())


def answers(asked: Requests) -> list[object]:
    """The answers in order; requests to models and embedders are sent together."""
    models, others = _parted(asked)
    told: list[object] = settled(_together(models)) if models else []
    return _in_order(asked, told, [runtime.stored(request) for runtime, request in others])


async def awaited(asked: Requests) -> list[object]:
    """Like ``answers``, in an event loop; a blocking store runs in a thread."""
    gather: Callable[..., Awaitable[list[Any]]] = imported("asyncio:gather")
    models, others = _parted(asked)
    stored = (runtime.stored_in_thread(request) for runtime, request in others)
    told, *kept = await gather(_together(models), *stored)
    return _in_order(asked, told, kept)


def _parted(asked: Requests) -> tuple[Requests, Requests]:
    """The requests to models and embedders, and the others, also of an ``All``, however deep."""
    models, others = list[Request](), list[Request]()
    for runtime, request in asked:
        if isinstance(request, All):
            within = _parted([(runtime, each) for each in request.asks])
            models += within[0]
            others += within[1]
        else:
            (models if isinstance(request, ModelRequest) else others).append((runtime, request))
    return models, others


async def _together(models: Requests) -> list[object]:
    """The answers of models and embedders, from whom secrets are kept if wanted."""
    calls: list[Any] = [(runtime.leaving(request), runtime.ledger) for runtime, request in models]
    return await models[0][0].calls().together(calls) if calls else []


def _in_order(asked: Requests, told: Sequence[object], kept: Sequence[object]) -> list[object]:
    """The answers of models and of the store, in the order of the requests."""
    replies, found = iter(told), iter(kept)

    def reply(runtime: Runtime, request: Ask[object]) -> object:
        if isinstance(request, All):
            return [reply(runtime, each) for each in request.asks]
        answer = next(replies if isinstance(request, ModelRequest) else found)
        if runtime.redacts:
            answer = incoming(request, answer)
        # a prompt that is too long for the model is asked again in parts
        if isinstance(answer, HoldfastError) and not isinstance(answer, ContextOverflowError):
            runtime.trouble = runtime.trouble or (answer if runtime.has(request) else None)
        return answer

    return [reply(runtime, request) for runtime, request in asked]


_ARTIFACTS = "holdfast.stores.artifacts"
"""The module of originals, which few compressions need."""


def _asked(store: KeyValueStore, request: Ask[object], secret: str) -> object:
    """The text under the key, or the key of a text that was saved."""
    match request:
        case Read(key):
            return settled(store.get(key))
        case Write(key, value):
            settled(store.delete(key) if value is None else store.set(key, value))
            return None
        case Load(key):
            return imported(_ARTIFACTS).ArtifactStore(store, secret).get(key)
        case Save(text, kind):
            originals = imported(_ARTIFACTS).ArtifactStore(store, "" if request.open else secret)
            return originals.put(text, kind).reference
        case _:
            return imported(_ARTIFACTS).secret_of(store)
