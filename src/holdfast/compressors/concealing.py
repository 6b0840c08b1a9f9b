"""Messages without their secrets: as they may be kept, and told again."""

from __future__ import annotations

from holdfast.compressors.summaries import body_of, mark
from holdfast.kernel.messages import Message
from holdfast.text.concealed import masked_parts, redacted_text


def concealed(message: Message) -> Message:
    """The message with every secret masked, whoever said it; the very same where there is none.

    A summary of older messages is marked anew: it is known by what it says.
    """
    texts, _ = masked_parts(message, everyone=True)
    body = body_of(message) if texts else None
    if body is not None:
        texts = {0: mark(redacted_text(body)[0], message.role)}
    return message.saying(texts) if texts else message
