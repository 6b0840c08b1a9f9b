"""The schema of a tool in the form of each provider."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.kernel.errors import ConfigError

from . import FORMATS

Schema = dict[str, Any]


def _nested(described: Schema, parameters: Mapping[str, Any]) -> Schema:
    return {"type": "function", "function": {**described, "parameters": parameters}}


def _flat(described: Schema, parameters: Mapping[str, Any]) -> Schema:
    return {"type": "function", **described, "parameters": parameters}


def _with_input(described: Schema, parameters: Mapping[str, Any]) -> Schema:
    return {**described, "input_schema": parameters}


_WRITERS: Mapping[str, Callable[[Schema, Mapping[str, Any]], Schema]] = {
    "openai_chat": _nested,
    "openai_responses": _flat,
    "anthropic": _with_input,
    "bedrock": _with_input,
}


def tool_schema(provider: str, name: str, purpose: str, parameters: Mapping[str, Any]) -> Schema:
    """What tells the provider of a tool; ``parameters`` is the JSON schema of its arguments.

    Raises ConfigError for a provider whose form is not known here.
    """
    write = _WRITERS.get(FORMATS.aliases.get(provider, provider))
    if write is None:
        advice = f"known are {', '.join(sorted({'openai', *_WRITERS}))}"
        problem = f"{provider!r} has no form of tools here"
        raise ConfigError(problem, place="provider", advice=advice)
    return write({"name": name, "description": purpose}, parameters)
