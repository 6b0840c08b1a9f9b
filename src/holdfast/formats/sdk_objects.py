"""SDK objects in a list of messages, read as what the SDK would send.

Vendors' packages answer with pydantic models, and agents append those to their history unchanged: a
whole message, the blocks of its content, its tool calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_
from typing import Any, Protocol, runtime_checkable

from holdfast.kernel.errors import FormatError
from holdfast.kernel.registry import imported

from .payloads import MESSAGES, is_list, is_object

_LISTS = ("content", "tool_calls")
_MARKS = ("role", "type")
_ANSWER = "message"  # the type of a Messages API answer, of which the API accepts two fields
_TAKEN_BACK = ("role", "content")


class _Writes(Protocol):
    def dump_python(self, value: object, *, mode: str) -> object: ...


@runtime_checkable
class _Dumps(Protocol):
    def model_dump(self, *, mode: str, exclude_unset: bool) -> object: ...


def as_sent(payload: Any) -> Any:
    """The payload with dictionaries for such objects; the same payload if it has none.

    Unset fields are left out, as the packages of OpenAI and Anthropic do when they send the object.
    Raises FormatError for a message that contains itself.
    """
    found: object = payload.get(MESSAGES) if is_object(payload) else payload
    if not is_list(found):
        return payload
    try:
        messages = [_item(message) for message in found]
    except RecursionError as fault:
        problem = "a message is nested too deeply, or holds itself"
        raise FormatError(problem, advice="give it less deeply nested") from fault
    if all(map(is_, messages, found)):
        return payload
    made = tuple(messages) if isinstance(found, tuple) else messages
    return {**payload, MESSAGES: made} if is_object(payload) else made


def _item(item: Any) -> Any:
    """A message, a block or a call; only objects that are messages or blocks are converted."""
    if is_object(item):
        return _object(item)
    if isinstance(item, _Dumps):
        unset = hasattr(item, "additional_kwargs")  # LangChain's, which never set their type
        dumped = item.model_dump(mode="json", exclude_unset=not unset)
    elif hasattr(item, "parts") and hasattr(item, "kind"):  # Pydantic AI's
        adapter: _Writes = imported("pydantic:TypeAdapter")(item.__class__)
        return adapter.dump_python(item, mode="json")
    else:
        return item
    if not is_object(dumped) or not any(mark in dumped for mark in _MARKS):
        return item
    if dumped.get("type") == _ANSWER:
        return {field: dumped.get(field) for field in _TAKEN_BACK}
    return dumped


def _object(item: Mapping[str, Any]) -> Mapping[str, Any]:
    changed: dict[str, list[Any]] = {}
    for field in _LISTS:
        values = item.get(field)
        if is_list(values):
            made = [_item(value) for value in values]
            if not all(map(is_, made, values)):
                changed[field] = made
    return {**item, **changed} if changed else item
