"""The message that stands for history: how it is marked, and how it is known again.

Callers hand plain messages back, so a summary must be recognised by what it says. Its first line is
``[HISTORY_SUMMARY] <digits>``: a keyed hash of whose message it is and all that follows the line, made with the
secret of the store or of the caller. Without a secret there are no digits, for anybody could make them: then a
summary is known only in the place where it is put, in the role that it has there. All else is text like any other.
"""

from __future__ import annotations

import re
from hashlib import sha256

from holdfast.kernel.integrity import may_follow
from holdfast.kernel.messages import SUMMARY, Message, Role, Text
from holdfast.kernel.transcript import Transcript, speaks
from holdfast.text.keyed import decimal, is_known

PLAIN = f"{SUMMARY}]"
"""The mark without digits."""

HISTORY = "history"
"""The kind of artifact that the originals of a summary are kept as."""

_DIGITS = 12
_OPEN = "0" * _DIGITS  # where they will stand
_FIRST = re.compile(rf"\{PLAIN}(?: (\d{{{_DIGITS}}}))?")
_EARLIER = re.compile(rf"\{SUMMARY} ([0-9a-f]{{16}})]")  # version 0.1: the beginning of the SHA-256 of the body


def mark(body: str, role: Role = "user", secret: str | None = None) -> str:
    """The text of a summary message; where the secret is not known there is room for its digits."""
    digits = _OPEN if secret is None else secret and _key(body, role, secret)
    return f"{PLAIN} {digits}\n{body}" if digits and role != "system" else f"{PLAIN}\n{body}"


def body_of(message: Message) -> str | None:
    """What a summary message says below its mark, or None where the message is none."""
    return (message.content_text or "").partition("\n")[2] if message.ours else None


class Marks:
    """What was written here: summaries by their marks, references by their keys; the secret may be empty."""

    def __init__(self, secret: str = "") -> None:
        self.secret = secret

    def sealed(self, text: str, role: Role) -> str:
        """The text of a summary with the digits that this secret makes; any other text as it is."""
        first, _, body = text.partition("\n")
        return mark(body, role, self.secret) if _FIRST.fullmatch(first) else text

    def knows(self, key: str) -> bool:
        """Whether a reference with this key was written here."""
        return is_known(key, self.secret)

    def admit(self, transcript: Transcript) -> None:
        """Note of each message whether it is a summary that was written here."""
        opens, asked, last = True, False, None  # only users have spoken so far, pins aside
        for i, message in enumerate(transcript.messages):
            placed = opens and (message.role != "assistant" or not asked or not _fits_user(transcript, last))
            message.ours = self._is_ours(message, placed=placed)
            if message.role == "system":
                continue
            opens = opens and (message.ours or i in transcript.pinned or speaks(message))
            asked, last = asked or (speaks(message) and not message.ours), message

    def _is_ours(self, message: Message, *, placed: bool) -> bool:
        if message.role == "tool" or not _opening(message).startswith(SUMMARY):
            return False
        if not all(isinstance(part, Text) for part in message.parts):
            return False
        first, _, body = (message.content_text or "").partition("\n")
        if message.role == "system" and first == PLAIN:
            return True  # nobody but the caller writes there
        found = _FIRST.fullmatch(first)
        if self.secret:
            return found is not None and found[1] == _key(body, message.role, self.secret)
        if found is not None:
            return placed and found[1] in (None, _OPEN)
        earlier = _EARLIER.fullmatch(first)
        return placed and earlier is not None and earlier[1] == earlier_key(body)


def _opening(message: Message) -> str:
    """The text with which a message begins."""
    if message.plain is not None or not message.parts:
        return message.plain or ""
    return message.parts[0].text


def _fits_user(transcript: Transcript, before: Message | None) -> bool:
    """Whether a user may speak after this message: then no summary is told by anybody else."""
    wire = transcript.wire
    return may_follow(transcript.rules, before, Message("user", wire.compose("user", "notes"), wire))


def _key(body: str, role: Role, secret: str) -> str:
    return decimal(secret, _DIGITS, role, body)


def earlier_key(body: str) -> str:
    """The hash by which what is kept of a summary is found."""
    return sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:16]
