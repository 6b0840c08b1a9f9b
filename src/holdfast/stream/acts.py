"""Acts that agents write as text, found by their regularity and never by a vendor's name.

Some protocols know no tool calls: the agent ends what it says in a command (a fenced block, an
element with tags, a labelled line, a JSON object), and the output comes back in a user's message.
Whatever the syntax is, the agent ends in it again and again; and what programs return opens alike
again and again, as no person's words do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from holdfast.kernel.messages import Message, ToolCall

_FEWEST = 3  # times that a regularity has to be seen
_SHARE = 0.5  # of the messages that could show it
_OPENING = 12  # characters in which what programs return opens alike
_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)
_CLOSING = re.compile(r"</([A-Za-z][\w.-]*)>\Z")
_LABEL = re.compile(r"^([A-Z][A-Za-z ]{0,24}):", re.MULTILINE)
_LONGEST_NAME = 64  # characters of a closing tag

Syntax = str
"""How an act is written: ``fence``, ``object``, ``<name>`` of an element, ``Label:`` of a line."""


class Protocol(NamedTuple):
    """What is regular in a conversation: how acts end the agent's texts, how outcomes open."""

    syntaxes: frozenset[Syntax]
    openings: frozenset[str]

    def is_outcome(self, text: str) -> bool:
        """Whether a text in a user's message opens as what programs return."""
        return opening(text) in self.openings

    def parted(self, text: str) -> tuple[str, str]:
        """What the agent says, and the act that it ends with; empty where there is none."""
        syntax, start = ending(text)
        if syntax not in self.syntaxes:
            return text, ""
        return text[:start].rstrip(), text[start:].strip()


NATIVE = Protocol(frozenset(), frozenset())
"""A conversation in which nothing is written as text."""


def protocol_of(messages: Sequence[Message]) -> Protocol:
    """The regular forms in these messages; an agent with native calls writes no acts as text."""
    if any(isinstance(part, ToolCall) for message in messages for part in message.parts):
        return NATIVE
    said = [
        (m.role, m.plain or "") for m in messages if m.is_speech and m.role != "system" and m.plain
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
    """How the users' messages open that follow an act, where they do so alike."""
    answers = Counter[str]()
    for (role, text), (next_role, answer) in pairwise(said):
        if role == "assistant" and next_role == "user":
            acted = ending(text)[0] in syntaxes
            if acted or not syntaxes:
                answers[opening(answer)] += 1
    users = sum(answers.values())
    if (
        not syntaxes and users
    ):  # nothing shows that acts are written: only a very regular opening tells
        return frozenset(o for o, n in answers.items() if n >= _FEWEST and not o[:1].isalpha())
    return frozenset(o for o, n in answers.items() if n >= _FEWEST)


def ending(text: str) -> tuple[Syntax, int]:
    """The syntax in which a text ends and where that part starts; empty where it ends in words."""
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
    """How a text opens: its first characters, without what differs from time to time."""
    return re.sub(r"\d+", "0", text.lstrip()[:_OPENING])
