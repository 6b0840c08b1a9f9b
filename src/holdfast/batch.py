"""Many conversations at once, in lockstep: each round asks models and embedders for all of them together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, Unpack

from holdfast.asynchronous import answers as answers_awaited
from holdfast.fitting import Job, Options, Settings, chosen, prepare
from holdfast.formats.payloads import named
from holdfast.formats.values import is_list, is_object
from holdfast.kernel.budget import Budget
from holdfast.kernel.compressor import Plan
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.kernel.flow import run_batch
from holdfast.kernel.ports import All, Ask, Secret
from holdfast.metrics import CompressionMetrics, TokenUsage
from holdfast.outcome import finished
from holdfast.providers import open_model
from holdfast.result import CompressionResult
from holdfast.runtime import Runtime, answers, caller_of
from holdfast.tracing import traced

Progress = Callable[[int, int], object]
"""Called with how many conversations are done, and how many there are."""

Requests = list[tuple[Runtime, Ask[object]]]
Batch = Generator[Requests, Sequence[object], list[CompressionResult]]
"""Yields what is to be answered in a round, is sent the answers, and returns the results."""


def compress_many(
    conversations: Iterable[Any],
    budget: int | Budget,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> list[CompressionResult]:
    """Fit each conversation to the budget; the results in their order. The options are those of ``compress``.

    Of ``limits`` the concurrency is that of all conversations together, and ``total`` does not apply. What goes
    wrong with one conversation is told in its own result and raised by none: ``status`` is ``failed``, with
    ``invalid_input`` as the reason if it could not be read, and ``budget_met`` is false where it is not met.
    Raises ConfigError for wrong options.
    """
    batch = _batch(conversations, budget, Settings(**options), progress)
    try:
        asked = next(batch)
        while True:
            asked = batch.send(answers(asked))
    except StopIteration as done:
        return _results(done)
    finally:
        batch.close()


async def acompress_many(
    conversations: Iterable[Any],
    budget: int | Budget,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> list[CompressionResult]:
    """As ``compress_many``, with every wait for a store or a model left to the event loop."""
    batch = _batch(conversations, budget, Settings(**options), progress)
    try:
        asked = next(batch)
        while True:
            asked = batch.send(await answers_awaited(asked))
    except StopIteration as done:
        return _results(done)
    finally:
        batch.close()


def _results(done: StopIteration) -> list[CompressionResult]:
    results: list[CompressionResult] = done.value
    return results


def _batch(
    conversations: Iterable[Any], budget: int | Budget, settings: Settings, progress: Progress | None
) -> Batch:
    _check_several(conversations)
    chosen(settings)
    stated = Budget.of(budget)
    if settings.llm is not None:
        settings = replace(settings, llm=open_model(settings.llm))
    with traced("compress_many") as results:
        prepared = [_prepared(messages, stated, settings) for messages in conversations]
        working = [job for job in prepared if isinstance(job, Job) and not job.fits]
        told = yield [(job.runtime, Secret()) for job in working]
        working = [job.unlocked(answer) for job, answer in zip(working, told, strict=True)]
        plans = yield from _planned(working, len(prepared), progress)
        done = iter(map(finished, working, plans))
        results += [
            job if isinstance(job, CompressionResult) else finished(job, None) if job.fits else next(done)
            for job in prepared
        ]
    return results


def _check_several(conversations: object) -> None:
    """Raises ConfigError for one conversation in the place of several."""
    problem = f"{named(conversations)} is no list of conversations"
    if is_list(conversations) and any(is_object(each) and "role" in each for each in conversations):
        advice = "give a list of conversations, each a list of messages, or use compress"
        raise ConfigError("these are the messages of one conversation", place="conversations", advice=advice)
    if isinstance(conversations, str | bytes | Mapping) or not isinstance(conversations, Iterable):
        advice = "give a list of conversations, each as compress takes it"
        raise ConfigError(problem, place="conversations", advice=advice)


def _prepared(messages: Any, budget: Budget, settings: Settings) -> Job | CompressionResult:
    """The job of one conversation, or the result that says why there is none.

    Raises ConfigError for options that are wrong whatever the conversation is: only pins are about one.
    """
    try:
        return prepare(messages, budget, settings)
    except InputError as fault:
        if isinstance(fault, ConfigError) and fault.place != "pin":
            raise
        return CompressionResult(
            messages=messages,
            metrics=CompressionMetrics(0, 0, 0, 0),
            usage=TokenUsage(0, 0),
            strategy_name="",
            format="",
            status="failed",
            reason="invalid_input",
            detail=str(fault),
        )


def _planned(
    jobs: Sequence[Job], total: int, progress: Progress | None
) -> Generator[Requests, Sequence[object], list[Plan]]:
    """The plans of the jobs, which share one caller of models; their asks are yielded round by round."""
    if jobs:
        caller = caller_of(jobs[0].runtime.lineup)
        for job in jobs:
            job.runtime.caller, job.runtime.ledger.until = caller, inf
    rounds = run_batch([job.attempt for job in jobs])
    try:
        asked = next(rounds)
        while True:
            if progress:
                progress(total - len(asked), total)
            told = iter((yield [(jobs[i].runtime, each) for i, request in asked for each in _each(request)]))
            asked = rounds.send(
                [
                    [next(told) for _ in request.asks] if isinstance(request, All) else next(told)
                    for _, request in asked
                ]
            )
    except StopIteration as done:
        if progress:
            progress(total, total)
        plans: list[Plan] = done.value
        return plans
    finally:
        rounds.close()


def _each(request: Ask[object]) -> Sequence[Ask[object]]:
    return request.asks if isinstance(request, All) else (request,)
