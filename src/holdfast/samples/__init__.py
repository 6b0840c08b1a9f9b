"""A recorded conversation, to try things on."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def sample() -> list[dict[str, Any]]:
    """An agent that mends a failing test suite: 74 messages in OpenAI's form, 52 of them of tools.

    What the tools returned is what real commands printed; what the people say is written.
    """
    text = files("holdfast.samples").joinpath("failing_tests.json").read_text("utf-8")
    messages: list[dict[str, Any]] = json.loads(text)
    return messages
