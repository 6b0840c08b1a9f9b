"""Items of OpenAI's Responses API.

What this format does differently: a conversation is a list of items, of which messages are one
type; each call and each output is an item, and they are matched by ``call_id`` in any place;
reasoning is an item that belongs to the items after it; tools may be among the items
(``additional_tools``); an item may refer to one that the vendor keeps; ``input`` may be a string.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from holdfast.kernel.integrity import Problems, Rule
from holdfast.kernel.messages import (
    Message,
    Messages,
    Opaque,
    Reasoning,
    Role,
    Text,
    Texts,
    ToolCall,
    ToolResult,
)
from holdfast.result import listed

from . import ITEM_CALLS, ITEM_OUTPUTS
from .payloads import (
    Located,
    LocatedPart,
    Node,
    Object,
    body_of,
    is_list,
    is_object,
    joined,
    objects_in,
    parsed_object,
    refuse,
)
from .rules import RewritingRule, between, original, without_field
from .rules.exchanges import (
    NO_NAME,
    NO_RESULT,
    ResultsBehindCalls,
    UniqueCallIds,
    Written,
    paired,
)
from .rules.messages import AtLeastOne, KnownRoles
from .wire import ObjectWire


def kind_of(item: Object) -> str:
    """The type of an item; for a message, which may omit it, its role."""
    kind = item.get("type")
    if kind is None and set(item) == {"id"}:
        return _REFERENCE
    return str(item.get("role")) if kind in (None, "message") else str(kind)


_REFERENCE = "item_reference"
_COMPACTION = "compaction"
_KEPT = frozenset({_REFERENCE, "configuration_update", "mcp_list_tools", "tool_search_output"})
"""Items that others may need: references to items that the vendor keeps, and tools."""

_ANSWERS = ("_output", "_response")
_HALVES = (*_ANSWERS, "computer_call", "tool_search_call")
"""Endings of the unread kinds that the vendor refuses without their other half."""


_WITHOUT_NAME: Mapping[str, tuple[Written, Written]] = {
    "local_shell_call": (
        {"action": {"type": "exec", "command": [], "env": {}}, "status": "completed"},
        {"output": NO_RESULT},
    ),
    "shell_call": (
        {"action": {"commands": []}},
        {
            "output": [
                {"stdout": NO_RESULT, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
            ]
        },
    ),
    "apply_patch_call": (
        {
            "operation": {"type": "update_file", "path": NO_NAME, "diff": ""},
            "status": "completed",
        },
        {"output": NO_RESULT, "status": "failed"},
    ),
}
"""What a call of each of the vendor's own tools has beside its id, and what its output has."""


class ItemExchanges(ResultsBehindCalls):
    """A call and its output are one unit, and neither may be without the other.

    If there is an ``item_reference``, an output without a call may answer the item that it refers
    to.
    """

    name = "tool_exchange_whole"
    results_wait = True

    def problems(self, messages: Messages) -> Problems:
        """Outputs without an earlier call, and calls without an output."""
        pairs = paired(messages)
        refers = _refers(messages)
        answered = set(pairs.values())
        for i, message in enumerate(messages):
            item = i, 0  # a call or an output is the only part of its item
            is_fine = pairs[item][0] < i if item in pairs else refers
            for result in message.results:
                if not is_fine:
                    yield i, f"the output of {result.call_id!r} has no call before it"
            for call in message.calls:
                if item not in answered:
                    yield i, f"tool call {call.id!r} has no output"

    def welds(self, messages: Messages) -> Iterable[int]:
        """Every position from a call to its output, and between calls made together."""
        ends = ((call[0], result[0]) for result, call in paired(messages).items())
        return between(map(sorted, ends))

    def call_for(self, result: ToolResult, message: Object) -> Written:
        """An item of the kind that the output answers."""
        kind = str(message["type"]).removesuffix("_output")
        if kind in _WITHOUT_NAME:
            return {"type": kind, "call_id": result.call_id, **_WITHOUT_NAME[kind][0]}
        call = {"type": kind, "call_id": result.call_id, "name": NO_NAME}
        return {**call, ITEM_CALLS[kind]: "" if kind == "custom_tool_call" else "{}"}

    def result_for(self, call: ToolCall, message: Object) -> Written:
        """An item of the kind that answers the call."""
        kind = str(message["type"])
        told = _WITHOUT_NAME[kind][1] if kind in _WITHOUT_NAME else {"output": NO_RESULT}
        return {"type": f"{kind}_output", "call_id": call.id, **told}


class UnreadExchanges(RewritingRule):
    """A call and its output of a kind that is not read are one unit too, matched by their ids.

    One without the other is dropped, since only the vendor and its tools could make the other.
    """

    name = "unread_exchange_whole"

    def problems(self, messages: Messages) -> Problems:
        """Outputs without a call before them, and calls without an output, by no reference."""
        tied = list(_sharing(messages, _ties))
        answered, answers = {first for first, _ in tied}, {later for _, later in tied}
        refers = _refers(messages)
        for i, message in enumerate(messages):
            kind = kind_of(original(message))
            paired_so = answers if kind.endswith(_ANSWERS) else answered
            if any(_ties(message)) and kind.endswith(_HALVES) and not (refers or i in paired_so):
                yield i, f"the {kind} has no other half"

    def welds(self, messages: Messages) -> Iterable[int]:
        """Every position from a call to its output."""
        return between(_sharing(messages, _ties))


class ReasoningLeadsOn(RewritingRule):
    """Reasoning stays with the assistant's items after it, and may not be without them.

    The newest reasoning is kept, because the vendor continues from it. Without such items it is
    dropped, since only the vendor could make them.
    """

    name = "reasoning_with_its_items"

    def problems(self, messages: Messages) -> Problems:
        """Reasoning that no item of the assistant follows."""
        is_followed = False
        for i in reversed(range(len(messages))):
            if not _reasons(messages[i]):
                is_followed = messages[i].role == "assistant"
            elif not is_followed:
                yield i, "no item of the assistant follows its reasoning"

    def welds(self, messages: Messages) -> Iterable[int]:
        """Every position from reasoning through the items that follow it."""
        led = False
        for i, message in enumerate(messages):
            own = message.role == "assistant"
            if led and own:
                yield i
            led = own and (led or _reasons(message))

    def keeps(self, messages: Messages) -> Iterable[int]:
        """The newest reasoning."""
        return [i for i, message in enumerate(messages) if _reasons(message)][-1:]


class UniqueItems(RewritingRule):
    """No two items have the same id."""

    name = "item_ids_unique"

    def problems(self, messages: Messages) -> Problems:
        """An item whose id an earlier one has."""
        for i in _repeated(messages):
            yield i, f"an item before it has the id {_id(messages[i])!r}"

    def rewritten(self, messages: Messages) -> Iterable[Message]:
        """The items without repetitions; different items with one id lose the later id."""
        repeated = _repeated(messages)
        for i, message in enumerate(messages):
            if i not in repeated:
                yield message
            elif original(messages[repeated[i]]) != original(message):
                yield without_field(message, "id")


class CompactionStays(Rule):
    """The vendor's own summary of older messages is kept, and so are items that others need."""

    name = "compaction_stays"

    def keeps(self, messages: Messages) -> Iterable[int]:
        """The positions of these items, and of messages with such a block."""
        for i, message in enumerate(messages):
            if not message.is_speech:
                value = original(message)
                kinds = {str(block.get("type")) for block in objects_in(value.get("content"))}
                kind = kind_of(value)
                if _COMPACTION in kind or kind in _KEPT or _COMPACTION in kinds:
                    yield i


def _refers(messages: Messages) -> bool:
    return any(kind_of(original(message)) == _REFERENCE for message in messages)


def _id(message: Message) -> str:
    item = original(message)
    value = item.get("id")
    return value if isinstance(value, str) and kind_of(item) != _REFERENCE else ""


def _reasons(message: Message) -> bool:
    return not message.is_speech and any(isinstance(part, Reasoning) for part in message.parts)


def _repeated(messages: Messages) -> dict[int, int]:
    """From each repeated item to the first item with its id."""
    return {i: first for first, i in _sharing(messages, lambda message: [_id(message)])}


def _sharing(
    messages: Messages, names: Callable[[Message], Iterable[object]]
) -> Iterator[tuple[int, int]]:
    """The first item with a name, and each later one with that name."""
    first: dict[str, int] = {}
    for i, message in enumerate(messages):
        for name in names(message):
            if name and isinstance(name, str) and first.setdefault(name, i) != i:
                yield first[name], i


def _ties(message: Message) -> Iterable[object]:
    """The ids by which an unread item belongs to others."""
    if message.is_speech or message.calls or message.results:
        return ()
    value = original(message)
    own = ["id"] if value.get("type") == "mcp_approval_request" else []
    return map(value.get, ["call_id", "approval_request_id", *own])


class OpenAIResponses(ObjectWire):
    """The Responses API."""

    name = "openai_responses"
    field = "input"
    prompts = ("instructions",)
    rules = (
        AtLeastOne(),
        KnownRoles("system", "developer", "user", "assistant"),
        UniqueItems(),
        UniqueCallIds(everywhere=True),
        UnreadExchanges(),
        ReasoningLeadsOn(),
        ItemExchanges(),
        CompactionStays(),
    )

    def listed(self, payload: object) -> Sequence[Any]:
        """The items; an input that is a string is one user message."""
        given: object = payload.get(self.field) if is_object(payload) else None
        return listed(given) if isinstance(given, str) else super().listed(payload)

    def continues(self, payload: object) -> str:
        """The field that continues a conversation kept by the vendor; empty if there is none."""
        fields = "previous_response_id", "conversation"
        return next(filter(body_of(payload).get, fields), "")

    def named_role(self, original: object, place: str) -> Role:
        """The role of a message; an output is the tool's, any other item the assistant's."""
        if not is_object(original) or "role" in original or kind_of(original) == str(None):
            return super().named_role(original, place)
        return "tool" if kind_of(original).endswith("_output") else "assistant"

    def locate(self, message: Node) -> Located:
        """The parts of a message; any other item is one part."""
        kind = message.value.get("type")
        if kind in (None, "message") and "role" in message.value:
            return message.content("content", _part)
        return iter((_item(message),))

    def only_text(self, block: Object) -> str | None:
        """The text of a part that has nothing else."""
        kind, text = block.get("type"), block.get("text")
        said = kind in ("input_text", "output_text") and set(block) <= {
            "type",
            "text",
            "annotations",
        }
        return text if said and type(text) is str else None

    def render(self, original: object, texts: Texts) -> object:
        """A copy with these texts; the fields of an action and the streams of an output stay."""
        message = cast("Object", original)
        field = ITEM_CALLS.get(str(message.get("type")), "")
        if is_object(message.get(field)):
            before, now = message[field], parsed_object(texts[0])
            same = {k: new for k, new in now.items() if type(new) is type(before.get(k))}
            return {**message, field: {**before, **same}}
        output = message.get("output")
        if message.get("type") == "shell_call_output" and is_list(output):
            first = output[0] if output else {"outcome": {"type": "exit", "exit_code": 0}}
            return {**message, "output": [{**first, "stdout": texts[0], "stderr": ""}]}
        return super().render(original, texts)


def _item(item: Node) -> LocatedPart:
    value, kind = item.value, kind_of(item.value)
    if kind in ITEM_CALLS:
        field = ITEM_CALLS[kind]
        name = item.text("name") or kind.removesuffix("_call")
        return ToolCall(_call_id(item), name, item.written_arguments(field)), (field,)
    if kind in ITEM_OUTPUTS:
        text, media = joined(_output(item))
        return ToolResult(_call_id(item), text, media, value.get("status") == "failed"), ("output",)
    if kind == "reasoning":
        said = [*item.objects("summary"), *item.objects("content")]
        return Reasoning("\n".join(each.text("text") for each in said), signed=True), ("summary",)
    return Opaque(item.json()), ()


def _call_id(item: Node) -> str:
    advice = "a call and its output name the same call_id"
    field = "call_id" if item.value.get("call_id") or not item.value.get("id") else "id"
    return item.id(field, f"the {item.value['type']}", advice)


def _output(item: Node) -> Located:
    output = item.value.get("output")
    if item.value.get("type") != "shell_call_output":
        yield from item.content("output", _part)
    elif not is_list(output):
        refuse(output, item.place("output"), "give a list of what each command wrote")
    else:
        for each in item.objects("output"):
            for stream in ("stdout", "stderr"):
                if each.value.get(stream):
                    yield Text(each.text(stream)), ()


def _part(part: Node) -> LocatedPart:
    kind = str(part.value.get("type"))
    if kind == "input_image":
        return part.media("image", "image_url", "file_id")
    if kind == "input_audio":
        return part.object(kind).media("audio", "data", media_type="format")
    if kind == "input_file":
        return part.media("document", "file_data", "file_url", "file_id")
    if kind in ("input_text", "output_text", "text", "refusal"):
        part.tells("annotations", "logprobs")
        return part.spoken("refusal" if kind == "refusal" else "text")
    return part.unknown()
