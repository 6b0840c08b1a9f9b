"""What a type checker sees of the public surface; checked by mypy and pyright, and run as it stands."""

import asyncio
from typing import Any, assert_type

import holdfast
from holdfast.kernel.compressor import Compressor, Plan
from holdfast.kernel.edits import Drop
from holdfast.kernel.errors import HoldfastError, InputError


class Keep:
    """A strategy of the caller, with no class of ours above it."""

    name = "keep"

    def plan(self, transcript: object, allowance: object) -> Plan:
        """Nothing goes."""
        return Plan.skip("kept")


def main() -> None:
    """Each name with the type that it has for a user."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "hello"}]
    budget = holdfast.Budget(
        window=128_000, reserve=4_000, headroom=0.05, trigger=0.9, target=0.5, hard=True
    )
    strategy: Compressor = Keep()

    result = holdfast.compress(
        messages, budget, strategy=[strategy, "trim"], pin=[0], query="why?", counter=len
    )
    assert_type(result, holdfast.CompressionResult)
    assert_type(result.metrics, holdfast.CompressionMetrics)
    assert_type(result.metrics.tokens_before, int)
    assert_type(result.metrics.compression_ratio, float)
    assert_type(result.steps, tuple[holdfast.Step, ...])
    assert_type(result.budget_met, bool)
    assert_type(result.smallest, int | None)
    assert_type(result.to_json(), str)
    assert_type(holdfast.CompressionResult.from_json(result.to_json()), holdfast.CompressionResult)
    holdfast.compress(
        messages, 8_000, pin=lambda message: message["role"] == "user", strategy=strategy
    )
    assert_type(asyncio.run(holdfast.acompress(messages, 8_000)), holdfast.CompressionResult)

    counted = holdfast.count(messages, model="gpt-4o")
    assert_type(counted, holdfast.TokenBreakdown)
    assert_type([row.preview for row in counted.messages], list[str])
    assert_type(holdfast.validate(messages, provider="openai"), list[holdfast.Violation])
    assert_type(holdfast.repair(messages), holdfast.CompressionResult)
    assert_type(holdfast.report(result), str)

    compressor = holdfast.ContextCompressor(strategy="sliding_window", model="gpt-4o")
    assert_type(compressor.compress_with_metrics(messages, 8_000), holdfast.CompressionResult)

    pruned = holdfast.prune_old_tool_outputs(list(messages))
    assert_type(pruned, holdfast.Pruned)
    assert_type(pruned.reclaimed, int)

    asyncio.run(awaiting(messages))

    fault: HoldfastError = InputError("x", place="y", advice="z")
    assert isinstance(fault, holdfast.HoldfastError)
    assert isinstance(Drop((1, 2)).indices, tuple)


async def awaiting(messages: list[dict[str, Any]]) -> None:
    """A session, whose methods have an awaited form of the same signature."""
    async with holdfast.Session("thread-1", budget=8_000) as session:
        assert_type(await session.aappend(*messages, ids=["first"]), list[int])
        assert_type(session.fit("why?"), holdfast.View)
        assert_type(await session.afit("why?", budget=500), holdfast.View)
        assert_type(await session.arecall(0, lines=(1, 2)), str)
        assert_type(await session.afork("thread-2"), holdfast.Session)


if __name__ == "__main__":
    main()
