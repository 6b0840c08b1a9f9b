"""Programs of a user for the commonest tasks: mypy and pyright check them, and they run."""

from pathlib import Path
from typing import Any, TypedDict, assert_type

import holdfast
from holdfast.agent import FunctionTool, PlainTool
from holdfast.kernel.compressor import Compressor, Plan

Messages = list[dict[str, Any]]


class Chat(TypedDict):
    """A message as a vendor's package types it."""

    role: str
    content: str


class Keep:
    """A strategy of the caller, with no class of ours above it."""

    name = "keep"

    def plan(self, transcript: object, allowance: object) -> Plan:
        """Nothing goes."""
        return Plan.skip("kept")


def fit_messages(messages: Messages) -> Messages:
    """1. Fit a list of messages to a budget, and send what comes back."""
    result = holdfast.compress(messages, budget="8k")
    assert_type(result, holdfast.CompressionResult[Messages])
    assert_type(result.metrics, holdfast.CompressionMetrics)
    assert_type(result.metrics.compression_ratio, float)
    assert_type(result.steps, tuple[holdfast.Step, ...])
    assert_type(result.tokens, int)
    assert_type(result.budget_met, bool)
    assert_type(result.smallest, int | None)
    assert_type(result.restore(), Messages)
    assert_type(holdfast.restore(result), Messages)
    return result.messages


def fit_a_body(messages: list[Chat]) -> list[Chat]:
    """2. Fit a request body to the window of its model."""
    body: dict[str, Any] = {"model": "gpt-4o", "messages": messages}
    assert_type(holdfast.compress(body).messages, dict[str, Any])
    budget = holdfast.Budget(
        window=128_000, reserve=4_000, headroom=0.05, trigger=0.9, target=0.5, hard=True
    )
    return holdfast.compress(messages, budget, model="gpt-4o", profile="balanced").messages


def keep_the_originals(result: holdfast.CompressionResult, folder: Path) -> None:
    """3. Keep the whole result in a file, report on it, and take the originals back."""
    result.save(folder / "result.json")
    again = holdfast.CompressionResult.load(folder / "result.json")
    assert_type(again.messages, Any)
    assert_type(result.report(folder / "report.html"), str)
    assert_type(holdfast.report(result, "html"), str)
    assert_type(holdfast.recall_tool("memory://", provider="anthropic"), holdfast.RecallTool)


def choose_strategies(messages: Messages) -> list[holdfast.CompressionResult[Messages]]:
    """4. Choose a profile or strategies, of Holdfast or of your own."""
    own: Compressor = Keep()
    compressor = holdfast.ContextCompressor(strategy="sliding_window", model="gpt-4o")
    assert_type(compressor.compress(messages, 8_000), Messages)
    return [
        holdfast.compress(messages, 30_000, strategy=[own, "trim"], pin=[0], counter=len),
        holdfast.compress(
            messages, 8_000, strategy="sliding_window", pin=lambda m: m["role"] == "user"
        ),
        holdfast.compress(messages, 8_000, profile="fast", on_failure="raise", redact=True),
        compressor.compress_with_metrics(messages, 8_000),
    ]


def count_and_check(messages: Messages) -> list[str]:
    """5. Count tokens, and say what a provider would refuse."""
    counted = holdfast.count(messages, model="gpt-4o")
    assert_type(counted, holdfast.TokenBreakdown)
    assert_type([row.preview for row in counted.messages], list[str])
    assert_type(holdfast.repair(messages, provider="openai").messages, Messages)
    return [violation.problem for violation in holdfast.validate(messages, provider="anthropic")]


def use_a_model(messages: Messages) -> holdfast.ModelUsage:
    """6. Let a model write the summaries, within limits, and see what it cost."""
    result = holdfast.compress(
        messages,
        8_000,
        profile="quality",
        llm=lambda prompt: "The tests were run.",
        store="memory://types",
        thread="thread-1",
        cache=holdfast.CompressionCache(),
        limits=holdfast.CallLimits(timeout=30),
    )
    assert_type(result.model_usage.cost, float | None)
    return result.model_usage


def shrink_an_output(output: str, messages: Messages) -> str:
    """7. Shrink what a tool returned, by its kind; prune old outputs where they stand."""
    assert_type(holdfast.prune_old_tool_outputs(list(messages)).reclaimed, int)
    return holdfast.shrink(output, 500).text


def keep_a_conversation(messages: Messages, folder: Path) -> holdfast.View:
    """8. Keep a conversation whole, and fit a view of it."""
    with holdfast.Session("thread-1", store=f"sqlite:///{folder}/agent.db", budget="8k") as session:
        assert_type(
            session.append(*messages, ids=[f"m-{n}" for n in range(len(messages))]), list[int]
        )
        view = session.fit(query="which port?")
        assert_type(view, holdfast.View)
        assert_type(session.remember("Answer in French.").number, int)
        assert_type(session.report(form="html"), str)
        return view


@holdfast.tool
def add(a: int, b: int = 1) -> int:
    """Two numbers, added."""
    return a + b


def run_an_agent() -> object:
    """9. Run an agent whose tools are plain functions."""
    assert_type(add.function(1, b=2), int)
    assert isinstance(add, PlainTool)
    written = FunctionTool({"name": "now", "parameters": {"type": "object"}}, lambda _: "noon")

    def model(messages: list[Any], tools: list[Any]) -> Any:
        return {"role": "assistant", "content": f"{len(messages)} and {len(tools)}"}

    with holdfast.Session("thread-2", budget=8_000) as session:
        noting, finding = holdfast.remember_tool(session), holdfast.search_tool(session)
        return holdfast.AgentLoop(model, session, [add, written, noting, finding]).run("add")


async def wait_for_it(messages: Messages) -> list[int]:
    """10. The same without blocking an event loop, and many conversations at once."""
    assert_type(
        await holdfast.acompress(messages, budget=8_000), holdfast.CompressionResult[Messages]
    )
    many = await holdfast.acompress_many([messages, messages], budget=8_000)
    assert_type(many, list[holdfast.CompressionResult[Messages]])
    async with holdfast.Session("thread-1", budget=8_000) as session:
        assert_type(
            await session.aappend(*messages, ids=[f"m-{n}" for n in range(len(messages))]),
            list[int],
        )
        assert_type(await session.afit("why?", budget=500), holdfast.View)
        assert_type(await session.arecall(0, lines=(1, 2)), str)
        assert_type(await session.afork("thread-2"), holdfast.Session)
    return [each.tokens for each in many]


def change_the_client() -> str:
    """11. Give a vendor's package a client that fits what it sends, and reckon its cost."""
    with holdfast.http.client("32k", library="httpx") as client:
        price = holdfast.cost.Price(3.0, 15.0, cache_read=0.3)
        return f"{type(client).__name__} at {price.input}"
