"""The measured conversation: 1,000 real messages of a file of runs or of the examples."""

import json
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"
LENGTH = 1_000

Messages = list[dict[str, Any]]


def messages(data: str | None) -> tuple[Messages, str]:
    """The messages, and in words where they come from."""
    if data:
        runs = json.loads(Path(data).read_text("utf-8"))
        found = [runs[0][0], *(m for run in runs for m in run if m["role"] != "system")]
        return found[:LENGTH], f"{Path(data).name}, {len(runs)} runs strung together"
    recorded = [
        json.loads(path.read_text("utf-8")) for path in sorted(EXAMPLES.glob("openai_*.json"))
    ]
    found = recorded[0][:1]
    copy = 0
    while len(found) < LENGTH:
        found += [_another(m, copy) for run in recorded for m in run if m["role"] != "system"]
        copy += 1
    return found[
        :LENGTH
    ], f"examples/openai_*.json, strung together {copy} times with other texts each time"


def unseen(found: Messages, copy: object) -> Messages:
    """The same conversation in texts that nobody has counted."""
    return [_another(message, f"unseen {copy}") for message in found]


def _another(message: dict[str, Any], copy: object) -> dict[str, Any]:
    if not isinstance(message.get("content"), str):
        return message
    return {**message, "content": f"{message['content']} ({copy})"}
