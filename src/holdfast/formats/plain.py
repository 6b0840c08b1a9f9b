"""Plain messages: a role and a text, without rules of a provider.

What this format does differently: every role is accepted, and read as a user's if no provider has
it; ``validate`` reports such a role, which is usually a mistake.
"""

from holdfast.kernel.integrity import Rules

from .payloads import ROLES, Located, Node, refuse
from .rules.messages import KnownRoles
from .wire import ObjectWire


class Plain(ObjectWire):
    """Messages with a role and text only."""

    name = "plain"

    def published(self, payload: object) -> Rules:
        """The rule that some provider has each role."""
        return (KnownRoles(*ROLES),)

    def locate(self, message: Node) -> Located:
        """The text."""
        content = message.value.get("content")
        if not isinstance(content, str):
            advice = "give text, or name the format of these messages"
            refuse(content, message.place("content"), advice)
        yield message.spoken("content")
