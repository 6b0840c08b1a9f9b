"""Who sends what stands in the role of the user, where several names do: people and programs.

A framework of several agents gives one model the messages of all others as a user's, each with the
name of its sender. The first of them has the task, so it is a person.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from holdfast.kernel.messages import Message, Messages, Role
from holdfast.text.words import DIGITS, may_be_said
from holdfast.text_protocol import Protocol, protocol_of

Roles = Mapping[tuple[Role, str], Role]
"""In which role those speak who are known, by the role and the name of their messages."""

# messages by which a name is judged; a person may paste something once
_FEWEST = 2
_OFTEN = 3  # messages that have a line in common, or that an agent has sent; two may be chance
_NEARLY_ALL = 0.9  # share of a name's messages with that line, as of acts that are commands alone
# least share of these messages that nobody types, or a person begins all of them with that line; of
# made-up group chats half kept as much, and with double 18 of 38 statements of people stayed at 15%
# instead of 26, since the pages that a browser returned were a person's words
_UNTYPED = 0.25
# an agent speaks once in so many rounds at least; in made-up group chats double kept as much, and
# with half 24 of 40 statements of people stayed at 15% instead of 35, since agents were people
_ROUNDS = 3
_HEAD = re.compile(r"(?=.*[][<>(){}=\\|$%`:;_：【】]).{12,}")  # long, as openings are, with a sign


def heard_as(messages: Messages, sent: Sequence[Message]) -> tuple[Roles, Protocol]:
    """The roles of those who ``sent`` messages, if programs are among them, and the forms of acts.

    Between an act and what it returned, people and agents may speak.
    """
    programs = _programs(sent)
    if not programs:
        return {}, protocol_of(messages)
    acting = [
        each for each in messages if each.role != "user" or each.name in programs or each is sent[0]
    ]
    protocol = protocol_of(acting)
    rounds = sum(message.role == "assistant" for message in messages)
    # beside people who talk to an agent, a program may send what is no answer
    agents = _agents(sent, programs, rounds) if protocol.syntaxes else ()
    times = Counter(message.name for message in sent)
    known = {sent[0].name, *(name for name, number in times.items() if name and number >= _FEWEST)}
    people: Roles = {("user", name): "user" for name in known}
    talking: Roles = {("user", name): "assistant" for name in agents}
    returning: Roles = {("user", name): "tool" for name in programs}
    return {**people, **talking, **returning}, protocol


def _programs(sent: Sequence[Message]) -> frozenset[str]:
    """The names of programs: their messages are outputs."""
    texts = defaultdict[str, list[str]](list)
    for message in sent:
        texts[message.name].append(message.content_text or "")
    others = texts.keys() - {"", sent[0].name}
    return frozenset(name for name in others if _are_returned(texts[name]))


def _agents(sent: Sequence[Message], programs: Collection[str], rounds: int) -> frozenset[str]:
    """The names of agents: they speak in a third of the rounds or more."""
    times = Counter(message.name for message in sent)
    others = times.keys() - {"", sent[0].name, *programs}
    return frozenset(name for name in others if times[name] >= max(_OFTEN, rounds / _ROUNDS))


def _are_returned(texts: Sequence[str]) -> bool:
    """Whether most texts are several lines that nobody types.

    Or nearly all have a line with a program's signs in common, and some are none that people type.
    """
    if len(texts) < _FEWEST:
        return False
    untyped = sum("\n" in text.strip() and not may_be_said(text) for text in texts)
    heads = Counter(chain.from_iterable(map(_heads, texts)))
    has_form = max(heads.values(), default=0) >= max(_OFTEN, _NEARLY_ALL * len(texts))
    return 2 * untyped > len(texts) or (has_form and untyped >= _UNTYPED * len(texts))


def _heads(text: str) -> Iterable[str]:
    """The lines with signs that stand above others, each once, with their numbers as 0."""
    lines = text.strip().split("\n")[:-1]
    return {DIGITS.sub("0", line.strip()) for line in lines if _HEAD.match(line)}
