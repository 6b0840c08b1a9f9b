"""What a model may call: functions with their schemas, and the messages that bring their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

from holdfast.content.excerpt import counted
from holdfast.formats.payloads import named
from holdfast.formats.values import compact, is_list, is_object
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.messages import ToolCall
from holdfast.session import Session
from holdfast.text.opaque import media_type

_BLOCKS = frozenset({"anthropic", "bedrock"})  # wires whose results are blocks of one message of the user
_REPLACED = "\ufffd"  # what stands for bytes that are not UTF-8
_ADVICE = "give holdfast.agent.FunctionTool(schema, a function of the arguments' JSON)"


class Tool(Protocol):
    """A function that the model may call, and the schema that tells it so."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """In the form of the model's vendor."""
        ...

    def __call__(self, arguments: object, /) -> Any:
        """The answer, now or awaited: a text, or what JSON holds; the arguments are those of the call, as JSON."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A tool that is a function of the arguments' JSON. Raises ConfigError if ``run`` is no function."""

    schema: Mapping[str, Any]
    run: Callable[[str], Any]

    def __post_init__(self) -> None:
        function: object = self.run
        if not callable(function):
            advice = "give a function of the arguments' JSON"
            raise ConfigError(f"{named(function)} is no function", place="FunctionTool.run", advice=advice)

    def __call__(self, arguments: object) -> Any:
        """The function's answer."""
        return self.run(str(arguments))


def checked(session: object) -> Session:
    """The session. Raises ConfigError for what is none."""
    if not isinstance(session, Session):
        advice = "give holdfast.Session(thread, budget=...)"
        raise ConfigError(f"{named(session)} is no session", place="session", advice=advice)
    return session


def by_name(tools: object) -> dict[str, Tool]:
    """The tools by the names in their schemas. Raises ConfigError for what is none, or cannot be told apart."""
    if not is_list(tools):
        raise ConfigError(
            f"{named(tools)} is no list of tools", place="tools", advice="give a list of FunctionTool"
        )
    found: dict[str, Tool] = {}
    for n, tool in enumerate(tools):
        place = f"tools[{n}]"
        if not _is_tool(tool):
            raise ConfigError(f"{named(tool)} is no tool", place=place, advice=_ADVICE)
        name = _name(tool.schema)
        if not name:
            advice = 'give one such as {"type": "function", "function": {"name": "read", "parameters": {...}}}'
            raise ConfigError("its schema has no name", place=place, advice=advice)
        if name in found:
            raise ConfigError(f"there is another tool named {name!r}", place=place, advice="rename one of them")
        found[name] = tool
    return found


def _is_tool(value: object) -> TypeGuard[Tool]:
    return not isinstance(value, type) and callable(value) and is_object(getattr(value, "schema", None))


def _name(schema: Mapping[str, Any]) -> str:
    """The name in a schema, as OpenAI's Chat Completions nest it or as others have it; empty if there is none."""
    inner: object = schema.get("function", schema)
    name: object = inner.get("name") if is_object(inner) else None
    return name if isinstance(name, str) else ""


def told(output: object) -> str:
    """What a tool gave as the text that the model reads: a text as it is, bytes as the text in them, else JSON."""
    if isinstance(output, str):
        return output
    return _as_text(output) if _is_bytes(output) else compact(output, otherwise=_as_text)


def _is_bytes(value: object) -> TypeGuard[bytes | bytearray]:
    return isinstance(value, bytes | bytearray | memoryview)


def _as_text(value: object) -> str:
    """What JSON cannot hold; bytes that are no text for the greater part in a line that says how many of what."""
    if not _is_bytes(value):
        return str(value)
    data = bytes(value)
    text = data.decode("utf-8", "replace")
    strange = sum(one == _REPLACED or not (one.isprintable() or one.isspace()) for one in text)
    if strange * 2 <= len(text) - bool(strange) and not media_type(data):
        return text
    return f"[{counted(len(data), 'byte')} of {media_type(data) or 'data that is no text'}]"


def results(wire: str, calls: Sequence[ToolCall], outputs: Sequence[str]) -> list[dict[str, Any]]:
    """The messages that bring the outputs of these calls."""
    pairs = list(zip(calls, outputs, strict=True))
    if wire in _BLOCKS:
        blocks = [{"type": "tool_result", "tool_use_id": call.id, "content": output} for call, output in pairs]
        return [{"role": "user", "content": blocks}]
    return [{"role": "tool", "tool_call_id": call.id, "content": output} for call, output in pairs]
