"""Messages of LangChain: its objects, and the JSON that its packages write.

What this format does differently: a message has a ``type`` instead of a role; a call's arguments
are objects; the content may have blocks of the model's vendor, which repeat the calls and hold the
reasoning, and are kept unchanged. The rest is as in Chat Completions, and is read as such. The JSON
may be under ``data`` or ``kwargs``, as ``messages_to_dict`` and ``dumpd`` write it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from holdfast.kernel.messages import MEDIA_KINDS, Media, MediaKind, Reasoning, ToolResult
from holdfast.kernel.registry import imported

from . import LANGCHAIN_ROLES, langchain_fields, langchain_type, langchain_wrap
from .convert import shown
from .openai_chat import OpenAIChat
from .payloads import Located, Node, Object, is_list, is_object, objects_in, parsed_object
from .rules.messages import ArgumentsGiven, CallListNotEmpty, ContentGiven
from .wire import FrameworkWire

_TYPES: Mapping[str, str] = {role: kind for kind, role in LANGCHAIN_ROLES.items()} | {
    "developer": "system"
}
_REASONED = {"thinking": "thinking", "reasoning": "reasoning", "redacted_thinking": "data"}
_UNSEEN = frozenset({*_REASONED, "tool_use", "tool_call", "function_call"})
"""Blocks that are read elsewhere: as reasoning, and as calls."""
_MEDIA: Mapping[str, MediaKind] = {**{kind: kind for kind in MEDIA_KINDS}, "file": "document"}


class LangChain(FrameworkWire, OpenAIChat):
    """Messages of ``langchain_core``."""

    name = "langchain"
    rules = tuple(
        rule
        for rule in OpenAIChat.rules
        if not isinstance(rule, ArgumentsGiven | CallListNotEmpty | ContentGiven)
    )

    def view(self, original: object) -> Object:
        """The message in the form of Chat Completions; other fields are passed through."""
        fields = langchain_fields(original)
        if not fields:
            return super().view(original)
        kind, content = langchain_type(fields), fields.get("content")
        value: dict[str, Any] = {
            "role": LANGCHAIN_ROLES[kind] or fields.get("role"),
            "content": content,
        }
        if is_list(content):
            value["content"] = [_block(block) for block in content if not _unseen(block)]
            thinking = (
                Node(block, "content").text(_REASONED[kind])
                for block in objects_in(content)
                if (kind := str(block.get("type"))) in _REASONED
            )
            value["reasoning_content"] = "\n".join(filter(None, thinking))
        calls = fields.get("tool_calls")
        if calls:
            value["tool_calls"] = list(map(_call, calls)) if is_list(calls) else calls
        for field in ("name", "tool_call_id"):
            if fields.get(field):
                value[field] = fields[field]
        return value | ({"status": "error"} if fields.get("status") == "error" else {})

    def rebuilt(self, value: Object, was: object = None) -> object:
        """The message of this view; fields that the view does not show are taken from ``was``."""
        fields = langchain_fields(was)
        old: Object = self.view(was) if fields else {}
        if not fields or old["role"] != value.get("role"):
            return self._made(value)
        now: dict[str, Any] = {
            field: each for field, each in value.items() if each != old.get(field)
        }
        if "content" in now and is_list(now["content"]):
            now["content"] = list(_merged(fields["content"], now["content"]))
        if "tool_calls" in now:
            now["tool_calls"] = list(map(_own_call, now["tool_calls"]))
        if not is_object(was):
            return cast("Any", was).model_copy(update=now)
        wrap = langchain_wrap(was)
        return {**was, wrap: {**was[wrap], **now}} if wrap else {**was, **now}

    def locate(self, message: Node) -> Located:
        """As in Chat Completions; reasoning is not changed, since it may be signed."""
        for part, path in super().locate(message):
            if isinstance(part, Reasoning):
                yield Reasoning(part.text, signed=True), path
            elif isinstance(part, ToolResult) and message.value.get("status"):
                yield part._replace(is_error=True), path
            else:
                yield part, path

    def _made(self, value: Object) -> object:
        """A new message."""
        kind = _TYPES[value["role"]]
        fields = {field: each for field, each in value.items() if field != "role" and each}
        made = {"type": kind, **fields, "content": value.get("content") or ""}
        if "tool_calls" in fields:
            made["tool_calls"] = list(map(_own_call, fields["tool_calls"]))
        if not self.objects:
            return made
        make = imported("langchain_core.messages.utils:convert_to_messages")
        return cast("list[object]", make([made]))[0]


def _unseen(block: object) -> bool:
    return is_object(block) and str(block.get("type")) in _UNSEEN


def _block(block: object) -> object:
    """A block of the content in the form of Chat Completions."""
    if not is_object(block):
        return {"type": "text", "text": block} if isinstance(block, str) else block
    kind = _MEDIA.get(str(block.get("type")))
    if kind is None or "file" in block:
        return block
    source = block.get("source")
    held: Object = source if is_object(source) else block
    media_type = held.get("mime_type") or held.get("media_type") or ""
    found = (held[field] for field in ("base64", "data", "url", "file_id", "id") if held.get(field))
    return shown(Media(kind, str(media_type), str(next(found, ""))))


def _merged(content: object, now: Sequence[Any]) -> Iterator[object]:
    """The new blocks, together with those that the view does not show."""
    left = list(now)
    for block in content if is_list(content) else ():
        if _unseen(block):
            yield block
        elif left:
            each = left.pop(0)
            yield block if each == _block(block) else each
    yield from left


def _call(call: object) -> object:
    """A call in the form of Chat Completions, whose reader refuses anything else."""
    if not is_object(call):
        return call
    called = {"name": call.get("name"), "arguments": call.get("args")}
    return {"id": call.get("id"), "type": "function", "function": called}


def _own_call(call: Object) -> Object:
    function = call["function"]
    arguments = function["arguments"]
    given = arguments if is_object(arguments) else parsed_object(arguments)
    return {"name": function["name"], "args": dict(given), "id": call["id"], "type": "tool_call"}
