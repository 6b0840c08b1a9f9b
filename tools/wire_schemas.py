"""What the vendors publish about the messages of their APIs, written down as JSON Schema.

    python -m tools.wire_schemas

reads the typed dictionaries of the installed packages ``openai`` and ``anthropic`` (both are made
from the vendors' own API definitions) and writes one file a wire beside
``src/holdfast/formats/published.py``, each with the date and the versions that it was made from.
What those types do not say stands in this file, with its source.

Written is only what is read: a field may always be null, a constant has no type beside it, and an
object has no fields beside those that its type names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Union, get_args

from anthropic.types.beta import BetaContentBlock, BetaMessageParam
from anthropic.types.beta.beta_content_block_param import BetaContentBlockParam
from anthropic.types.beta.beta_system_message_param import BetaSystemMessageParam
from anthropic.types.beta.beta_system_message_param import ContentBlock as SystemBlock
from botocore.loaders import Loader
from google.genai.types import Content, Part
from openai.types.chat import ChatCompletionMessage, ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import BaseModel, TypeAdapter

Schema = dict[str, Any]

FOLDER = Path(__file__).parents[1] / "src/holdfast/formats"
_PROSE = {"title", "description", "default", "additionalProperties"}

OPENAI_LIMITS: tuple[tuple[str, str, Schema, str], ...] = (
    (
        "ChatCompletionAssistantMessageParam",
        "tool_calls",
        {"maxItems": 128},
        "https://github.com/openai/openai-dotnet/issues/317",
    ),
    *(
        (
            name,
            "name",
            {"pattern": "^[a-zA-Z0-9_-]{1,64}$"},
            "openai.types.shared.FunctionDefinition.name",
        )
        for name in ("Function", "FunctionCall", "Custom", "ChatCompletionFunctionMessageParam")
    ),
    *(
        (
            f"ChatCompletion{role}MessageParam",
            "name",
            {"pattern": r"^[^\s<|\\/>]{1,64}$"},
            "https://github.com/jekalmin/extended_openai_conversation/issues/251",
        )
        for role in ("System", "Developer", "User", "Assistant")
    ),
)
"""Type, field, limit and where it is written."""

OPENAI_TOOLS: Schema = {
    "type": "array",
    "maxItems": 128,
    "items": {
        "properties": {
            "function": {
                "properties": {"name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}}
            }
        }
    },
}
"""Fields of tools and their limits; https://github.com/zed-industries/zed/issues/32946 and
openai.types.shared.FunctionDefinition.name"""
CALL_ID = 40  # characters; https://github.com/agno-agi/agno/issues/5382
OPENAI_TAKEN: tuple[tuple[str, str, str], ...] = (
    (
        "ChatCompletionToolMessageParam",
        "name",
        "https://cookbook.openai.com: How to call functions with chat models",
    ),
    (
        "ChatCompletionAssistantMessageParam",
        "reasoning_content",
        "read by this library, for servers of this wire",
    ),
    (
        "ChatCompletionAssistantMessageParam",
        "reasoning",
        "read by this library, for servers of this wire",
    ),
    *(
        ("ChatCompletionAssistantMessageParam", field, source)
        for field, source in (
            ("reasoning_details", "https://openrouter.ai/docs/use-cases/reasoning-tokens"),
            ("thinking_blocks", "https://docs.litellm.ai/docs/reasoning_content"),
            ("provider_specific_fields", "https://docs.litellm.ai/docs/reasoning_content"),
            ("extra_content", "https://ai.google.dev/gemini-api/docs/thought-signatures"),
        )
    ),
    *(
        ("ChatCompletionMessageFunctionToolCallParam", field, source)
        for field, source in (
            ("provider_specific_fields", "https://docs.litellm.ai/docs/reasoning_content"),
            ("extra_content", "https://ai.google.dev/gemini-api/docs/thought-signatures"),
        )
    ),
)
"""Fields that are taken and stand in no published type; the signatures of other servers' models
among them, without which these refuse what they answered.
"""

RESPONSES_WRITTEN = frozenset(
    {
        "message",
        "input_text",
        "input_image",
        "input_file",
        "output_text",
        "refusal",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "reasoning",
        "item_reference",
        "compaction",
    }
)
"""Items and parts whose insides are looked at: of the others, which the vendor makes, nothing
is.
"""
RESPONSES_OPTIONAL = frozenset({"annotations", "detail", "id"})
"""Fields that the types require and that OpenAI's own Codex leaves out."""
RESPONSES_NAMED = (
    ("ResponseFunctionToolCallParam", "name"),
    ("ResponseCustomToolCallParam", "name"),
)
RESPONSES_NAME: Schema = {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,128}$"}
RESPONSES_OTHER: Schema = {
    "properties": {"type": {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"}}
}
"""Items of which no type is known: new ones come between two versions of the package."""
RESPONSES_CALL_ID = 64  # characters; https://github.com/AnswerDotAI/fastllm/issues/45

GEMINI_WRITTEN = frozenset(
    {"Content", "Part", "FunctionCall", "FunctionResponse", "Blob", "FileData"}
)
"""Types whose insides are looked at."""
CONVERSE_FREE = frozenset(
    {"citationsContent", "guardContent", "searchResult", "toolAddition", "toolRemoval"}
)
"""Blocks whose insides are not looked at."""
CONVERSE_ROLES = {
    "toolUse": "assistant",
    "reasoningContent": "assistant",
    "toolResult": "user",
    "image": "user",
    "document": "user",
}
"""Blocks that only one role may have: "toolUse: Information about a tool use request from a model";
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html; "You can only
include images and documents if the role is user"; API_runtime_Message.html"""
CONVERSE_DOCUMENT = r"^([^\W_]|[()\[\]-]|\s(?!\s))+$"
"""The characters of a document's name, with no two spaces in a row;
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html"""

ANTHROPIC_LIMITS: tuple[tuple[str, str, Schema, str], ...] = (
    (
        "BetaToolUseBlockParam",
        "name",
        {"pattern": "^[a-zA-Z0-9_-]{1,128}$"},
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools",
    ),
    (
        "BetaTextBlockParam",
        "text",
        {"minLength": 1},
        "https://github.com/anthropics/claude-code/issues/59812",
    ),
)
ANTHROPIC_BOTH = frozenset({"text", "container_upload"})
"""Blocks that users and the assistant may send; else the assistant has those that the vendor
answers with.
"""
ANTHROPIC_WRITTEN = frozenset(
    {
        "text",
        "image",
        "document",
        "search_result",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_result",
    }
)
"""Blocks whose insides are looked at: of the others, which only the vendor makes, the fields
alone.
"""
ANTHROPIC_FREE = frozenset({"caller", "citations"})
"""Fields whose values the vendor makes: they are sent back as they came."""
ANTHROPIC_TOOLS: Schema = {
    "type": "array",
    "items": {"properties": {"name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,128}$"}}},
}
"""https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools"""
CACHE_CONTROLS = 4  # https://github.com/tghamm/Anthropic.SDK/issues/50


def openai_chat() -> Schema:
    """The messages of Chat Completions, by role."""
    definitions = _definitions(get_args(ChatCompletionMessageParam))
    for name, field, limit, _ in OPENAI_LIMITS:
        definitions[name]["properties"][field] |= limit
    for name, field, _ in OPENAI_TAKEN:
        definitions[name]["properties"][field] = {}
    for field in ChatCompletionMessage.model_fields:  # an answer is sent back as it came
        definitions["ChatCompletionAssistantMessageParam"]["properties"].setdefault(field, {})
    roles: dict[str, Schema] = {}
    for name, definition in definitions.items():
        if name.endswith("MessageParam"):
            roles[definition["properties"]["role"]["const"]] = {"$ref": name}
            _least_one(definition["properties"]["content"])
            definition["required"] = [
                field for field in definition["required"] if field != "content"
            ]
    limits = {"call_id": CALL_ID}
    source = "openai.types.chat.ChatCompletionMessageParam"
    return {
        "beside": {"tools": OPENAI_TOOLS},
        **_file("openai", source, roles, definitions, limits),
    }


def openai_responses() -> Schema:
    """The items of the Responses API, by type, and its messages, by role.

    An answer is sent back as it came: its own items may have any field.
    """
    items = get_args(ResponseInputItemParam)
    definitions = _definitions(items)
    for definition in definitions.values():
        fields = definition.get("properties", {})
        if fields.get("type", {}).get("const", "") not in RESPONSES_WRITTEN:
            del definition["properties"]
            definition.pop("required", None)
        elif "required" in definition and "item_reference" not in str(fields["type"]):
            taken = [name for name in definition["required"] if name not in RESPONSES_OPTIONAL]
            definition["required"] = taken
    roles: dict[str, Schema] = {}
    for item in items:
        fields = definitions[item.__name__].get("properties", {})
        kind = fields.get("type", {}).get("const", "")
        if kind in RESPONSES_WRITTEN and kind != "message":
            fields["id"] = fields["status"] = {"type": "string"}
            roles[kind] = {"$ref": item.__name__}
    for name, field in RESPONSES_NAMED:
        definitions[name]["properties"][field] = RESPONSES_NAME
    asked = _list_of(
        ["ResponseInputTextParam", "ResponseInputImageParam", "ResponseInputFileParam"]
    )
    said = _list_of(["ResponseOutputTextParam", "ResponseOutputRefusalParam"])
    for name in ("ResponseInputTextParam", "ResponseOutputTextParam"):
        definitions[name]["properties"] |= {"annotations": {}, "logprobs": {}}
    for role in ("user", "system", "developer"):
        roles[role] = _spoken(role, asked)
    roles["assistant"] = _spoken("assistant", said)
    roles["other"] = RESPONSES_OTHER
    limits = {"call_id": RESPONSES_CALL_ID}
    source = "openai.types.responses.ResponseInputItemParam"
    return _file("openai", source, roles, definitions, limits)


def _spoken(role: str, parts: Schema) -> Schema:
    """A message of the Responses API; an answer has fields of its own."""
    fields: Schema = {
        "type": {"const": "message"},
        "role": {"const": role},
        "content": {"anyOf": [{"type": "string"}, parts]},
    }
    own = {name: {"type": "string"} for name in ("id", "status", "phase")}
    return {"type": "object", "properties": fields | own, "required": ["role", "content"]}


def anthropic() -> Schema:
    """The messages of the Messages API, by role."""
    answers = {_type_of(block) for block in get_args(get_args(BetaContentBlock)[0])}
    blocks = [each for each in get_args(BetaContentBlockParam) if not _is_model(each)]
    definitions = _definitions((*blocks, *get_args(BetaMessageParam)))
    for name, field, limit, _ in ANTHROPIC_LIMITS:
        definitions[name]["properties"][field] |= limit
    kinds = {
        definitions[each.__name__]["properties"]["type"]["const"]: each.__name__ for each in blocks
    }
    for definition in definitions.values():
        kind = definition.get("properties", {}).get("type", {}).get("const")
        made = kind not in ANTHROPIC_WRITTEN and (kind in kinds or kind == "browser_state")
        for field in definition.get("properties", {}):
            if field in ANTHROPIC_FREE or (made and field not in ("type", "id", "tool_use_id")):
                definition["properties"][field] = {}
    result = definitions["BetaToolResultBlockParam"]
    text_alone: Schema = {"anyOf": [{"type": "string"}, _list_of(["BetaTextBlockParam"])]}
    failed = {"properties": {"is_error": {"const": True}}, "required": ["is_error"]}
    result |= {"if": failed, "then": {"properties": {"content": text_alone}}}
    said = {kind for kind in kinds if kind in answers or kind in ANTHROPIC_BOTH}
    asked = {kind for kind in kinds if kind not in answers or kind in ANTHROPIC_BOTH}
    roles = {
        "user": _message("user", (kinds[kind] for kind in asked)),
        "assistant": _message("assistant", (kinds[kind] for kind in said)),
        "system": _message("system", (each.__name__ for each in get_args(SystemBlock))),
    }
    for field in BetaSystemMessageParam.__annotations__:  # settings, which are not text
        roles["system"]["properties"].setdefault(field, {})
    limits = {"cache_control": CACHE_CONTROLS}
    source = "anthropic.types.beta.BetaMessageParam"
    beside = {"system": roles["user"]["properties"]["content"], "tools": ANTHROPIC_TOOLS}
    return {"beside": beside, **_file("anthropic", source, roles, definitions, limits)}


def gemini() -> Schema:
    """The contents of Google's Gemini API, with fields in camel case or snake case."""
    definitions = _definitions((Content, Part))
    for name, definition in definitions.items():
        fields = definition.get("properties", {})
        if name not in GEMINI_WRITTEN:
            definition.pop("properties", None)
        for field in list(fields):
            fields[_snake(field)] = fields[field]
    for name in ("FunctionCall", "FunctionResponse"):
        definitions[name]["required"] = ["name"]  # https://ai.google.dev/api/caching#FunctionCall
    # "required oneof field 'data' must have one initialized field"
    definitions["Part"]["minProperties"] = 1
    part = definitions["Part"]["properties"]
    for field, schema in part.items():
        if schema.get("$ref") not in GEMINI_WRITTEN and field != "text":
            part[field] = {}
    roles: dict[str, Schema] = {"other": {"$ref": "Content"}}
    return _file("google-genai", "google.genai.types.Content", roles, definitions, {})


def converse() -> Schema:
    """The messages of Amazon Bedrock's Converse API, from its service model."""
    model = Loader().load_service_model("bedrock-runtime", "service-2")
    definitions = {name: _shape(shape) for name, shape in model["shapes"].items()}
    definitions["DocumentBlockNameString"]["pattern"] = CONVERSE_DOCUMENT
    content = definitions["ContentBlock"]
    roles: dict[str, Schema] = {}
    for role in model["shapes"]["ConversationRole"]["enum"]:
        fields = content["properties"].items()
        taken = {name: each for name, each in fields if CONVERSE_ROLES.get(name, role) == role}
        listed = {"type": "array", "items": content | {"properties": taken}}
        roles[role] = {**definitions["Message"], "properties": {"role": {}, "content": listed}}
    limits = {"call_id": model["shapes"]["ToolUseId"]["max"]}
    file = _file("botocore", "bedrock-runtime/service-2", roles, definitions, limits)
    return {"nulls": False, **file}  # which its package refuses to send


def _shape(shape: Schema) -> Schema:
    """A shape of an Amazon service model as JSON Schema, without bytes, numbers and documents."""
    kind = shape["type"]
    if kind == "structure":
        if shape.get("document"):
            return {}
        fields = {
            name: {} if name in CONVERSE_FREE else {"$ref": member["shape"]}
            for name, member in shape["members"].items()
        }
        limits: Schema = {"required": shape["required"]} if shape.get("required") else {}
        if shape.get("union"):
            limits["maxProperties"] = limits["minProperties"] = 1
        return {"type": "object", "properties": fields, **limits}
    if kind == "list":
        limits = {"minItems": shape["min"]} if shape.get("min") else {}
        return {"type": "array", "items": {"$ref": shape["member"]["shape"]}, **limits}
    if kind != "string":
        return {}
    names = {"min": "minLength", "max": "maxLength", "pattern": "pattern", "enum": "enum"}
    limits = {names[key]: value for key, value in shape.items() if key in names}
    return {"enum": shape["enum"]} if "enum" in shape else {"type": "string", **limits}


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def _message(role: str, names: Iterable[str]) -> Schema:
    content: Schema = {"anyOf": [{"type": "string"}, _list_of(sorted(names))]}
    properties = {"role": {"const": role}, "content": content}
    return {
        "type": "object",
        "properties": properties,
        "required": ["role"],
    }


def _list_of(names: Iterable[str]) -> Schema:
    return {"type": "array", "items": {"anyOf": [{"$ref": name} for name in names]}}


def _least_one(content: Schema) -> None:
    """Require lists of parts to have one: "Expected an array with minimum length 1"."""
    for branch in content.get("anyOf", ()):
        if branch.get("type") == "array":
            branch["minItems"] = 1


def _type_of(block: type[BaseModel]) -> str:
    return str(get_args(block.model_fields["type"].annotation)[0])


def _is_model(each: object) -> bool:
    return not (isinstance(each, type) and issubclass(each, dict))


def _definitions(types: tuple[object, ...]) -> dict[str, Schema]:
    """The types and all that they are made of, by name."""
    union = TypeAdapter(Union[types])  # noqa: UP007 - made of a list
    found: dict[str, Schema] = union.json_schema(ref_template="{model}")["$defs"]
    return {name: _bare(definition) for name, definition in found.items()}


def _bare(value: Any, *, names: bool = False) -> Any:
    """The schema without prose and what is always so; ``names``: the keys are names of fields."""
    if isinstance(value, list):
        return [_bare(each) for each in value]
    if not isinstance(value, dict):
        return value
    if not names and "anyOf" in value:
        branches = [each for each in value["anyOf"] if each != {"type": "null"}]
        if len(branches) == 1:
            return _bare(branches[0])
        value = {**value, "anyOf": branches}
    idle = {*_PROSE, "type"} if {"const", "enum"} & value.keys() else _PROSE
    return {
        key: _bare(each, names=key == "properties")
        for key, each in value.items()
        if names or key not in idle
    }


def _reached(names: Iterable[str], definitions: dict[str, Schema]) -> Iterator[str]:
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            yield name
            waiting += _references(definitions[name])


def _references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)


def _file(
    package: str, source: str, roles: Schema, definitions: dict[str, Schema], limits: Schema
) -> Schema:
    needed = sorted(_reached(_references(roles), definitions))
    return {
        "written": datetime.now(tz=UTC).date().isoformat(),
        "from": f"{source} of {package} {version(package)}, by tools/wire_schemas.py",
        "limits": limits,
        "roles": dict(sorted(roles.items())),
        "definitions": {name: definitions[name] for name in needed},
    }


def _line(key: str, value: object) -> str:
    return f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}"


def _text(schema: Schema) -> str:
    """JSON with a line for each type."""
    types = ",\n".join(_line(name, each) for name, each in schema["definitions"].items())
    rest = ",\n".join(_line(key, value) for key, value in schema.items() if key != "definitions")
    return f'{{\n{rest},\n"definitions": {{\n{types}\n}}\n}}\n'


def main() -> None:
    """Write a file for each wire."""
    for wire in (openai_chat, openai_responses, anthropic, gemini, converse):
        name, schema = wire.__name__, wire()
        file = FOLDER / f"published_{name}.json"
        file.write_text(_text(schema), "utf-8")
        print(f"{file.name}: {len(schema['definitions'])} types, {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
