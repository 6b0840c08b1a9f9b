"""Acts that agents write as text, found by their regularity, without a vendor's syntax.

Without tool calls, an agent ends its messages in a command (a fenced block, an element with tags, a
labelled line, a JSON object), and the output comes back in a user message. Whatever the syntax, the
agent repeats it; and outputs begin alike, which a person's messages do not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from holdfast.kernel.messages import Message, Text, ToolCall

_FEWEST = 3  # times that a regularity must appear
_SHARE = 0.5  # least share of the messages that could show it
_OPENING = 12  # characters that outputs have in common at their start
_NUMBER = re.compile(r"\d+")
_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)
_CLOSING = re.compile(r"</([A-Za-z][\w.-]*)>\Z")
_LABEL = re.compile(r"^([A-Z][A-Za-z ]{0,24}):", re.MULTILINE)
_LONGEST_NAME = 64  # characters of a closing tag

Syntax = str
"""How an act is written: ``fence``, ``object``, ``<name>`` of an element, ``Label:`` of a line."""


class Protocol(NamedTuple):
    """The regular forms in a conversation: how acts end messages, and how outcomes begin."""

    syntaxes: frozenset[Syntax]
    openings: frozenset[str]

    def is_outcome(self, text: str) -> bool:
        """Whether a user message begins like an output."""
        return opening(text) in self.openings

    def parted(self, text: str) -> tuple[str, str]:
        """Split a message into the agent's words and the act at its end, which may be empty."""
        syntax, start = ending(text)
        if syntax not in self.syntaxes:
            return text, ""
        return text[:start].rstrip(), text[start:].strip()


NATIVE = Protocol(frozenset(), frozenset())
"""A conversation without acts as text."""


def protocol_of(messages: Sequence[Message]) -> Protocol:
    """The regular forms in these messages; an agent with tool calls writes no acts as text."""
    if any(isinstance(part, ToolCall) for message in messages for part in message.parts):
        return NATIVE
    said = [
        (message.role, part.text)
        for message in messages
        if message.role in ("user", "assistant")
        for part in message.parts
        if isinstance(part, Text) and part.text
    ]
    agents = [text for role, text in said if role == "assistant"]
    if len(agents) < _FEWEST:
        return NATIVE
    ends = Counter(ending(text)[0] for text in agents)
    least = max(_FEWEST, _SHARE * len(agents))
    many = {syntax for syntax, times in ends.items() if syntax and times >= _FEWEST}
    if sum(ends[syntax] for syntax in many) < least:
        many = set[str]()
    return Protocol(frozenset(many), _openings(said, frozenset(many)))


def _openings(said: Sequence[tuple[str, str]], syntaxes: frozenset[Syntax]) -> frozenset[str]:
    """The common beginnings of user messages that follow an act."""
    answers = Counter[str]()
    for (role, text), (next_role, answer) in pairwise(said):
        if role == "assistant" and next_role == "user":
            acted = ending(text)[0] in syntaxes
            if acted or not syntaxes:
                answers[opening(answer)] += 1
    users = sum(answers.values())
    if not syntaxes and users:  # no sign of acts: only a very regular beginning counts
        return frozenset(o for o, n in answers.items() if n >= _FEWEST and not o[:1].isalpha())
    return frozenset(o for o, n in answers.items() if n >= _FEWEST)


def ending(text: str) -> tuple[Syntax, int]:
    """The syntax at the end of a text and its start; empty if the text ends in words."""
    stripped = text.rstrip()
    if stripped.endswith(("```", "~~~")):
        fences = [found.start() for found in _FENCE.finditer(stripped)]
        return ("fence", fences[-2]) if len(fences) > 1 else ("", len(text))
    closing = _CLOSING.search(stripped[-_LONGEST_NAME:])
    if closing:
        start = stripped.rfind(f"<{closing.group(1)}")
        return (f"<{closing.group(1)}>", start) if start >= 0 else ("", len(text))
    if stripped.endswith("}"):
        start = 0 if stripped.startswith("{") else stripped.find("\n{") + 1
        if start or stripped.startswith("{"):
            return "object", start
    paragraph = stripped.rfind("\n\n") + 2 if "\n\n" in stripped else 0
    labels = list(_LABEL.finditer(stripped, paragraph))
    if labels:
        return f"{labels[-1].group(1)}:", labels[0].start()
    return "", len(text)


def opening(text: str) -> str:
    """The first characters of a text, without what varies."""
    return _NUMBER.sub("0", text.lstrip()[:_OPENING])
