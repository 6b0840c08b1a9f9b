"""Who sends what stands in the role of the user, where several names do: people and programs.

A framework of several agents gives one model the messages of all others as a user's, each with the
name of its sender. The first of them has the task, so it is a person.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import inf
from typing import NamedTuple

from holdfast.kernel.messages import Message, Messages, Role
from holdfast.text.words import masked, may_be_said, may_be_typed

from .protocol import Protocol, protocol_of

Roles = Mapping[tuple[Role, str], Role]
"""The role in which a sender really speaks, if known, by the role and the name of its messages."""

# least messages by which a name is judged; a person may paste something once
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
# a line with a program's sign, as long as the openings of outputs are
_HEAD = re.compile(r"(?=.*[][<>(){}=\\|$%`:;_：【】]).{12,}")


class Senders(NamedTuple):
    """Who is known among the senders, and the forms of acts."""

    roles: Roles
    unclear: frozenset[str]
    """The names of those who may be people or programs."""
    protocol: Protocol


def senders_of(messages: Messages, sent: Sequence[Message]) -> Senders:
    """Who ``sent`` messages as the user, if programs are among them.

    The forms of acts are those between an agent and the programs that answer it, since people and
    other agents may speak between an act and its output.
    """
    texts = defaultdict[str, list[str]](list)
    for message in sent:
        texts[message.name].append(message.content_text or "")
    first = sent[0].name
    programs = {
        name for name, own in texts.items() if name not in ("", first) and _are_returned(own)
    }
    if not programs:
        return Senders({}, frozenset(), protocol_of(messages))
    # a framework may run what agents ask for in a person's name
    answering = programs | ({first} if _are_returned(texts[first][1:]) else set[str]())
    acting = [
        each
        for each in messages
        if each.role != "user" or each.name in answering or each is sent[0]
    ]
    protocol = protocol_of(acting)
    rounds = sum(message.role == "assistant" for message in messages)
    # without acts as text, nobody is taken for another agent: beside people who talk to an agent, a
    # program may send what is no answer
    often = max(_OFTEN, rounds / _ROUNDS) if protocol.syntaxes else inf
    roles: dict[tuple[Role, str], Role] = {("user", first): "user"}
    for name, own in texts.items():
        if name in programs:
            roles["user", name] = "tool"
        elif name not in ("", first) and len(own) >= often:
            roles["user", name] = "assistant"
        elif name and len(own) >= _FEWEST and not _have_form(own, _FEWEST):
            roles["user", name] = "user"
    unclear = {
        name
        for name, own in texts.items()
        if name
        and ("user", name) not in roles
        and (len(own) >= _FEWEST or not may_be_typed(own[0]))
    }
    return Senders(roles, frozenset(unclear), protocol)


def _are_returned(texts: Sequence[str]) -> bool:
    """Whether most texts are several lines that nobody types.

    Or nearly all have a line with a program's signs in common, and some are none that people type.
    """
    untyped = sum("\n" in text.strip() and not may_be_said(text) for text in texts)
    return len(texts) >= _FEWEST and (
        2 * untyped > len(texts) or (_have_form(texts, _OFTEN) and untyped >= _UNTYPED * len(texts))
    )


def _have_form(texts: Sequence[str], least: int) -> bool:
    """Whether nearly all texts, and at least so many, have a line with a program's signs."""
    heads = Counter(chain.from_iterable(map(_signed_lines, texts)))
    return max(heads.values(), default=0) >= max(least, _NEARLY_ALL * len(texts))


def _signed_lines(text: str) -> Iterable[str]:
    """The lines with a program's signs, but for the last line; each once, with numbers as 0."""
    lines = text.strip().split("\n")[:-1]
    return {masked(line) for line in lines if _HEAD.match(line)}
