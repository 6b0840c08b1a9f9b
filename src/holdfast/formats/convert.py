"""Converting a conversation to another format, as far as that can express it.

System messages become the system prompt if the format has one beside the messages. Reasoning is
dropped, because it is signed by its vendor or has no field; so are empty messages. Sound, video and
unknown parts become their JSON if the format has no field for them, and so does what a model drew
or spoke, which only Gemini takes back as its model's. Ids that two calls share, or whose length or
characters the format does not allow, are changed. Schemas of tools are written in the form of each
provider.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from mimetypes import guess_extension
from typing import Any, NamedTuple

from holdfast.kernel.apply import repairs
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.messages import (
    Media,
    Messages,
    Opaque,
    Part,
    Parts,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.kernel.transcript import Format, Publishing

from . import FORMATS, named, read
from .payloads import Object, as_text, body_of, data_of, is_address, is_object, objects_in
from .rules import original, wire_of
from .wire import BlockWire, ObjectWire

Written = dict[str, Any]
Tool = tuple[str, str, Object]
"""The name, purpose and parameters of a tool."""
_MENDED = frozenset(
    "call_ids_short call_ids_spelled call_ids_unique calls_follow_users document_names_unique"
    " documents_have_text final_text_trimmed first_message_is_users results_in_next_message"
    " results_right_after_call roles_alternate tool_exchange_whole".split()
)
"""Rules that another format may not have, and whose repairs lose nothing."""


class Turn(NamedTuple):
    """Consecutive parts of one speaker."""

    role: Role
    parts: Parts


def convert(
    payload: object,
    to: str,
    format: str | None = None,  # noqa: A002 - the name that users know for it
) -> Written:
    """Convert the conversation, with system prompt and tools, to a request body of another format.

    ``to`` names the new format and ``format`` the present one, which is detected by default. Media
    of Converse are in base64, as in the JSON that AWS sends; boto3 wants them decoded. Raises
    FormatError for anything but a conversation, and ConfigError for an unknown format or one that
    cannot be written.
    """
    form = named(to)
    body, _, transcript = read(payload, format)
    turns = list(_turns(transcript.messages, draws=form.name == "gemini"))
    system = [part.text for part in transcript.envelope if isinstance(part, Text)]
    system += [
        "\n".join(part.text for part in turn.parts if isinstance(part, Text))
        for turn in turns
        if turn.role == "system"
    ]
    prompt = "\n\n".join(filter(None, system))
    made = form.read(written(form, [turn for turn in turns if turn.role != "system"]))
    # repaired where the other format allowed what this one does not
    known = (*made.rules, *(form.published({}) if isinstance(form, Publishing) else ()))
    rules = tuple(rule for rule in known if rule.name in _MENDED)
    for _, applied in repairs(replace(made, rules=rules)):
        made = applied.transcript
    messages = [message.original for message in made.messages]
    # tools are beside the messages and among them
    told = body_of(body)
    among = (original(message) for message in transcript.messages if message.role == "system")
    tools = [holder.get("tools") for holder in objects_in([told.get("toolConfig"), told, *among])]
    tools.append(told.get("functions"))
    schemas = [tool_schema(form.name, *tool) for listed in tools for tool in described(listed)]
    request: Written = {}
    if prompt and isinstance(form, ObjectWire) and form.prompts:
        request[form.prompts[0]] = form.prompted(prompt)
    elif prompt:
        messages = [form.compose("system", prompt), *messages]
    request[form.key(request)] = messages
    if schemas and form.name == "converse":
        request["toolConfig"] = {"tools": schemas}
    elif schemas:
        request["tools"] = schemas
    return request


def _turns(messages: Messages, *, draws: bool) -> Iterator[Turn]:
    """The turns; separate items of one reply of the assistant become one turn.

    ``draws``: a message of the assistant may have media.
    """
    said: list[Part] = []
    for message in messages:
        own_reply = message.role == "assistant"
        if said and not (own_reply and message.calls):
            yield Turn("assistant", tuple(said))
            said = []
        if own_reply:
            said += [
                part if draws or not isinstance(part, Media) else Text(as_text(part))
                for part in message.parts
            ]
            continue
        own = wire_of(message).system_parts(original(message))
        if own:
            yield Turn("system", tuple(message.parts[k] for k in own))
        told = [part for k, part in enumerate(message.parts) if k not in own]
        yield Turn(message.role, tuple(told))
    if said:
        yield Turn("assistant", tuple(said))


def _said(turn: Turn) -> Iterator[Part]:
    """The parts of a turn without reasoning, which only its vendor can write, and blank text."""
    for part in turn.parts:
        is_blank = isinstance(part, Text | Opaque) and not part.text.strip()
        if not isinstance(part, Reasoning) and not is_blank:
            yield part


def written(
    form: Format, turns: Sequence[Turn], names: Mapping[str, str] | None = None
) -> list[Any]:
    """The turns as messages of this format; ``names`` are the tools of earlier calls by id.

    Raises ConfigError for a format that cannot be written.
    """
    if isinstance(form, BlockWire):
        return list(_in_blocks(form, turns, dict(names or {})))
    if isinstance(form, ObjectWire) and form.name in _FLAT:
        return list(map(form.rebuilt, _FLAT[form.name](turns)))
    raise ConfigError(
        f"{form.name!r} is not a wire to convert to",
        place="to",
        advice="known are the wires of vendors, such as openai_chat, anthropic and gemini",
    )


# blocks


def _in_blocks(form: BlockWire, turns: Sequence[Turn], names: dict[str, str]) -> Iterator[object]:
    results: list[Object] = []
    for turn in (*turns, Turn("user", ())):  # results are in one message, before what is said next
        said = list(_said(turn))
        names |= {part.id: part.name for part in said if isinstance(part, ToolCall)}
        blocks = [
            form.block(part, names.get(part.call_id, "") if isinstance(part, ToolResult) else "")
            for part in said
        ]
        if turn.role == "tool":
            results += blocks
            continue
        if results:
            yield form.holding("user", results)
            results = []
        if len(said) == 1 and isinstance(said[0], Text):
            yield form.compose(turn.role, said[0].text)
        elif blocks:
            yield form.holding(turn.role, blocks)


# Chat Completions


def _as_chat(turns: Sequence[Turn]) -> Iterator[Written]:
    """A message for each result, then one with the other parts and the calls."""
    for turn in turns:
        content: list[Written] = []
        calls: list[Written] = []
        for part in _said(turn):
            match part:
                case ToolResult(call_id, text, media):
                    yield {"role": "tool", "tool_call_id": call_id, "content": text}
                    content += map(_in_chat, media)
                case ToolCall(call_id, name, arguments):
                    function = {"name": name, "arguments": arguments}
                    calls.append({"id": call_id, "type": "function", "function": function})
                case Media():
                    content.append(_in_chat(part))
                case _:
                    content.append({"type": "text", "text": part.text})
        if content or calls:
            role = "user" if turn.role == "tool" else turn.role
            said = {"role": role, "content": _alone(content) or content or None}
            yield said | ({"tool_calls": calls} if calls else {})


def _alone(content: Sequence[Object]) -> str:
    """The text of content that is a single text; empty otherwise."""
    return str(content[0].get("text", "")) if len(content) == 1 else ""


def _given(media: Media) -> tuple[str, str]:
    """OpenAI's field for the medium, none if it is in another vendor's bucket, and its value."""
    kind, data = data_of(media)
    if data:
        return "file_data", f"data:{kind};base64,{data}"
    if is_address(media.source):
        return "file_url", media.source
    return "" if ":" in media.source else "file_id", media.source


def shown(media: Media) -> Written:
    """The medium as a part of Chat Completions."""
    field, value = _given(media)
    if media.kind == "image":
        return {"type": "image_url", "image_url": {"url": value}}
    return {"type": "file", "file": {field if field == "file_data" else "file_id": value}}


_SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}
"""The formats of sound that Chat Completions accept, by their types."""


def _in_chat(media: Media) -> Written:
    """The medium as a part that OpenAI accepts; its JSON as text if there is none."""
    kind, data = data_of(media)
    field, value = _given(media)
    if media.kind == "audio" and data and kind in _SOUNDS:
        return {"type": "input_audio", "input_audio": {"data": data, "format": _SOUNDS[kind]}}
    if media.kind == "image" and field in ("file_data", "file_url"):
        return shown(media)
    if media.kind == "document" and field in ("file_data", "file_id"):
        return {"type": "file", "file": {**_file_name(kind, data), field: value}}
    return {"type": "text", "text": as_text(media)}


def _file_name(kind: str, data: str) -> Written:
    """The name without which OpenAI accepts no data of a file."""
    ending = guess_extension(kind) or ""
    return {"filename": f"document{ending}"} if data else {}


# Responses


def _as_items(turns: Sequence[Turn]) -> Iterator[Written]:
    """Text and media as messages, each call and each output as an item."""
    for turn in turns:
        kind = "output_text" if turn.role == "assistant" else "input_text"
        role = "user" if turn.role == "tool" else turn.role
        content: list[Written] = []
        for part in _said(turn):
            match part:
                case ToolCall(call_id, name, arguments):
                    call = {"call_id": call_id, "name": name, "arguments": arguments}
                    item: Written = {"type": "function_call", **call}
                case ToolResult(call_id, text, media):
                    output: object = text
                    if media:
                        output = [{"type": "input_text", "text": text}, *map(_in_item, media)]
                    item = {"type": "function_call_output", "call_id": call_id, "output": output}
                case Media():
                    content.append(_in_item(part))
                    continue
                case _:
                    content.append({"type": kind, "text": part.text})
                    continue
            yield from _spoken(role, content)
            content = []
            yield item
        yield from _spoken(role, content)


def _spoken(role: str, content: list[Written]) -> Iterator[Written]:
    if content:
        yield {"role": role, "content": _alone(content) or content}


def _in_item(media: Media) -> Written:
    field, value = _given(media)
    if media.kind == "image" and field:
        return {"type": "input_image", field if field == "file_id" else "image_url": value}
    if media.kind == "document" and field:
        return {"type": "input_file", **_file_name(*data_of(media)), field: value}
    return {"type": "input_text", "text": as_text(media)}


# requests


_FLAT = {"openai_chat": _as_chat, "langchain": _as_chat, "openai_responses": _as_items}
_TOOLS: Mapping[str, tuple[str, Callable[[Written], Written]]] = {
    "openai_chat": ("parameters", lambda tool: {"type": "function", "function": tool}),
    "openai_responses": ("parameters", lambda tool: {"type": "function", **tool}),
    "anthropic": ("input_schema", dict),
    "gemini": ("parameters", lambda tool: {"functionDeclarations": [tool]}),
    "converse": ("inputSchema", lambda tool: {"toolSpec": tool}),
    "pydantic_ai": ("parameters_json_schema", dict),
}
"""The field of a tool for the schema of its arguments, and the provider's form of a tool."""
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


def tool_schema(provider: str, name: str, purpose: str, parameters: Object) -> Written:
    """The schema of a tool for the provider; ``parameters`` is the JSON schema of its arguments.

    Raises ConfigError for an unknown provider.
    """
    form = FORMATS.aliases.get(provider, provider)
    form = _LIKE.get(form, form)
    if form not in _TOOLS:
        advice = f"known are {', '.join(sorted({'openai', *_TOOLS, *_LIKE}))}"
        raise ConfigError(
            f"{provider!r} has no form of tools here", place="provider", advice=advice
        )
    field, written_as = _TOOLS[form]
    told = {"description": purpose} if purpose else {}
    given = {"json": parameters} if form == "converse" else parameters
    return written_as({"name": name, **told, field: given})


def arguments_schema(listed: str, *required: str) -> Written:
    """The JSON schema of arguments: each line has a name, a type and a description."""
    told = [line.strip().split(" ", 2) for line in listed.strip().splitlines()]
    properties = {name: {"type": kind, "description": said} for name, kind, said in told}
    return {"type": "object", "properties": properties, "required": list(required)}


def described(tools: object) -> Iterator[Tool]:
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
