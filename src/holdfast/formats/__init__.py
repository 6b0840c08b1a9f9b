"""The message formats of providers, one file each, and the marks by which each is recognised.

A format's file is loaded when its messages are read, not to find out whose they are.
"""

from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain
from typing import Any, cast

from holdfast.kernel.errors import FormatError
from holdfast.kernel.messages import MEDIA_KINDS
from holdfast.kernel.registry import Registry
from holdfast.kernel.transcript import Format, Transcript

from .payloads import (
    MESSAGES,
    Object,
    as_sent,
    body_of,
    is_list,
    is_object,
    messages_of,
    objects_in,
)

FORMATS = Registry(
    "format",
    "formats",
    """
        langchain holdfast.formats.langchain:LangChain
        pydantic_ai holdfast.formats.pydantic_ai:PydanticAI
        openai_responses holdfast.formats.openai_responses:OpenAIResponses
        gemini holdfast.formats.gemini:Gemini
        converse holdfast.formats.converse:Converse
        anthropic holdfast.formats.anthropic:Anthropic
        openai_chat holdfast.formats.openai_chat:OpenAIChat
        bedrock holdfast.formats.anthropic:Bedrock
        plain holdfast.formats.plain:Plain
    """,
    aliases="""
        openai openai_chat
        responses openai_responses
        azure openai_chat
        google gemini
        bedrock_converse converse
        claude anthropic
        vertex anthropic
    """,
)
"""The formats, and names of providers that use them."""


def named(name: str | Format) -> Format:
    """Return the format of this name, or the given object. Raises ConfigError for another name."""
    if isinstance(name, Format):
        return name
    return _made(name) if isinstance(cast("object", name), str) else FORMATS.load(name)


@cache  # they hold nothing, and a session detects the format of every message
def _made(name: str) -> Format:
    found: Format = FORMATS.load(name)()
    return found


def detect(payload: object, name: str | Format | None = None) -> Format:
    """Return the named format, or the first whose marks the payload has.

    Formats of other packages are asked after these. If none recognises it, it is ``plain``, whose
    reader reports what is wrong and where. Raises FormatError for anything but a list or a request
    body.
    """
    if name is not None:
        return named(name)
    own = recognised(payload)
    if own:
        return _made(own)
    others = map(_made, FORMATS.added())
    return next((form for form in others if form.recognises(payload)), _made("plain"))


def read(
    payload: Any, name: str | Format | None = None, tools: object = None
) -> tuple[Any, Format, Transcript]:
    """Return the payload, its format and its messages.

    A payload with SDK objects that the format cannot read is returned as the SDK would send it.
    Raises FormatError if it cannot be read.
    """
    try:
        form = detect(payload, name)
        return payload, form, form.read(payload, tools)
    except FormatError:
        sent = as_sent(payload)
        if sent is payload:
            raise
    return read(sent, name, tools)


def recognised(payload: object) -> str:
    """The name of the format whose marks the payload has, the first in the order of ``MARKS``.

    Empty if it has none of them. Raises FormatError for anything but a list or a request body.
    """
    seen = _Seen(payload)
    return next((name for name, has_marks in MARKS.items() if has_marks(seen)), "")


class _Seen:
    """The places of a payload in which formats have their marks."""

    def __init__(self, payload: object) -> None:
        self.payload = payload
        self.body = body_of(payload)
        held: object = payload.get(MESSAGES) if is_object(payload) else payload
        self.first: object = held[0] if is_list(held) and held else None
        self.messages = list(objects_in(held))
        self.fields = set[str]().union(*self.messages)
        self.roles = {str(message.get("role")) for message in self.messages}
        contents = (objects_in(message.get("content")) for message in self.messages)
        self.blocks = list(chain.from_iterable(contents))
        self.kinds = {str(block.get("type")) for block in self.blocks}
        self.block_fields = set[str]().union(*self.blocks)
        self.tool_fields = set[str]().union(*objects_in(self.body.get("tools")))

    def has_only(self, field: str) -> bool:
        """Whether the body has its messages in this field."""
        return field in self.body and MESSAGES not in self.body


# frameworks, whose messages may be objects; the first message decides

LANGCHAIN_ROLES: Mapping[str, str] = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "function",
    "chat": "",
}
"""LangChain's roles by message type; a chat message has a role of its own."""


def langchain_fields(message: object) -> Object:
    """The fields of a LangChain message; none for anything else."""
    fields: Object = {}
    if is_object(message):
        wrap = langchain_wrap(message)
        fields = {"type": message.get("type"), **message[wrap]} if wrap else message
    elif hasattr(message, "additional_kwargs"):
        fields = vars(message)
    kind = langchain_type(fields)
    return fields if kind in LANGCHAIN_ROLES and ("role" in fields) == (kind == "chat") else {}


def langchain_wrap(message: Object) -> str:
    """The field of LangChain's JSON that holds the message; empty if it is not wrapped."""
    return next((field for field in ("data", "kwargs") if is_object(message.get(field))), "")


def langchain_type(fields: Object) -> str:
    """The type of a LangChain message; a chunk of a stream has the type of a whole message."""
    kind = str(fields.get("type"))
    return kind.removesuffix("MessageChunk").lower() if kind.endswith("Chunk") else kind


def pydantic_ai_fields(message: object) -> Object:
    """The fields of a Pydantic AI message; none for anything else."""
    fields: Object = {}
    if is_object(message):
        fields = message
    elif hasattr(message, "parts") and hasattr(message, "kind"):
        fields = vars(message)
    known = fields.get("kind") in ("request", "response") and is_list(fields.get("parts"))
    return fields if known else {}


# vendors

ITEM_CALLS: Mapping[str, str] = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
}
"""The types of calls among items of the Responses API, and the fields of their arguments."""

ITEM_OUTPUTS = frozenset(f"{kind}_output" for kind in ITEM_CALLS)
_ITEMS = {*ITEM_CALLS, *ITEM_OUTPUTS}.union(
    "additional_tools compaction compaction_trigger configuration_update item_reference program"
    " reasoning".split()
)
_ITEM_ENDINGS = ("_call", "_output", "_tools", "_request", "_response")
"""How the types of other items end, such as those of hosted tools; a message has a role."""
_ITEM_PARTS = frozenset({"input_text", "input_image", "input_file", "output_text"})


def _is_responses(seen: _Seen) -> bool:
    """Whether a body has ``input`` and no messages, or a type that only this API has."""
    if seen.body:
        return seen.has_only("input")
    return bool(seen.kinds & _ITEM_PARTS) or any(map(_is_item, seen.messages))


def _is_item(message: Object) -> bool:
    kind = str(message.get("type"))
    return kind in _ITEMS or ("role" not in message and kind.endswith(_ITEM_ENDINGS))


def _is_gemini(seen: _Seen) -> bool:
    """Whether a body has only ``contents``, or messages have parts without a type."""
    if seen.body:
        return seen.has_only("contents")
    return any(
        is_list(parts := message.get("parts"))
        and "content" not in message
        and not any("type" in part for part in objects_in(parts))
        for message in seen.messages
    )


_CONVERSE_BLOCKS = frozenset("toolUse toolResult reasoningContent cachePoint guardContent".split())
_CONVERSE_BODY = frozenset(
    "toolConfig inferenceConfig modelId additionalModelRequestFields".split()
)


def _is_converse(seen: _Seen) -> bool:
    """Whether a field of the body exists only in Converse, or blocks have no type."""
    if seen.body.keys() & _CONVERSE_BODY or seen.block_fields & _CONVERSE_BLOCKS:
        return True
    return bool(seen.blocks) and seen.block_fields <= {"text", *MEDIA_KINDS}


_ANTHROPIC_BLOCKS = frozenset(
    "tool_use tool_result thinking redacted_thinking image document search_result server_tool_use"
    " web_search_tool_result".split()
)
_ANTHROPIC_BODY = frozenset(
    "anthropic_beta anthropic_version container context_management mcp_servers stop_sequences"
    " system thinking top_k".split()
)
FOREIGN_TO_ANTHROPIC = frozenset({"tool_calls", "tool_call_id", "function_call"})
"""Fields of messages that the Messages API refuses."""
_FOREIGN_ROLES = frozenset({"system", "developer", "tool", "function"})


def _is_anthropic(seen: _Seen) -> bool:
    """Whether a field of the body, a schema or a block exists only in the Messages API."""
    if seen.fields & FOREIGN_TO_ANTHROPIC:
        return False
    if seen.kinds & _ANTHROPIC_BLOCKS:
        return True
    told = "input_schema" in seen.tool_fields or "cache_control" in seen.block_fields
    return seen.roles.isdisjoint(_FOREIGN_ROLES) and (
        told or not _ANTHROPIC_BODY.isdisjoint(seen.body)
    )


CHAT_CARRIERS = frozenset(
    "tool_calls function_call refusal reasoning_content reasoning audio".split()
)
"""Fields of a message of Chat Completions that hold parts, beside its content."""
_CHAT_FIELDS = CHAT_CARRIERS | {"tool_call_id", "annotations"}
_CHAT_ROLES = frozenset({"tool", "function", "developer"})
_CHAT_BODY = frozenset(
    "functions function_call response_format max_completion_tokens parallel_tool_calls"
    " reasoning_effort frequency_penalty presence_penalty logprobs logit_bias seed stop n store"
    " user".split()
)


def _is_chat(seen: _Seen) -> bool:
    """Whether a role or a field exists only in Chat Completions, or content is a list or null.

    Anthropic has lists of parts too, but its marks are looked for first.
    """
    if "function" in seen.tool_fields or seen.body.keys() & _CHAT_BODY:
        return True
    if seen.fields & _CHAT_FIELDS or seen.roles & _CHAT_ROLES:
        return True
    contents = (message.get("content") for message in seen.messages)
    return any(content is None or type(content) in (list, tuple) for content in contents)


def _is_plain(seen: _Seen) -> bool:
    """Whether each message has a role and one text."""
    return all(
        is_object(message) and type(message.get("role")) is type(message.get("content")) is str
        for message in messages_of(seen.payload)
    )


MARKS: Mapping[str, Callable[[_Seen], bool]] = {
    "langchain": lambda seen: bool(langchain_fields(seen.first)),
    "pydantic_ai": lambda seen: bool(pydantic_ai_fields(seen.first)),
    "openai_responses": _is_responses,
    "gemini": _is_gemini,
    "converse": _is_converse,
    "anthropic": _is_anthropic,
    "openai_chat": _is_chat,
    "plain": _is_plain,
}
"""By format, whether a payload has its marks, in the order in which they are looked for.

Bedrock has no marks: its messages look like Anthropic's, so that it must be named.
"""
