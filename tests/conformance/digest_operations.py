"""The operations on history that is folded by rule."""

from typing import Any

import holdfast
from holdfast.compressors.digest import blocks
from holdfast.compressors.summarize import retention_boundary
from holdfast.designs.llm4s import llm4s_history
from holdfast.formats import detect
from tests.conformance.outcome import Outcome


def folded(given: list[Any], params: dict[str, Any]) -> Outcome:
    """The preset of llm4s, which folds all but the last blocks whether or not it must: so the
    budget is 1.
    """
    preset = llm4s_history(params.get("keep_last_blocks", 5), params.get("cap_tokens", 400))
    counter = params.get("counter", "o200k_base")

    def once(messages: list[Any]) -> holdfast.CompressionResult:
        return holdfast.compress(messages, 1, strategy=preset, counter=counter, format="openai")

    result = once(given)
    for _ in range(params.get("repeat", 1) - 1):
        result = once(result.messages)
    marked = [m for m in result.messages if str(m.get("content")).startswith("[HISTORY_SUMMARY]")]
    return Outcome(
        result.messages,
        result.metrics.tokens_after,
        {"digest_count": len(marked), "metrics": result.metrics.to_dict()},
        again=lambda messages: once(messages).messages,
    )


def grouped(given: list[Any], params: dict[str, Any]) -> Outcome:
    """The blocks of one conversation, with the positions of their messages."""
    found = [{"type": block.type, "indices": list(block.messages)} for block in _blocks(given)]
    return Outcome(given, 0, {"blocks": found})


def grouped_each(given: Any, params: dict[str, Any]) -> Outcome:
    """The blocks of several conversations: type and number of messages."""
    value = [
        [[block.type, len(block.messages)] for block in _blocks(each)] for each in params["inputs"]
    ]
    return Outcome(facts={"value": value})


def bounded(given: Any, params: dict[str, Any]) -> Outcome:
    """Where the retained history begins, for messages of these shapes and sizes."""
    found = []
    for case in params["cases"]:
        messages = _transcript(
            [_shaped(n, shape) for n, shape in enumerate(case["shapes"])]
        ).messages
        found.append(retention_boundary(messages, case["tokens"], case["keep_recent_tokens"]))
    return Outcome(facts={"value": found})


def _shaped(number: int, shape: str) -> dict[str, Any]:
    if shape.startswith("assistant+tool_calls"):
        call = {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": "look", "arguments": "{}"},
        }
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if shape == "tool":
        return {"role": "tool", "tool_call_id": f"call_{number - 1}", "content": "seen"}
    return {"role": shape, "content": "words"}


def _transcript(messages: list[Any]) -> Any:
    return detect(messages, "openai").read(messages)


def _blocks(messages: list[Any]) -> Any:
    return blocks(_transcript(messages).messages)


DIGEST_OPERATIONS = {
    "history_digest": folded,
    "group_blocks": grouped,
    "group_blocks_each": grouped_each,
    "retention_boundary": bounded,
}
