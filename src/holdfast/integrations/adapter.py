"""Messages of a framework as those of a wire, and back: what stays untouched is the very same object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from holdfast.http.endpoints import Endpoint
from holdfast.http.fitter import Fitter

M = TypeVar("M")

CHAT = Endpoint("openai", "openai_chat")


def fitted(
    fitter: Fitter,
    messages: Sequence[M],
    outward: Callable[[M], Mapping[str, Any]],
    inward: Callable[[Mapping[str, Any], M | None], M],
    *,
    thread: str = "",
    **beside: Any,
) -> list[M]:
    """The messages that fit, in the framework's own form.

    ``outward`` gives a message as Chat Completions has it, ``inward`` the framework's message for
    one that was changed or inserted, with the tool's result that it was, if it was one. ``beside``
    are further fields of the request, such as ``model`` and ``tools``.
    """
    shadows = [outward(message) for message in messages]
    given = {id(shadow): message for shadow, message in zip(shadows, messages, strict=True)}
    results = {
        shadow["tool_call_id"]: message
        for shadow, message in zip(shadows, messages, strict=True)
        if "tool_call_id" in shadow
    }
    body = fitter.fit_body({**beside, "messages": shadows}, CHAT, thread=thread)
    if body["messages"] is shadows:
        return list(messages)
    return [
        given[id(each)]
        if id(each) in given
        else inward(each, results.get(each.get("tool_call_id", "")))
        for each in body["messages"]
    ]
