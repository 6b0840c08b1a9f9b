"""Threads that grow turn by turn, a model that writes notes of what it reads, and a count of
what it was sent.
"""

import re
from collections import Counter
from typing import Any

import holdfast
from holdfast.compressors.summarize import Summarize
from holdfast.providers.scripted import Scripted

BUDGET = 1_500
_TURN = re.compile(r"Turn (\d+):")


def thread(turns: int) -> list[dict[str, Any]]:
    """A system prompt and so many turns of about 70 tokens (``chars4_plus1``)."""
    messages = [{"role": "system", "content": "You are careful."}]
    for n in range(turns):
        wish = "The parcel must not be left at the door. " * (n % 3)
        messages += [
            {
                "role": "user",
                "content": f"Turn {n}: look at order ORD-{10_000 + n} and ship it. {wish}",
            },
            {
                "role": "assistant",
                "content": f"ORD-{10_000 + n} is in order. "
                + "All is as it should be so far. " * 4,
            },
        ]
    return messages


def notes(prompt: str) -> str:
    """Honest notes: the newest orders of the prompt, and how much there was."""
    orders = re.findall(r"ORD-\d+", prompt)
    return (
        f"## Goal\nShip orders.\n## Done\n- Looked at {', '.join(orders[-3:])} among {len(orders)}."
    )


def writer() -> Scripted:
    return Scripted(notes)


def sent(model: Scripted) -> Counter[int]:
    """How often each turn was sent to the model."""
    return Counter(int(n) for call in model.calls for n in set(_TURN.findall(call.prompt)))


def fitted(
    messages: Any, model: Any, budget: Any = BUDGET, *, strategy: Any = None, **options: Any
) -> Any:
    """The result of summarizing, and trimming what it left over."""
    steps = [strategy or Summarize(), "trim"]
    return holdfast.compress(
        messages, budget, strategy=steps, llm=model, counter="chars4_plus1", **options
    )


def grown(model: Any, turns: int, *, feeds_back: bool, **options: Any) -> list[Any]:
    """The results of a thread that is compressed after each of so many turns."""
    whole = thread(turns)
    results: list[Any] = []
    for n in range(1, turns + 1):
        before = results[-1].messages if feeds_back and results else whole[:1]
        given = [*before, *whole[2 * n - 1 : 2 * n + 1]] if feeds_back else whole[: 2 * n + 1]
        results.append(fitted(given, model, **options))
    return results


def summaries(messages: list[dict[str, Any]]) -> list[str]:
    return [m["content"] for m in messages if m["content"].startswith("[HISTORY_SUMMARY]")]
