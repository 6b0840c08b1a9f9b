"""How an original comes back: for a program, a person and a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from holdfast.fitting import RECALL_TOOL
from holdfast.kernel.errors import ConfigError, HoldfastError
from holdfast.kernel.ports import KeyValueStore
from holdfast.runtime import opened
from holdfast.stores.artifacts import AsyncArtifactStore, Excerpt

_PURPOSE = (
    "Give back the original of a text that was shortened to save context. Such a text ends with a line like "
    "[original: 3fa1c27b90de (log, 12,410 tokens)]: pass that key. Ask for a range of lines, a pattern or a field "
    "rather than for the whole when the original is long."
)
_PROPERTIES: Mapping[str, Mapping[str, str]] = {
    "key": {"type": "string", "description": "the key that stands after 'original:'"},
    "lines": {"type": "string", "description": "a range of lines such as 10:80, counted from 1"},
    "pattern": {"type": "string", "description": "a regular expression (RE2); only lines that match come back"},
    "field": {"type": "string", "description": "a path into JSON, such as orders[3].status"},
}


def recall(
    key: str,
    *,
    store: str | KeyValueStore,
    lines: tuple[int, int] | None = None,
    pattern: str | None = None,
    field: str | None = None,
) -> str:
    """The original that a reference names: whole, or its lines (first, last), the lines that match, or a field.

    ``key`` is what stands after ``original:``. Raises NotFoundError for a key that this store does not hold,
    CorruptError for an original that was damaged, and ConfigError for a range, pattern or path that is none.
    """
    return _excerpt(key, store, lines, pattern, field).text


def _excerpt(
    key: str, store: str | KeyValueStore, lines: tuple[int, int] | None, pattern: str | None, field: str | None
) -> Excerpt:
    chosen = opened(store)
    artifacts = AsyncArtifactStore(chosen.store)
    return cast("Excerpt", chosen.wait(artifacts.read(key, lines=lines, pattern=pattern, field=field)))


@dataclass(frozen=True, slots=True)
class RecallTool:
    """The schema to send with a request, and the function to call with the arguments that the model gives."""

    schema: Mapping[str, Any]
    run: Callable[[Mapping[str, Any]], str]

    def __call__(self, arguments: Mapping[str, Any]) -> str:
        """The answer to a call, an error in words included, so that the model can mend its call."""
        return self.run(arguments)


def recall_tool(store: str | KeyValueStore, format: str = "openai") -> RecallTool:  # noqa: A002 - users know the name
    """The tool by which a model resolves references itself, in the form of ``openai`` or ``anthropic``.

    Hand its schema to the provider and to ``compress(tools=...)``: then texts name the tool. Raises ConfigError
    for a format that has no tools.
    """
    parameters = {"type": "object", "properties": _PROPERTIES, "required": ["key"]}
    described = {"name": RECALL_TOOL, "description": _PURPOSE}
    schemas: dict[str, dict[str, Any]] = {
        "openai": {"type": "function", "function": {**described, "parameters": parameters}},
        "anthropic": {**described, "input_schema": parameters},
    }
    name = {"openai_chat": "openai", "claude": "anthropic"}.get(format, format)
    if name not in schemas:
        advice = f"known are {', '.join(schemas)}"
        raise ConfigError(f"{format!r} has no form of tools here", place="format", advice=advice)

    def run(arguments: Mapping[str, Any]) -> str:
        try:
            excerpt = _excerpt(
                str(arguments.get("key", "")),
                store,
                line_range(arguments.get("lines")),
                arguments.get("pattern"),
                arguments.get("field"),
            )
        except HoldfastError as fault:
            return f"error: {fault}"
        return excerpt.numbered() if arguments.get("pattern") or arguments.get("lines") else excerpt.text

    return RecallTool(schemas[name], run)


def line_range(text: object) -> tuple[int, int] | None:
    """``10:80`` as (10, 80); None for nothing. Raises ConfigError for anything else."""
    if text in (None, ""):
        return None
    first, mark, last = str(text).partition(":")
    if not mark or not first.strip().isdecimal() or not last.strip().isdecimal():
        raise ConfigError(f"{text!r} is no range of lines", place="lines", advice="write it as 10:80")
    return int(first), int(last)
