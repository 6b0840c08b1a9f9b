"""Conversations of every form, drawn from a seeded generator: valid ones, broken ones, empty
and huge contents.
"""

import copy
import json
from random import Random
from typing import Any

from holdfast.compressors.summaries import mark
from holdfast.formats.convert import convert

WORDS = (
    "retry budget cache the a deploy failed order W2611340 /srv/app/main.py 404 déjà "
    "vu naïve 你好 世界 🙂 e\u0301"
).split()
ODD = (
    "",
    " ",
    "\n",
    "\x00",
    "<|endoftext|>",
    "\ud800",
    "a" * 3000,
    " " * 2000,
    "{}" * 400,
    "\r\n" * 30,
    "[1, 2",
)
ROLES = ("user", "assistant")


def words(rng: Random, most: int = 60) -> str:
    """Some words, now and then something odd, now and then a lot of it."""
    if rng.random() < 0.06:
        return rng.choice(ODD)
    text = " ".join(rng.choices(WORDS, k=rng.randint(1, most)))
    if rng.random() < 0.15:
        text = "\n".join(f"{n}: {text}" for n in range(rng.randint(2, 30)))
    return text


def output(rng: Random) -> str:
    """What a tool returns: words, records as JSON, lines of a log."""
    kind = rng.random()
    if kind < 0.2:
        record = {
            "id": rng.randint(1, 10**9),
            "status": rng.choice(WORDS),
            "note": None,
            "price": rng.random(),
        }
        records = [{**record, "id": record["id"] + n} for n in range(rng.randint(1, 30))]
        return json.dumps(records, indent=rng.choice((None, 2)))
    if kind < 0.3:
        return "\n".join(
            f"2026-11-20 10:{n:02}:00 {rng.choice(('INFO', 'INFO', 'ERROR'))} "
            f"{rng.choice(WORDS)} took {n} ms"
            for n in range(rng.randint(1, 50))
        )
    return words(rng, 200)


def sayable(rng: Random, most: int = 60) -> str:
    """As ``words``, and never blank: what a vendor takes as a text."""
    return words(rng, most).strip() or "ok"


class Ids:
    """Call ids: new ones, and now and then one that was used before."""

    def __init__(self, rng: Random, *, reuse: float) -> None:
        self._rng, self._reuse, self._given = rng, reuse, 0

    def next(self) -> str:
        """An id."""
        if not self._given or self._rng.random() >= self._reuse:
            self._given += 1
        return f"call_{self._given}"


def plain(rng: Random) -> list[Any]:
    """Role and text alone."""
    messages = [{"role": "system", "content": words(rng)}] if rng.random() < 0.6 else []
    for _ in range(_length(rng)):
        messages += _again(rng, messages) or [{"role": _role(rng), "content": words(rng)}]
    return _retold(rng, messages, ("user", "assistant", "system"))


def _again(rng: Random, messages: list[Any]) -> list[Any]:
    """Now and then what was said last, once more: the same question with the same answer."""
    return copy.deepcopy(messages[-2:]) if rng.random() < 0.25 else []


def _role(rng: Random) -> str:
    return rng.choice((*ROLES, "human", "system") if rng.random() < 0.1 else ROLES)


def openai_chat(rng: Random) -> list[Any]:
    """Chat completions with parallel and successive calls."""
    messages: list[Any] = (
        [{"role": rng.choice(("system", "developer")), "content": words(rng)}]
        if rng.random() < 0.7
        else []
    )
    return _broken(rng, _retold(rng, _talk(rng, messages), ("user", "assistant", "system")))


def _talk(rng: Random, messages: list[Any]) -> list[Any]:
    """The messages, and after them words and exchanges of Chat Completions."""
    ids = Ids(rng, reuse=0.03)
    length = len(messages) + _length(rng)
    while len(messages) < length:
        kind = rng.random()
        if kind < 0.3:
            messages.append({"role": "user", "content": _openai_content(rng)})
        elif kind < 0.45:
            messages.append({"role": "assistant", "content": sayable(rng), **_extra(rng)})
        else:
            messages.extend(_openai_exchange(rng, ids))
    return messages


def openai_responses(rng: Random) -> Any:
    """Items of the Responses API: reasoning before replies, tools and a compaction among them."""
    items: list[Any] = []
    for item in convert(_talk(rng, []), "openai_responses", "openai_chat")["input"]:
        own = item.get("role") == "assistant" or item.get("type") == "function_call"
        if own and rng.random() < 0.4:
            items.append({"type": "reasoning", "summary": [], "encrypted_content": "gAAAA" * 20})
        items.append(item)
    if rng.random() < 0.2:
        tools = [{"type": "function", "name": "read_file", "parameters": {"type": "object"}}]
        items.insert(0, {"type": "additional_tools", "role": "developer", "tools": tools})
    if rng.random() < 0.2:
        items.insert(rng.randint(0, 1), {"type": "compaction", "encrypted_content": "gAAAA" * 20})
    items = _broken(rng, _retold(rng, items, ("user", "assistant", "system")))
    return (
        {"model": "gpt-5", "instructions": words(rng), "input": items}
        if rng.random() < 0.3
        else items
    )


def gemini(rng: Random) -> Any:
    """Contents of Gemini, some with signatures of thoughts."""
    contents = convert(_talk(rng, []), "gemini", "openai_chat")["contents"]
    for content in contents:
        if content["role"] == "model" and rng.random() < 0.3:
            content["parts"][0]["thoughtSignature"] = "c2lnbmVk"
    contents = _broken(rng, contents)
    return (
        {"contents": contents, "systemInstruction": words(rng)} if rng.random() < 0.3 else contents
    )


def converse(rng: Random) -> list[Any]:
    """Messages of the Converse API."""
    return _broken(rng, convert(_talk(rng, []), "converse", "openai_chat")["messages"])


def _openai_exchange(rng: Random, ids: Ids) -> list[Any]:
    calls = list(dict.fromkeys(ids.next() for _ in range(rng.choice((1, 1, 1, 2, 3)))))
    head = {
        "role": "assistant",
        "content": rng.choice((None, "", sayable(rng, 10))),
        "tool_calls": [_openai_call(rng, call) for call in calls],
        **_extra(rng),
    }
    return [
        head,
        *({"role": "tool", "tool_call_id": call, "content": output(rng)} for call in calls),
    ]


def _openai_call(rng: Random, call: str) -> dict[str, Any]:
    arguments = json.dumps({"path": rng.choice(WORDS), "text": sayable(rng, 40)})
    return {
        "id": call,
        "type": "function",
        "function": {"name": rng.choice(("read_file", "search")), "arguments": arguments},
    }


def _openai_content(rng: Random) -> Any:
    if rng.random() < 0.8:
        return words(rng)
    image = {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"},
    }
    unknown = {"type": "hologram", "beam": [1, 2, {"three": 12345678901234567890}]}
    return [
        {"type": "text", "text": sayable(rng)},
        *rng.sample((image, unknown), rng.randint(0, 2)),
    ]


def anthropic(rng: Random) -> Any:
    """Messages of Anthropic's API, now and then as a whole body; thinking in some of them."""
    ids = Ids(rng, reuse=0.01)
    thinks = rng.random() < 0.4
    messages: list[Any] = []
    length = _length(rng)
    while len(messages) < length:
        messages.append({"role": "user", "content": _anthropic_content(rng)})
        for _ in range(rng.choice((0, 1, 1, 2, 4))):
            messages.extend(_anthropic_exchange(rng, ids, thinks=thinks))
        if rng.random() < 0.8:
            messages.append(
                {"role": "assistant", "content": [{"type": "text", "text": sayable(rng)}]}
            )
    messages = _broken(rng, _retold(rng, messages, ("user",)))
    if rng.random() < 0.3:
        return {
            "model": "claude-sonnet-4-5",
            "max_tokens": 1024,
            "system": words(rng),
            "messages": messages,
        }
    return messages


def _anthropic_exchange(rng: Random, ids: Ids, *, thinks: bool) -> list[Any]:
    calls = list(dict.fromkeys(ids.next() for _ in range(rng.choice((1, 1, 2, 3)))))
    blocks: list[Any] = []
    if thinks and rng.random() < 0.8:
        blocks.append({"type": "thinking", "thinking": words(rng), "signature": "c2lnbmVk"})
    if rng.random() < 0.4:
        blocks.append({"type": "text", "text": sayable(rng, 15)})
    blocks += [
        {"type": "tool_use", "id": call, "name": "read_file", "input": {"path": rng.choice(WORDS)}}
        for call in calls
    ]
    results: list[Any] = [_anthropic_result(rng, call) for call in calls]
    if rng.random() < 0.1:
        results.append({"type": "text", "text": sayable(rng, 10)})
    return [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]


def _anthropic_result(rng: Random, call: str) -> dict[str, Any]:
    content: Any = output(rng)
    if rng.random() < 0.3:
        image = {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
        }
        content = [
            {"type": "text", "text": sayable(rng, 100)},
            *rng.sample((image,), rng.randint(0, 1)),
        ]
    return {
        "type": "tool_result",
        "tool_use_id": call,
        "content": content,
        **({"is_error": True} if rng.random() < 0.1 else {}),
    }


def _anthropic_content(rng: Random) -> Any:
    if rng.random() < 0.6:
        return sayable(rng)
    return [
        {"type": "text", "text": sayable(rng)},
        *([{"type": "novelty", "x": 1}] if rng.random() < 0.1 else []),
    ]


def _extra(rng: Random) -> dict[str, Any]:
    return {"x_trace": {"id": 7, "tags": ["a", None]}} if rng.random() < 0.05 else {}


def _length(rng: Random) -> int:
    """About 12 messages on average, now and then none, one, or very many."""
    kind = rng.random()
    if kind < 0.04:
        return rng.randint(0, 1)
    return rng.randint(20, 60) if kind < 0.12 else rng.randint(3, 16)


def _retold(rng: Random, messages: list[Any], roles: tuple[str, ...]) -> list[Any]:
    """One in eight begins with a summary of what has left; now and then one that only pretends
    to be.
    """
    if rng.random() < 1 / 8:
        text = (
            mark(sayable(rng))
            if rng.random() < 0.8
            else f"[HISTORY_SUMMARY {'0' * 16}]\n{sayable(rng)}"
        )
        at = rng.choice([i for i in (0, 1, 2) if i <= len(messages)])
        messages.insert(at, {"role": rng.choice(roles), "content": text})
    return messages


def _broken(rng: Random, messages: list[Any]) -> list[Any]:
    """One in six has lost a message or two: orphans, unanswered calls."""
    if rng.random() < 1 / 6:
        for _ in range(rng.randint(1, 2)):
            if messages:
                messages.pop(rng.randrange(len(messages)))
    elif rng.random() < 0.2 and messages:
        del messages[rng.randrange(len(messages)) + 1 :]
    return messages


FORMS = {
    "plain": plain,
    "openai_chat": openai_chat,
    "anthropic": anthropic,
    "bedrock": anthropic,
    "openai_responses": openai_responses,
    "gemini": gemini,
    "converse": converse,
}
