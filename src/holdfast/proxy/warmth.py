"""Filling the caches before the first request."""

from __future__ import annotations

from holdfast.http.bodies import written
from holdfast.http.budgets import Budgets
from holdfast.http.fitter import Fitter

_ROUNDS = 12  # outputs, enough for a conversation that must be fitted
_BUDGET = 600  # tokens; so few that the conversation must be fitted


def warm() -> None:
    """Fit a small conversation in each format, with the vocabularies of the common models."""
    fitter = Fitter(Budgets(_BUDGET), {})
    line = "2026-01-01 12:00:00 INFO worker {} of {} took 17 ms, status ok\n"
    outputs = ["".join(line.format(i, n) for i in range(20)) for n in range(_ROUNDS)]
    begin = {"role": "user", "content": "What is wrong with the workers?"}
    chat: list[object] = [begin]
    claude: list[object] = [begin]
    for n, output in enumerate(outputs):
        function = {"name": "read", "arguments": "{}"}
        call = {"id": f"c{n}", "type": "function", "function": function}
        chat.append({"role": "assistant", "content": None, "tool_calls": [call]})
        chat.append({"role": "tool", "tool_call_id": f"c{n}", "content": output})
        use = {"type": "tool_use", "id": f"c{n}", "name": "read", "input": {"n": n}}
        claude.append({"role": "assistant", "content": [use]})
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": output}
        claude.append({"role": "user", "content": [result]})
    for model in ("gpt-4o", "gpt-4"):
        fitter.fit("/v1/chat/completions", written({"model": model, "messages": chat}))
    fitter.fit("/v1/messages", written({"model": "claude-opus-4-8", "messages": claude}))
