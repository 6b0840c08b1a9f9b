"""The asynchronous side of the path: every wait is left to the caller's event loop."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Sequence
from typing import Any, cast

from holdfast.calls.cache import CompressionCache
from holdfast.calls.event_loop import asked
from holdfast.calls.lineup import CallLimits
from holdfast.fitting import OnFailure, Pin, Settings, Strategy, prepare
from holdfast.kernel.budget import Budget
from holdfast.kernel.errors import HoldfastError
from holdfast.kernel.flow import arun
from holdfast.kernel.ports import All, Ask, KeyValueStore
from holdfast.metering import Counter
from holdfast.outcome import delivered, finished
from holdfast.providers import EmbedderSpec, ModelSpec
from holdfast.result import CompressionResult
from holdfast.runtime import CALLED, Runtime, called
from holdfast.tracing import traced


async def answered(runtime: Runtime, request: Ask[object]) -> object:
    """The answer to one ask; several at once are answered together, and what blocks gets a thread."""
    if isinstance(request, All):
        return await answers([(runtime, each) for each in request.asks])
    if isinstance(request, CALLED):
        return (await answers([(runtime, request)]))[0]
    work = runtime.work(request)
    if isinstance(work, HoldfastError) or runtime.store is None:
        return work
    return await asked(runtime.store, work)


async def answers(requests: Sequence[tuple[Runtime, Ask[object]]]) -> list[object]:
    """As ``runtime.answers``, awaited."""
    calls = called(requests)
    others = [answered(runtime, request) for runtime, request in requests if not isinstance(request, CALLED)]
    together = requests[0][0].calls().together(calls) if calls else _nothing()
    told, *rest = await gather(together, *others)
    replies, kept = iter(cast("list[object]", told)), iter(rest)
    return [
        runtime.arriving(request, next(replies)) if isinstance(request, CALLED) else next(kept)
        for runtime, request in requests
    ]


async def _nothing() -> list[object]:
    return []


async def acompress(
    messages: Any,
    budget: int | Budget,
    *,
    model: str | None = None,
    format: str | None = None,  # noqa: A002 - the name that users know for it
    profile: str = "balanced",
    strategy: Strategy = None,
    query: str | None = None,
    tools: object = None,
    pin: Pin = None,
    step: float | None = None,
    store: str | KeyValueStore | None = None,
    counter: Counter = None,
    on_failure: OnFailure = "degrade",
    redact: bool | None = None,
    llm: ModelSpec | None = None,
    embedder: EmbedderSpec | None = None,
    cache: CompressionCache | None = None,
    thread: str | None = None,
    limits: CallLimits | None = None,
) -> CompressionResult:
    """As ``compress``, with every wait for a store or a model left to the event loop."""
    settings = Settings(
        model, format, profile, strategy, query, tools, pin, step, store, counter, on_failure, redact,
        llm, embedder, cache, thread, limits,
    )  # fmt: skip
    with traced("compress_messages") as results:
        job = prepare(messages, budget, settings)
        plan = None if job.fits else await arun(job.attempt, lambda request: answered(job.runtime, request))
        results.append(finished(job, plan))
    return delivered(job, plan, results[0])
