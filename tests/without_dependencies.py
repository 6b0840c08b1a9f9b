"""Run by ``make bare`` where nothing but Python and the package is installed: it works on the standard library."""

import asyncio
import json
import sys

import holdfast

TALK = [
    {"role": "system", "content": "You are careful."},
    {"role": "user", "content": "Why does the build fail?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"command": "make"}'}}
        ],
    },
    {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "\n".join(f"step {n}: compiled file_{n}.c" for n in range(400)),
    },
    {"role": "assistant", "content": "It compiles four hundred files, and then it stops."},
    {"role": "user", "content": "And what was step 7?"},
]


def main() -> None:
    """Everything that needs no package, used as a caller would."""
    counted = holdfast.count(TALK, model="gpt-4o")
    assert counted.accuracy.kind != "exact", "an estimate must say that it is one"
    for options in ({"profile": "fast"}, {"strategy": ["prune", "trim"]}, {"profile": "balanced"}):
        result = holdfast.compress(TALK, 400, **options)
        assert result.budget_met, (options, result.reason)
        assert not result.degraded, (options, [(step.name, step.detail) for step in result.steps])
        assert holdfast.validate(result.messages, provider="openai") == []
        assert holdfast.restore(holdfast.CompressionResult.from_json(result.to_json())) == TALK
        assert asyncio.run(holdfast.acompress(TALK, 400, **options)).messages == result.messages
    stored = holdfast.compress(TALK, 400, store="memory://bare")
    keys = [edit.key for edit in stored.edits if hasattr(edit, "key")]
    assert [holdfast.recall(key, store="memory://bare") for key in keys] == [TALK[3]["content"]]
    broken = [*TALK[:2], TALK[3], TALK[5]]
    mended = holdfast.repair(broken, provider="openai")
    assert holdfast.validate(mended.messages, provider="openai") == []
    assert holdfast.restore(mended) == broken
    assert json.loads(stored.to_json())["budget_met"] is True
    outside = sorted(
        name for name in ("tiktoken", "msgspec", "click", "rich", "zstandard", "re2") if name in sys.modules
    )
    assert not outside, f"loaded without being needed: {outside}"
    print("without dependencies: compress, count, validate, repair, restore and recall work; counts are estimates")


main()
