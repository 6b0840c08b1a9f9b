"""Rules on roles: the first one, their order, and the known ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from holdfast.formats.payloads import ROLES
from holdfast.kernel.edits import Edit, Insert
from holdfast.kernel.integrity import Rule, Violation
from holdfast.kernel.messages import Message, Text, ToolCall

from .changes import (
    MessageByMessage,
    RewritingRule,
    block_of,
    joined,
    message_of,
    original,
    with_fields,
)

CONTINUES = "[conversation continues]"


class AtLeastOne(Rule):
    """There is a message."""

    name = "at_least_one_message"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """An empty list of messages."""
        if not messages:
            yield Violation(self.name, 0, "there is no message")

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """A user's message without new information."""
        return () if messages else (Insert(0, "user", CONTINUES, self.name),)


class FirstIsUser(Rule):
    """The first message, apart from system messages, is a user's."""

    name = "first_message_is_users"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """A first message in another role."""
        for i, message in enumerate(messages):
            if message.role != "system":
                if message.role != "user":
                    problem = f"the conversation starts with a message of the {message.role}"
                    yield Violation(self.name, i, problem)
                return

    def may_follow(self, before: Message | None, message: Message) -> bool:
        """Only a user's message may come first."""
        return before is not None or message.role == "user"

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """A user's message before it."""
        return [Insert(v.index, "user", CONTINUES, self.name) for v in self.violations(messages)]


class RolesAlternate(RewritingRule):
    """No two messages in a row have the same role.

    Anthropic's own API joins such messages, Bedrock refuses them.
    """

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

    def rewritten(self, messages: Sequence[Message]) -> Iterable[Message]:
        """The messages, with neighbours of one role joined."""
        after: list[Message] = []
        for message in messages:
            if after and after[-1].role == message.role:
                after[-1] = joined(after[-1], message)
            else:
                after.append(message)
        return after


class CallsFollowUsers(RewritingRule):
    """Gemini: a message with calls comes right after a user's message or results."""

    name = "calls_follow_users"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """Calls at the start, or after the model's text."""
        for i, message in enumerate(messages):
            if not self.may_follow(messages[i - 1] if i else None, message):
                problem = "it calls a tool, and does not follow a user's message or results"
                yield Violation(self.name, i, problem)

    def may_follow(self, before: Message | None, message: Message) -> bool:
        """Whether a message without calls, or one right after a user's message or results."""
        return not message.calls or (before is not None and before.role != "assistant")

    def rewritten(self, messages: Sequence[Message]) -> Iterable[Message]:
        """The messages, with calls joined to the model's text or put after a new user's message."""
        after: list[Message] = []
        for message in messages:
            last = after[-1] if after else None
            if self.may_follow(last, message):
                after.append(message)
            elif last and not last.calls:
                after[-1] = joined(last, message)
            else:
                after.append(message_of(message, "user", [block_of(message, Text(CONTINUES))]))
                after.append(message)
        return after


class KnownRoles(MessageByMessage):
    """Every role is one that the API has."""

    name = "roles_known"

    def __init__(self, *names: str) -> None:
        self._names = names

    def problem(self, message: Message) -> str:
        """An unknown role."""
        role = original(message).get("role")
        if role is None or role in self._names:
            return ""
        return f"{role!r} is none of the roles {', '.join(sorted(self._names))}"

    def mended(self, message: Message) -> Message:
        """The message with the role as which this one is read, or that its calls require."""
        calls = any(isinstance(part, ToolCall) for part in message.parts)
        meaning = ROLES.get(original(message)["role"], "assistant" if calls else "user")
        return with_fields(
            message, role=next((name for name in self._names if ROLES[name] == meaning), "user")
        )
