"""A recorded conversation, for trying things out."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def sample() -> list[dict[str, Any]]:
    """Return a conversation in OpenAI's format, in which an agent repairs a failing test suite.

    It has 74 messages, 52 of them tool outputs, which are the output of real commands; the people's
    messages are invented.
    """
    text = files("holdfast.samples").joinpath("failing_tests.json").read_text("utf-8")
    messages: list[dict[str, Any]] = json.loads(text)
    return messages
