"""Conversations with an agent that keeps the books of a bicycle workshop: records, refusals, decisions."""

import json
from typing import Any

TOOLS = ("find_customer", "find_repair", "list_parts")


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def exchange(call_id: str, name: str, result: Any, **arguments: Any) -> list[dict[str, Any]]:
    """A call and its result."""
    text = result if isinstance(result, str) else json.dumps(result)
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call_id, "content": text},
    ]


def repair(number: int) -> dict[str, Any]:
    """A record with nested records, of which a next call may need any identifier."""
    return {
        "repair_id": f"REP-{4000 + number}",
        "customer_id": f"cust_{number}_{number * 37}",
        "state": "in_progress",
        "received": f"2025-03-{1 + number % 28:02}",
        "parts": [
            {"sku": f"BRK-{number}-{k}", "name": f"brake pad {k}", "price": 12 + k, "in_stock": True}
            for k in (1, 2)
        ],
        "notes": "",
    }


def workshop(turns: int) -> list[dict[str, Any]]:
    """So many turns: a wish, a look-up, an answer."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You keep the books of a workshop."}]
    for n in range(turns):
        messages.append(user(f"Please look at repair REP-{4000 + n}. I would rather pay by invoice INV-{n}."))
        messages += exchange(f"call_{n}", "find_repair", repair(n), repair_id=f"REP-{4000 + n}")
        messages.append(
            assistant(f"The repair came in on 2025-03-{1 + n % 28:02}. Is there anything else I can do?")
        )
    return [*messages, user("And which of them is the oldest?")]
