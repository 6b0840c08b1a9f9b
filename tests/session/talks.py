"""Conversations for the tests of sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zlib import crc32

TOPICS = [
    "The invoice INV-2041 was charged twice on 3 May, for 41.20 EUR each time.",
    "The deploy to eu-west failed because the disk of node-17 was full.",
    "Dana wants the parcel at 9 Elm Street, second floor, after six.",
    "We agreed on five retries with a pause of two seconds between them.",
    "The nightly backup of ledger-db runs at 02:30 and takes forty minutes.",
    "Priya keeps two parrots, Miso and Tofu, and a very old tortoise.",
]

DECIDED = (
    "Keep the parser as it is, only the writer changes, and tell Dana before the release.",
    "Use the second option: roll back the index first, then drop the column on Sunday.",
    "The limit is 40 requests a minute for this customer, not 60. They signed that in May.",
    "No, do not restart the service now. Wait until the export to Lyon has finished.",
    "We decided for the smaller instance, because finance refused the other one.",
)
"""What a user decides between outputs of tools."""

TEXTS = Path(__file__).parents[1] / "content" / "texts"
"""Outputs of tools, in a folder for each kind."""


def outputs(kind: str) -> list[str]:
    """The first eight outputs of this kind."""
    paths = sorted(path for path in (TEXTS / kind).iterdir() if path.is_file())[:8]
    return [path.read_text("utf-8", errors="replace")[:9_000] for path in paths]


def chatter(count: int, start: int = 0) -> list[dict[str, Any]]:
    """A talk in turns whose messages all differ."""
    return [
        {
            "role": "assistant" if n % 2 else "user",
            "content": f"Message {n} goes on about the weather of day {n}, the garden, and what "
            f"grows in row {n * 7}.",
        }
        for n in range(start, start + count)
    ]


def talk(length: int = 120) -> list[dict[str, Any]]:
    """A system prompt, what is worth remembering, and then much else."""
    facts = [
        {"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(TOPICS)
    ]
    return [{"role": "system", "content": "You help."}, *facts, *chatter(length)]


def call(number: int, output: str) -> list[dict[str, Any]]:
    """One finished exchange with a tool."""
    name = f"call-{number}"
    function = {"name": "read", "arguments": f'{{"path": "file-{number}.txt"}}'}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": name, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": name, "content": output},
    ]


def turn(number: int) -> list[dict[str, Any]]:
    """A turn long enough to be worth a request."""
    asked = (
        f"What became of order ORD-{number:04}, which Dana Reyes sent to Lisbon with the "
        f"truck of depot {number}?"
    )
    told = (
        f"Order ORD-{number:04} left depot {number} in the morning and reached the "
        f"customs office of Lisbon, where "
        "the papers were incomplete because a stamp was missing, so that the driver had "
        "to wait for the officer, "
        "who came back from lunch rather late, looked at the boxes one after another, "
        "asked for the invoice, and "
        "let the truck go on its way only when Dana Reyes had sent a copy of it by mail "
        "from the other office."
    )
    return [{"role": "user", "content": asked}, {"role": "assistant", "content": told}]


def turns(count: int, start: int = 0) -> list[dict[str, Any]]:
    """So many of them, each about another order."""
    return [message for number in range(start, start + count) for message in turn(number)]


def called(name: str, arguments: dict[str, Any], output: Any) -> list[dict[str, Any]]:
    """A call, and its output."""
    call = {"name": name, "arguments": json.dumps(arguments)}
    key = f"{name}-{crc32(call['arguments'].encode())}"
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": key, "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": key, "content": json.dumps(output)},
    ]
