"""What is known of models by their names, without the prefixes that hosts add.

``azure/GPT-4o``, ``openai:gpt-4o``, ``openrouter/openai/gpt-4o:free`` and
``ft:gpt-4o-2024-08-06:acme::1`` all become names that begin with ``gpt-4o``;
``us.anthropic.claude-3-5-sonnet-20241022-v2:0`` one with ``claude``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

_PREFIX = re.compile(
    r"(?:(?:ft|openai|azure|azure_openai|anthropic|bedrock|bedrock_converse|google|google_genai"
    r"|vertex_ai"
    r"|google_vertexai|openrouter|groq|ollama|together|fireworks|huggingface|xai|litellm_proxy):"
    r"|(?:ai21|[a-z][a-z-]*)\.(?=[a-z]))"
)
"""A vendor before a colon, or a region or vendor before a dot, as in Amazon Bedrock."""


def plain_name(model: str) -> str:
    """The name in lower case, without a path, region, vendor or ``ft:`` before it."""
    name, start = model.strip().lower().rpartition("/")[2], 0
    while prefix := _PREFIX.match(name, start):
        start = prefix.end()
    return name[start:]


@cache
def tables() -> Mapping[str, Mapping[str, Any]]:
    """The tables of ``models.toml``, each with its patterns in order."""
    return tomllib.loads(Path(__file__).with_name("models.toml").read_text("utf-8"))


def first(table: str, model: str | None) -> Any:
    """What the table has for the model, by the first pattern that matches; None without one."""
    name = plain_name(model or "")
    return next(
        (told for pattern, told in tables()[table].items() if re.match(pattern, name)), None
    )


@lru_cache(maxsize=256)
def window_of(model: str | None) -> int | None:
    """The context window of a model in tokens, input and output together; None if not known."""
    window: int | None = first("windows", model)
    return window
