"""Conversations of known sizes, and strategies of somebody else, for the tests of the core."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import holdfast
from holdfast.compressors.summaries import Marks, body_of
from holdfast.engine import prepare
from holdfast.formats import read
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Plan, arun, run, run_batch
from holdfast.kernel.edits import Drop, Replace
from holdfast.options import Options
from holdfast.tokens import meter_for
from tests.formats.rules.messages import assistant, calling, tool, user


def words(count: int, word: str = "word") -> str:
    """As many tokens of the counter ``words``."""
    return " ".join([word] * count)


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def exchange(
    number: int, size: int = 100, name: str = "read", **fields: Any
) -> list[dict[str, Any]]:
    """A call and its result of so many words."""
    call = calling(f"call_{number}")
    call["tool_calls"][0]["function"]["name"] = name
    return [call, {**tool(f"call_{number}", words(size, f"out{number}")), **fields}]


def agent_run(exchanges: int = 6, size: int = 100) -> list[dict[str, Any]]:
    """A task, so many exchanges with a tool, and an answer."""
    steps = [message for number in range(exchanges) for message in exchange(number, size)]
    return [system("Be careful."), user("Find the bug."), *steps, assistant("Found it.")]


def chat(turns: int = 10, size: int = 20) -> list[dict[str, Any]]:
    """Users and assistants in turn, each message of so many words."""
    return [(user, assistant)[i % 2](words(size, f"w{i}")) for i in range(2 * turns)]


def settled(
    messages: Any, budget: int | holdfast.Budget = 100, **settings: Any
) -> tuple[Any, Allowance]:
    """What a strategy is handed: the transcript and the allowance, in words."""
    job = prepare(messages, budget, Options(**{"counter": "words", **settings}))
    job = job.unlocked(job.runtime.marks.secret)
    return job.transcript, job.allowance


def summaries_of(messages: Any, wire: str = "openai", secret: str = "") -> list[str | None]:
    """What each message says as a summary that was written here; None of the others."""
    transcript = Marks(secret).admit(read(messages, wire)[2])
    return [body_of(message) for message in transcript.messages]


def planned(
    compressor: Any, messages: Any, budget: int | holdfast.Budget = 100, **settings: Any
) -> Plan:
    """The plan of a strategy that asks nothing, made without the pipeline around it."""
    plan = compressor.plan(*settled(messages, budget, **settings))
    return plan if isinstance(plan, Plan) else run(plan, _unexpected)


def _unexpected(request: object) -> None:
    raise AssertionError(f"{request} was asked for")


def dropped(plan: Plan) -> set[int]:
    return {i for edit in plan.edits if isinstance(edit, Drop) for i in edit.indices}


def replaced(plan: Plan) -> dict[tuple[int, int], str]:
    return {(edit.index, edit.part): edit.text for edit in plan.edits if isinstance(edit, Replace)}


def same(some: list[Any], others: list[Any]) -> bool:
    """Whether two lists hold the very same objects."""
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))


METER = meter_for(None, "words")


@dataclass
class Somebody:
    """A strategy from outside: what it plans is what it was given, called, raised or run as a
    flow.
    """

    what: Any
    name: str = "somebody"
    asked: int = field(default=0, repr=False)

    def plan(self, transcript, allowance):
        self.asked += 1
        if isinstance(self.what, BaseException):
            raise self.what
        return self.what(transcript, allowance) if callable(self.what) else self.what


def drops(*indices: int) -> Somebody:
    return Somebody(Plan((Drop(indices, "not needed"),), reason="dropped"))


def planned_by(attempt, answer):
    """The plan of an attempt, each ask answered by the function."""
    (plan,) = run(run_batch([attempt]), lambda asked: [answer(request) for _, request in asked])
    return plan


async def aplanned_by(attempt, answer):
    """As ``planned_by``, the answers awaited."""

    async def answers(asked):
        return [await answer(request) for _, request in asked]

    (plan,) = await arun(run_batch([attempt]), answers)
    return plan
