"""The asynchronous side of the path: every wait is left to the caller's event loop."""

from __future__ import annotations

from asyncio import gather, to_thread
from typing import Any

from holdfast.fitting import OnFailure, Pin, Settings, Strategy, prepare
from holdfast.kernel.budget import Budget
from holdfast.kernel.flow import arun
from holdfast.kernel.ports import All, Ask, KeyValueStore, Load, Save
from holdfast.metering import Counter
from holdfast.outcome import delivered, finished
from holdfast.result import CompressionResult
from holdfast.runtime import Opened, Runtime, Work, kept, refusal
from holdfast.stores.answers import Pending, instantly
from holdfast.tracing import traced


async def answered(runtime: Runtime, request: Ask[object]) -> object:
    """The answer to one ask; several at once are answered together, and a store that blocks gets a thread."""
    if isinstance(request, All):
        return await gather(*(answered(runtime, each) for each in request.asks))
    asked = runtime.leaving(request)
    if not isinstance(asked, Load | Save) or runtime.store is None:
        return refusal(asked)
    return await _asked(runtime.store, lambda artifacts: kept(artifacts, asked))


async def _asked(store: Opened, work: Work) -> object:
    """As ``Opened.ask``, awaited here."""
    if not store.waits:
        try:
            return await to_thread(instantly, store.begun(work))
        except Pending as met:
            store.waits = True
            await met.settled()
    return await store.begun(work)


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
) -> CompressionResult:
    """As ``compress``, with every wait for a store or a model left to the event loop."""
    settings = Settings(
        model, format, profile, strategy, query, tools, pin, step, store, counter, on_failure, redact
    )
    with traced("compress_messages") as results:
        job = prepare(messages, budget, settings)
        plan = None if job.fits else await arun(job.attempt, lambda request: answered(job.runtime, request))
        results.append(finished(job, plan))
    return delivered(job, plan, results[0])
