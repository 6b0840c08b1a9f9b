"""Rules on the items of the Responses API that belong together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdfast.formats.payloads import Object, objects_in
from holdfast.kernel.integrity import Rule, Violation, Violations
from holdfast.kernel.messages import Message, Messages, Reasoning, ToolCall, ToolResult

from .changes import RewritingRule, made, original, without_field
from .exchanges import NO_NAME, NO_RESULT, paired

_REFERENCE = "item_reference"
_COMPACTION = "compaction"
_KEPT = frozenset({_REFERENCE, "configuration_update", "mcp_list_tools", "tool_search_output"})
"""Items that others may need: references to items that the vendor keeps, and tools."""
_IDS = ("call_id", "approval_request_id")


class ItemExchanges(RewritingRule):
    """A call and its output are one unit, and neither may be without the other.

    Calls and outputs of the vendor's own kinds are not read; they are matched by their ids. If
    there is an ``item_reference``, an output without a call may answer the item that it refers to.
    """

    name = "tool_exchange_whole"

    def violations(self, messages: Messages) -> Violations:
        """Outputs without an earlier call, and calls without an output."""
        pairs = paired(messages)
        refers = any(_type(message) == _REFERENCE for message in messages)
        answered = set(pairs.values())
        for i, message in enumerate(messages):
            for k, part in enumerate(message.parts):
                call = pairs.get((i, k))
                late = call is not None and call[0] > i
                if isinstance(part, ToolResult) and (late or (call is None and not refers)):
                    problem = f"the output of {part.call_id!r} has no call before it"
                    yield Violation(self.name, i, problem)
                elif isinstance(part, ToolCall) and (i, k) not in answered:
                    yield Violation(self.name, i, f"tool call {part.id!r} has no output")

    def welds(self, messages: Messages) -> Iterable[int]:
        """Every position from a call to its output, and between calls made together."""
        ends = {call[0]: result[0] for result, call in paired(messages).items()}
        ends |= _of_other_kinds(messages)
        return {
            position
            for start, stop in ends.items()
            for position in range(min(start, stop) + 1, max(start, stop) + 1)
        }

    def rewritten(self, messages: Messages) -> Iterable[Message]:
        """The items with each output after its call, and new items for missing ones."""
        pairs = paired(messages)
        answers = {call[0]: result[0] for result, call in pairs.items()}
        early = {result: call for call, result in answers.items() if result < call}
        for i, message in enumerate(messages):
            item = original(message)
            for result in message.results if (i, 0) not in pairs else ():
                yield made(message.wire, _call_for(item, result.call_id))
            if i not in early:
                yield message
            if answers.get(i) in early:
                yield messages[answers[i]]
            for call in message.calls if i not in answers else ():
                yield made(message.wire, _output_for(item, call.id))


class ReasoningLeadsOn(RewritingRule):
    """Reasoning stays with the assistant's items after it, and may not be without them.

    The newest reasoning is kept, because the vendor continues from it.
    """

    name = "reasoning_with_its_items"

    def violations(self, messages: Messages) -> Violations:
        """Reasoning that no item of the assistant follows."""
        for i, message in enumerate(messages):
            if _reasons(message) and not _follows(messages, i):
                yield Violation(self.name, i, "no item of the assistant follows its reasoning")

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

    def mended(self, message: Message) -> None:
        """None: the reasoning is dropped, since only the vendor could make the missing items."""


class UniqueItems(RewritingRule):
    """No two items have the same id."""

    name = "item_ids_unique"

    def violations(self, messages: Messages) -> Violations:
        """An item whose id an earlier one has."""
        for i in _repeated(messages):
            yield Violation(self.name, i, f"an item before it has the id {_id(messages[i])!r}")

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
        return [i for i, message in enumerate(messages) if _is_kept(message)]


def _is_kept(message: Message) -> bool:
    if message.is_speech:
        return False
    kind = _type(message)
    if _COMPACTION in kind or kind in _KEPT:
        return True
    blocks = objects_in(original(message).get("content"))
    return any(block.get("type") == _COMPACTION for block in blocks)


def _type(message: Message) -> str:
    value = original(message)
    return _REFERENCE if set(value) == {"id"} else str(value.get("type", ""))


def _id(message: Message) -> str:
    value = original(message).get("id")
    return value if isinstance(value, str) and _type(message) != _REFERENCE else ""


def _reasons(message: Message) -> bool:
    return not message.is_speech and any(isinstance(part, Reasoning) for part in message.parts)


def _follows(messages: Messages, i: int) -> bool:
    """Whether an item of the assistant other than reasoning follows this one."""
    for message in messages[i + 1 :]:
        if message.role != "assistant":
            return False
        if not _reasons(message):
            return True
    return False


def _repeated(messages: Messages) -> dict[int, int]:
    """From each repeated item to the first item with its id."""
    first: dict[str, int] = {}
    found: dict[int, int] = {}
    for i, message in enumerate(messages):
        if (name := _id(message)) and first.setdefault(name, i) != i:
            found[i] = first[name]
    return found


def _of_other_kinds(messages: Messages) -> dict[int, int]:
    """From an unread item with an id to the last unread item with the same id."""
    first: dict[str, int] = {}
    found: dict[int, int] = {}
    for i, message in enumerate(messages):
        if message.is_speech or message.calls or message.results:
            continue
        value = original(message)
        names = [value.get(field) for field in _IDS]
        names += [value.get("id")] if value.get("type") == "mcp_approval_request" else []
        for name in names:
            if isinstance(name, str) and first.setdefault(name, i) != i:
                found[first[name]] = i
    return found


def _call_for(output: Object, call_id: str) -> dict[str, Any]:
    kind = str(output["type"]).removesuffix("_output")
    if kind == "custom_tool_call":
        return {"type": kind, "call_id": call_id, "name": NO_NAME, "input": ""}
    return {"type": "function_call", "call_id": call_id, "name": NO_NAME, "arguments": "{}"}


def _output_for(call: Object, call_id: str) -> dict[str, Any]:
    kind = call["type"] if call["type"] == "custom_tool_call" else "function_call"
    return {"type": f"{kind}_output", "call_id": call_id, "output": NO_RESULT}
