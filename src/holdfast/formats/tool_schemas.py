"""Writing and reading the schema of a tool in the form of each provider."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.kernel.errors import ConfigError

from . import FORMATS
from .payloads import objects_in
from .values import is_object

Schema = dict[str, Any]


_WRITERS: Mapping[str, Callable[[Schema, Mapping[str, Any]], Schema]] = {
    "openai_chat": lambda tool, given: {
        "type": "function",
        "function": {**tool, "parameters": given},
    },
    "openai_responses": lambda tool, given: {"type": "function", **tool, "parameters": given},
    "anthropic": lambda tool, given: {**tool, "input_schema": given},
    "gemini": lambda tool, given: {"functionDeclarations": [{**tool, "parameters": given}]},
    "converse": lambda tool, given: {"toolSpec": {**tool, "inputSchema": {"json": given}}},
    "pydantic_ai": lambda tool, given: {**tool, "parameters_json_schema": given},
}
"""Takes a tool's name and description and the schema of its arguments; returns its schema in the
provider's form.
"""
_LIKE = {"bedrock": "anthropic", "langchain": "openai_chat"}
"""Providers with the same form as another."""
_DECLARATIONS = ("functionDeclarations", "function_declarations")
_PARAMETERS = (
    "parameters",
    "input_schema",
    "inputSchema",
    "parametersJsonSchema",
    "parameters_json_schema",
)


def tool_schema(provider: str, name: str, purpose: str, parameters: Mapping[str, Any]) -> Schema:
    """The schema of a tool for the provider; ``parameters`` is the JSON schema of its arguments.

    Raises ConfigError for an unknown provider.
    """
    name_of_form = FORMATS.aliases.get(provider, provider)
    write = _WRITERS.get(_LIKE.get(name_of_form, name_of_form))
    if write is None:
        advice = f"known are {', '.join(sorted({'openai', *_WRITERS, *_LIKE}))}"
        problem = f"{provider!r} has no form of tools here"
        raise ConfigError(problem, place="provider", advice=advice)
    told = {"description": purpose} if purpose else {}
    return write({"name": name, **told}, parameters)


def described(tools: object) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The name, purpose and parameters of each function in schemas of any provider.

    A vendor's built-in tools are left out, because other vendors do not have them.
    """
    for tool in objects_in(tools):
        inner = next((tool[field] for field in _DECLARATIONS if field in tool), tool.get("tools"))
        if inner is not None:
            yield from described(inner)
            continue
        held = tool.get("function", tool.get("toolSpec", tool))
        if is_object(held) and isinstance(held.get("name"), str):
            given: Any = next(filter(is_object, map(held.get, _PARAMETERS)), {"type": "object"})
            yield held["name"], str(held.get("description") or ""), given.get("json", given)
