"""A plan taken step by step."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.kernel.apply import Applied, apply
from holdfast.kernel.compressor import Plan
from holdfast.kernel.transcript import Transcript

ROUNDS = 32
"""How often what misses its target is decided again: each time saves tokens, so this only bounds the time."""


def played(transcript: Transcript, name: str, plan: Plan) -> Iterator[tuple[str, Plan, Applied]]:
    """Every plan without steps of its own, under the name of its strategy, applied in turn.

    Raises IntegrityError at the first that breaks a rule.
    """
    if not plan.steps:
        done = plan.applied
        yield name, plan, done if done and done.before is transcript else apply(transcript, plan.edits)
        return
    for step, inner in plan.steps:
        for record in played(transcript, step, inner):
            transcript = record[2].transcript
            yield record
