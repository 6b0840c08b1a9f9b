"""What is made of a plan: its edits applied in turn and measured; a result, or the error that was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from holdfast.compressors.describing import described
from holdfast.compressors.pipeline import Pipeline
from holdfast.compressors.playing import played
from holdfast.compressors.stepwise import Stepwise
from holdfast.fitting import Job
from holdfast.kernel.compressor import Compressor, Plan, Status
from holdfast.kernel.errors import BudgetError, StrategyError
from holdfast.kernel.transcript import Transcript
from holdfast.redacting import Masking, left
from holdfast.result import CompressionMetrics, CompressionResult, Step, TokenUsage


def finished(job: Job, plan: Plan | None) -> CompressionResult:
    """The result of a plan, each step applied in turn and measured; no plan where the conversation fits."""
    record, masking = _Record(job), None
    if job.redaction:
        masking = Masking(job.redaction)
        if job.redaction.edits:
            masked = Plan(job.redaction.edits, reason="redacted", detail=job.redaction.told)
            record.enter("redact", masked, job.redaction.taken, job.redaction.transcript)
    for name, inner, applied in played(job.start, job.compressor.name, plan or _idle(job.compressor)):
        taken = masking.taken(applied) if masking else applied.taken
        record.enter(name, inner, taken, applied.transcript)
    if masking:
        kept = masking.departed([step.taken for step in record.steps])
        record.steps = [replace(step, taken=taken) for step, taken in zip(record.steps, kept, strict=True)]
    return _result(job, record, masking)


def _idle(compressor: Compressor) -> Plan:
    """A record for each step of a pipeline that had nothing to do."""
    inner = compressor.strategy if isinstance(compressor, Stepwise) else compressor
    steps = inner.steps if isinstance(inner, Pipeline) else (inner,)
    return Plan(
        steps=tuple(
            (step.name, Plan.skip("within_budget", "it fits already, and stays as it is: no secret is masked"))
            for step in steps
        )
    )


class _Record:
    """The steps so far, and how the conversation stands after them."""

    def __init__(self, job: Job) -> None:
        self.now, self.tokens, self._meter = job.transcript, job.tokens, job.allowance.meter
        self.steps: list[Step] = []

    def enter(self, name: str, plan: Plan, taken: Mapping[int, object], after: Transcript) -> None:
        """One more step: its plan, the originals that it took out, and the conversation after it."""
        if self.steps and after is self.now:  # an idle step shows what the one before it showed
            messages = self.steps[-1].messages
        else:
            messages = tuple([message.original for message in after.messages])
        before, self.now, self.tokens = self.tokens, after, self._meter.total(after)
        self.steps.append(
            Step(
                name=name,
                before=before,
                after=self.tokens,
                status=plan.status,
                reason=plan.reason,
                detail=plan.detail,
                edits=plan.edits,
                taken=taken,
                messages=messages,
            )
        )


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


def _result(job: Job, record: _Record, masking: Masking | None) -> CompressionResult:
    now, tokens, steps = record.now, record.tokens, tuple(record.steps)
    met = tokens <= job.allowance.limit
    status, reason = _verdict(job, steps, met=met)
    key = job.format.key(job.payload)
    messages = wrapped(job.payload, key, now)
    return CompressionResult(
        messages=job.conversation.holding(messages) if job.conversation else messages,
        metrics=CompressionMetrics(job.tokens, tokens, len(job.transcript), len(now)),
        usage=TokenUsage(tokens, job.allowance.limit),
        strategy_name=job.compressor.name,
        format=job.format.name,
        steps=steps,
        status=status,
        reason=reason,
        detail=_detail(steps, tokens, left(now) if masking else "", met=met),
        degraded=any(step.status == "failed" for step in steps),
        smallest=None if met else tokens,
        accuracy=job.allowance.meter.accuracy(job.transcript),
        counter=job.allowance.meter.counter.name,
        strategy=described(job.compressor),
        key=key,
        masked=tuple(sorted(masking.positions)) if masking else (),
        redacted=dict(sorted(masking.counts.items())) if masking else {},
        model_usage=job.runtime.usage(),
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


def _detail(steps: tuple[Step, ...], tokens: int, secrets: str, *, met: bool) -> str:
    """What a person should know: which steps failed, what remains of a budget not met, which secrets are left."""
    told = [f"{step.name} failed: {step.detail}" for step in steps if step.status == "failed"]
    if not met:
        told.append(f"{tokens:,} tokens remain" + ("" if told else ", and nothing else may go"))
    return "; ".join([*told, secrets] if secrets else told)


def wrapped(payload: Any, key: str, now: Transcript) -> Any:
    """The messages in the container in which they came: a list, a tuple or a request body."""
    messages = [message.original for message in now.messages]
    if key:
        return {**payload, key: messages}
    return tuple(messages) if isinstance(payload, tuple) else messages
