"""How much is kept of recorded runs with native calls if they are told in other protocols.

An agent without native calls writes its acts as text, each maker's agent in another form. The same
runs in four such forms stand for the agents of which there is no recording.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .bench import SINGLE, kinds, run_cases, scorer, share_of
from .figures import average, number, parallel, table, through
from .runs import SHARES

Arguments = dict[str, Any]
Form = tuple[Callable[[str, Arguments], str], Callable[[str, str], str]]
"""How an act is written, by its tool and arguments, and how its output is."""


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _element(name: str, arguments: Arguments) -> str:
    lines = [f"<{key}>{_text(value)}</{key}>" for key, value in arguments.items()]
    return "\n".join([f"<{name}>", *lines, f"</{name}>"])


def _fence(name: str, arguments: Arguments) -> str:
    told = " ".join(f"--{key} {_text(value)}" for key, value in arguments.items())
    return f"```sh\n{name} {told}\n```"


FORMS: dict[str, Form] = {
    "labels": (
        lambda name, arguments: f"Action: {name}\nAction Input: {json.dumps(arguments)}",
        lambda _, output: f"Observation: {output}",
    ),
    "elements": (_element, lambda name, output: f"[{name}] Result:\n{output}"),
    "fences": (
        _fence,
        lambda _, output: f"<returncode>0</returncode>\n<output>\n{output}\n</output>",
    ),
    "objects": (
        lambda name, arguments: json.dumps({"tool": name, "arguments": arguments}, indent=1),
        lambda name, output: f"Tool {name} returned:\n{output}",
    ),
}


def retold(folder: Path, messages: Sequence[Any], form: Form) -> Iterator[dict[str, Any]]:
    """The messages with each call as text of the agent, and each output as a user's message."""
    written, returned = form
    text = scorer(folder).text_of
    outputs = {
        message["tool_call_id"]: text(message) for message in messages if _is_output(message)
    }
    for message in messages:
        calls = message.get("tool_calls") or []
        words = text(message)
        if not calls and not _is_output(message):
            yield {"role": message["role"], "content": words}
        for call in calls:
            name, arguments = call["function"]["name"], _arguments(call)
            act = written(name, arguments)
            yield {"role": "assistant", "content": f"{words}\n\n{act}".lstrip()}
            words = ""
            if call["id"] in outputs:
                yield {"role": "user", "content": returned(name, outputs[call["id"]])}


def _is_output(message: dict[str, Any]) -> bool:
    return message["role"] == "tool"


def _arguments(call: dict[str, Any]) -> Arguments:
    text = call["function"]["arguments"]
    try:
        found = json.loads(text)
    except ValueError:
        found = text
    return found if isinstance(found, dict) else {"input": found}


def main(folder: Path) -> bool:
    """What is kept of the runs as they are and in each form, per share of the budget."""
    agents = [kind for kind in kinds(folder) if kind not in SINGLE]
    native = [
        case
        for case in run_cases(folder, agents)
        if any(message.get("tool_calls") for message in case["messages"])
    ]
    rows = [_line(folder, "native calls", native)]
    for name, form in FORMS.items():
        cases = [{**case, "messages": [*retold(folder, case["messages"], form)]} for case in native]
        for case in cases:
            case["budget"] = share_of(folder, case["messages"], case["share"])
        rows.append(_line(folder, name, cases))
    heads = ["protocol", "cases", *(f"{share:.0%}" for share in SHARES), "fits", "pairs", "exact"]
    table("assoc of recorded runs with native calls, and of the same in others", heads, rows)
    return all(cells[-3:] == ["1", "1", "1"] for cells in rows)


def _line(folder: Path, name: str, cases: Sequence[dict[str, Any]]) -> list[str]:
    rows = list(parallel(through, [(folder, "compress", case) for case in cases]))
    pairs = list(zip(cases, rows, strict=True))
    kept = [
        number(average([row for case, row in pairs if case["share"] == share], "assoc"))
        for share in SHARES
    ]
    laws = [number(average(rows, law)) for law in ("fits", "pairs", "restored")]
    return [name, str(len(cases)), *kept, *laws]
