"""Checking a conversation against a provider's rules, and repairing it."""

from dataclasses import replace
from typing import Any

from holdfast.engine import measured, wrapped
from holdfast.formats import read
from holdfast.kernel.apply import repairs
from holdfast.kernel.compressor import Plan
from holdfast.kernel.integrity import Violation
from holdfast.kernel.transcript import Continuing, Format, Publishing, Transcript, violations
from holdfast.options import Provider
from holdfast.result import CompressionMetrics, CompressionResult, M, TokenUsage
from holdfast.tokens import Counter, meter_for


def validate(messages: object, provider: Provider = None) -> list[Violation]:
    """List what the provider would refuse, in the order of the messages.

    ``provider`` selects the rules; by default the format of the messages does. Raises FormatError
    for anything but a conversation.
    """
    _, _, transcript = _read(messages, provider)
    return violations(transcript.rules, transcript.messages)


def repair(
    messages: M, provider: Provider = None, *, model: str | None = None, counter: Counter = None
) -> CompressionResult[M]:
    """Make the conversation valid for the provider, with as few changes as possible.

    Each broken rule is a step of the result, and ``restore`` undoes all of them. No text is
    reworded. ``detail`` lists what could not be repaired.
    """
    payload, form, transcript = _read(messages, provider)
    meter = meter_for(model, counter)
    mended = repairs(transcript)
    after = mended[-1][1].transcript if mended else transcript
    left = violations(after.rules, after.messages)
    broken = {violation.rule for violation in left}
    changes = [
        (
            rule,
            Plan(applied.edits, reason="cannot_be_mended" if rule in broken else "repaired"),
            applied.taken,
            applied.transcript,
        )
        for rule, applied in mended
    ]
    steps, _ = measured(transcript, meter, changes)
    before, now = meter.total(transcript), meter.total(after)
    key = form.key(payload)
    return CompressionResult(
        messages=wrapped(payload, key, after) if mended else payload,
        metrics=CompressionMetrics(before, now, len(transcript), len(after)),
        spent=TokenUsage(now, now),
        strategy_name="repair",
        format=form.name,
        steps=steps,
        status="compacted" if mended else "skipped",
        reason="cannot_be_mended" if left else "repaired" if mended else "valid",
        detail="; ".join(
            f"{'' if v.index < 0 else f'message {v.index}: '}{v.problem} ({v.rule})" for v in left
        ),
        accuracy=meter.accuracy(after),
        counter=meter.counter.name,
        strategy={"strategy": "repair", "provider": form.name},
        key=key,
    )


def _read(messages: object, provider: Provider) -> tuple[Any, Format, Transcript]:
    """What ``read`` returns, with the vendor's rules for single messages before the others.

    For a request that continues messages held by the vendor, only rules for single messages apply.
    """
    payload, form, transcript = read(messages, provider)
    goes_on = isinstance(form, Continuing) and form.continues(payload)
    rules = tuple(rule for rule in transcript.rules if rule.alone or not goes_on)
    if isinstance(form, Publishing):
        rules = (*form.published(payload), *rules)
    return payload, form, replace(transcript, rules=rules)
