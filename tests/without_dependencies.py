"""Run by ``make bare`` in an environment with nothing but Python and the package: a plain
script, no test runner.
"""

import asyncio
import re
import sys
import sysconfig
from pathlib import Path

import holdfast

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "read_file", "arguments": '{"path": "main.py"}'},
}
MESSAGES = [
    {"role": "system", "content": "Be careful."},
    {"role": "user", "content": "Find the bug."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "a line of the file\n" * 400},
    {"role": "assistant", "content": "I see nothing. " * 50},
    {"role": "user", "content": "Look again."},
]
BLOCKS = [
    {"role": "user", "content": "Find the bug."},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "main.py"}}],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a line\n" * 900}],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "Nothing there."}]},
    {"role": "user", "content": "Look again."},
]
PLAIN = [{"role": ("user", "assistant")[i % 2], "content": f"message {i} " * 40} for i in range(12)]


def compresses_and_restores() -> None:
    for messages in (MESSAGES, BLOCKS, PLAIN, {"model": "gpt-4o", "messages": MESSAGES}):
        for options in (
            {"profile": "fast"},
            {"profile": "balanced"},
            {"strategy": ["prune", "trim"], "step": 0.1},
        ):
            result = holdfast.compress(messages, 300, **options)
            assert result.budget_met, result
            assert not result.degraded, result.detail
            assert result.tokens < result.metrics.tokens_before
            assert holdfast.restore(result) == messages
            assert (
                holdfast.restore(holdfast.CompressionResult.from_json(result.to_json())) == messages
            )
            assert "tokens" in holdfast.report(result)
            assert (
                asyncio.run(holdfast.acompress(messages, 300, **options)).messages
                == result.messages
            )
    assert holdfast.ContextCompressor(strategy="sliding_window").compress(PLAIN, 200) == PLAIN[-2:]


def counts_by_estimates_that_say_so() -> None:
    for model in (None, "gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro"):
        counted = holdfast.count(MESSAGES, model=model)
        assert counted.total > 400
        assert counted.counter == "estimate", counted.counter
        assert counted.accuracy.kind != "exact", counted.accuracy
        assert holdfast.compress(MESSAGES, 300, model=model).accuracy.kind != "exact"
    assert holdfast.count(MESSAGES, counter=len).accuracy.kind == "unknown"


def validates_and_repairs() -> None:
    for provider, messages in (("openai", MESSAGES), ("anthropic", BLOCKS)):
        assert holdfast.validate(messages, provider=provider) == []
        broken = (
            messages[:2] + messages[4:] if provider == "anthropic" else messages[:3] + messages[4:]
        )
        assert holdfast.validate(broken, provider=provider)
        mended = holdfast.repair(broken, provider=provider)
        assert holdfast.validate(mended.messages, provider=provider) == []
        assert holdfast.restore(mended) == broken
        shorter = holdfast.compress(messages, 200, format=provider)
        assert holdfast.validate(shorter.messages, provider=provider) == []


def keeps_what_it_takes_out() -> None:
    lines = "".join(
        f"2026-01-01 10:00:{n % 60:02} INFO request {n} took {n * 7} ms\n" for n in range(900)
    )
    messages = [*MESSAGES[:3], {**MESSAGES[3], "content": lines}, *MESSAGES[4:]]
    result = holdfast.compress(messages, 400, store="memory://")
    assert result.budget_met
    assert not result.degraded, result.detail
    keys = re.findall(r"\[original: ([0-9a-f]+)", str(result.messages))
    assert keys, result.steps
    assert any(lines in holdfast.recall(key, store="memory://") for key in keys)


def complains_in_one_line() -> None:
    for wrong in (
        {"budget": 0},
        {"budget": 100, "strategy": "nope"},
        {"budget": 100, "profile": "nope"},
    ):
        told = ""
        try:
            holdfast.compress(MESSAGES, **wrong)
        except holdfast.ConfigError as fault:
            told = str(fault)
        assert told, wrong
        assert "\n" not in told


def loaded_nothing_of_others() -> None:
    packages = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")}
    ours = Path(holdfast.__file__).resolve().parent
    strange = [
        name
        for name, module in sys.modules.items()
        if (file := getattr(module, "__file__", None))
        and packages & set(Path(file).resolve().parents)
        and ours not in Path(file).resolve().parents
    ]
    assert not strange, strange


if __name__ == "__main__":
    for check in (
        compresses_and_restores,
        counts_by_estimates_that_say_so,
        validates_and_repairs,
        keeps_what_it_takes_out,
        complains_in_one_line,
        loaded_nothing_of_others,
    ):
        check()
        print(f"without dependencies: {check.__name__.replace('_', ' ')}")
