"""Who speaks first, who speaks next, and who may speak at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from holdfast.formats.payloads import ROLES
from holdfast.kernel.edits import Edit, Insert
from holdfast.kernel.integrity import Rule, Violation
from holdfast.kernel.messages import Message, Text

from .blocks import block_of, blocks, message_of, with_blocks
from .changes import edits_between, made, original

CONTINUES = "[conversation continues]"


class AtLeastOne(Rule):
    """There is a message."""

    name = "at_least_one_message"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """An empty list."""
        if not messages:
            yield Violation(self.name, 0, "there is no message")

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """A user's message that says nothing new."""
        return () if messages else (Insert(0, "user", CONTINUES, self.name),)


class FirstIsUser(Rule):
    """The first message that is not the system's is a user's."""

    name = "first_message_is_users"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """An assistant's message at the start."""
        first = _first(messages)
        if first is not None and messages[first].role != "user":
            yield Violation(
                self.name,
                first,
                f"the conversation starts with a message of the {messages[first].role}",
            )

    def may_follow(self, before: Message | None, message: Message) -> bool:
        """Only a user's message may come first."""
        return before is not None or message.role == "user"

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """A user's message before it."""
        return [
            Insert(broken.index, "user", CONTINUES, self.name)
            for broken in self.violations(messages)
        ]


class RolesAlternate(Rule):
    """No two messages in a row have the same role. Anthropic's own API joins them, Bedrock refuses them."""

    name = "roles_alternate"
    doors = ("bedrock", "converse")

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """The second of two messages with the same role."""
        for i, (before, message) in enumerate(pairwise(messages), 1):
            if before.role == message.role:
                yield Violation(self.name, i, f"two messages of the {message.role} stand in a row")

    def may_follow(self, before: Message | None, message: Message) -> bool:
        """Only another role may follow."""
        return before is None or before.role != message.role

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """The second joins the first."""
        after: list[Message] = []
        for message in messages:
            if after and after[-1].role == message.role:
                after[-1] = with_blocks(after[-1], blocks(after[-1]) + blocks(message))
            else:
                after.append(message)
        return edits_between(messages, after, self.name)


class CallsFollowUsers(Rule):
    """Gemini: a message that calls comes right after one of a user or of results."""

    name = "calls_follow_users"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """Calls at the start, or behind words of the model's own."""
        for i, message in enumerate(messages):
            if message.calls and (not i or messages[i - 1].role == "assistant"):
                problem = "it calls a tool, and does not follow a user's message or results"
                yield Violation(self.name, i, problem)

    def may_follow(self, before: Message | None, message: Message) -> bool:
        """Only a user's message or results may stand before calls."""
        return not message.calls or (before is not None and before.role != "assistant")

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """The calls join the model's words before them, or a user's message comes first."""
        after: list[Message] = []
        for message in messages:
            if message.calls and after and after[-1].role == "assistant" and not after[-1].calls:
                after[-1] = with_blocks(after[-1], blocks(after[-1]) + blocks(message))
                continue
            if message.calls and (not after or after[-1].role == "assistant"):
                after.append(message_of(message, "user", [block_of(message, Text(CONTINUES))]))
            after.append(message)
        return edits_between(messages, after, self.name)


class KnownRoles(Rule):
    """Every role is one that the API has."""

    name = "roles_known"
    alone = True

    def __init__(self, *names: str) -> None:
        self._names = names

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """A message of another role."""
        for i, message in enumerate(messages):
            role = original(message).get("role")
            if role is not None and role not in self._names:
                yield Violation(
                    self.name, i, f"{role!r} is none of the roles {', '.join(sorted(self._names))}"
                )

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """The role that it reads as; the user's where the API has none such. What is said stays."""
        return edits_between(messages, [self._known(message) for message in messages], self.name)

    def _known(self, message: Message) -> Message:
        value = original(message)
        if value.get("role") in (None, *self._names):
            return message
        meant = (name for name in self._names if ROLES[name] == ROLES.get(value["role"]))
        return made(message.wire, {**value, "role": next(meant, "user")})


def _first(messages: Sequence[Message]) -> int | None:
    return next((i for i, message in enumerate(messages) if message.role != "system"), None)
