"""What is made of a plan: its edits applied in turn and measured; a result, or the error that was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.compressors.describing import described
from holdfast.fitting import Job
from holdfast.kernel.compressor import Plan, Status, played
from holdfast.kernel.errors import BudgetError, StrategyError
from holdfast.kernel.transcript import Transcript
from holdfast.result import CompressionMetrics, CompressionResult, Step, TokenUsage


def finished(job: Job, plan: Plan | None) -> CompressionResult:
    """The result of a plan, each step applied in turn and measured; no plan where the conversation fits."""
    steps: list[Step] = []
    now, tokens = job.transcript, job.tokens
    for name, inner, applied in played(now, job.compressor.name, plan) if plan else ():
        before = tokens
        now = applied.transcript
        tokens = job.allowance.meter.total(now)
        steps.append(
            Step(
                name=name,
                before=before,
                after=tokens,
                status=inner.status,
                reason=inner.reason,
                detail=inner.detail,
                edits=applied.edits,
                taken=applied.taken,
                messages=_originals(now),
            )
        )
    return _result(job, now, tokens, tuple(steps))


def delivered(job: Job, plan: Plan | None, result: CompressionResult) -> CompressionResult:
    """The result, or the error that the caller asked for in its place."""
    if job.raises and plan:
        for name, inner in _leaves(job.compressor.name, plan):
            if inner.fault is not None:
                raise StrategyError(name, inner.detail) from inner.fault
    if job.hard and not result.budget_met:
        raise BudgetError(
            limit=result.usage.limit,
            tokens=result.metrics.tokens_before,
            smallest=result.metrics.tokens_after,
            reason=result.detail,
        )
    return result


def _leaves(name: str, plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Every plan without steps of its own, under the name of its strategy."""
    if not plan.steps:
        yield name, plan
    for step, inner in plan.steps:
        yield from _leaves(step, inner)


def _originals(transcript: Transcript) -> tuple[object, ...]:
    return tuple([message.original for message in transcript.messages])


def _result(job: Job, now: Transcript, tokens: int, steps: tuple[Step, ...]) -> CompressionResult:
    met = tokens <= job.allowance.limit
    status, reason = _verdict(job, steps, met=met)
    key = job.format.key(job.payload)
    return CompressionResult(
        messages=_wrapped(job.payload, key, now),
        metrics=CompressionMetrics(job.tokens, tokens, len(job.transcript), len(now)),
        usage=TokenUsage(tokens, job.allowance.limit),
        strategy_name=job.compressor.name,
        format=job.format.name,
        steps=steps,
        status=status,
        reason=reason,
        detail=_detail(steps, tokens, met=met),
        degraded=any(step.status == "failed" for step in steps),
        smallest=None if met else tokens,
        accuracy=job.allowance.meter.counter.accuracy,
        strategy=described(job.compressor),
        key=key,
    )


def _verdict(job: Job, steps: tuple[Step, ...], *, met: bool) -> tuple[Status, str]:
    """The status of the run and its reason: the first fault if nothing was done, else how it ended."""
    if job.fits:
        return "skipped", "within_budget"
    applied = any(step.applied for step in steps)
    if not applied:
        told = [step for step in steps if step.status == "failed"] or list(steps)
        return ("failed", told[0].reason) if told and told[0].status == "failed" else ("skipped", "nothing_may_go")
    return "compacted", "compacted" if met else "budget_not_met"


def _detail(steps: tuple[Step, ...], tokens: int, *, met: bool) -> str:
    """What a person should know: which steps failed, and what remains of a budget that is not met."""
    told = [f"{step.name} failed: {step.detail}" for step in steps if step.status == "failed"]
    if not met:
        told.append(f"{tokens:,} tokens remain" + ("" if told else ", and nothing else may go"))
    return "; ".join(told)


def _wrapped(payload: Any, key: str, now: Transcript) -> Any:
    """The messages in the container in which they came: a list, a tuple or a request body."""
    messages = [message.original for message in now.messages]
    if key:
        return {**payload, key: messages}
    return tuple(messages) if isinstance(payload, tuple) else messages
