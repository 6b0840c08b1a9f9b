"""Short words for the messages of both wires, and for asking one rule about them."""

from __future__ import annotations

from holdfast.formats import named
from holdfast.kernel.apply import mend


def read(messages, provider):
    return named(provider).read(messages).messages


def rule_of(name, provider):
    return next(rule for rule in named(provider).rules if rule.name == name)


def broken_at(name, messages, provider):
    """Where the rule is broken."""
    return [
        violation.index
        for violation in rule_of(name, provider).violations(read(messages, provider))
    ]


def mended(name, messages, provider):
    """The messages after the rule's own repair, which leaves it unbroken."""
    transcript = named(provider).read(messages)
    rule = rule_of(name, provider)
    after = mend(transcript, rule.repair(transcript.messages)).transcript
    assert list(rule.violations(after.messages)) == []
    assert not rule.repair(after.messages)
    return [message.original for message in after.messages]


def same(after, before):
    """For each message after: where the very same object stood before, None for another one."""
    place = {id(message): i for i, message in enumerate(before)}
    return [place.get(id(message)) for message in after]


def user(*content):
    return {"role": "user", "content": _content(content)}


def assistant(*content):
    return {"role": "assistant", "content": _content(content)}


def _content(content):
    if len(content) == 1 and isinstance(content[0], str):
        return content[0]
    return [text(block) if isinstance(block, str) else block for block in content]


def text(words):
    return {"type": "text", "text": words}


def use(call_id, name="read"):
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def result(call_id, words="two lines"):
    return {"type": "tool_result", "tool_use_id": call_id, "content": words}


def thought(signature="c2ln"):
    return {
        "type": "thinking",
        "thinking": "Look first.",
        **({"signature": signature} if signature else {}),
    }


def calling(*call_ids):
    calls = [
        {"id": i, "type": "function", "function": {"name": "read", "arguments": "{}"}}
        for i in call_ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def tool(call_id, words="two lines"):
    return {"role": "tool", "tool_call_id": call_id, "content": words}
