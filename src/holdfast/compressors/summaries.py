"""Summary messages: their marks, where they may stand, and their keys in the store.

Callers return plain messages, so a summary must be recognised by its text. Its first line is
``[HISTORY_SUMMARY] <digits>``: a keyed hash of the role and of everything below the line, made with
the secret of the store or of the caller. Without a secret there are no digits, since anybody could
make them; then a summary is recognised only in the place and the role in which Holdfast puts it.
Everything else is ordinary text.

The keys of a thread begin with ``thread_<id>:``, with ``:`` and ``%`` in the id written as ``%3A``
and ``%25``, so that no two threads share a key. Positions in keys are those of the caller's
original conversation, system messages counted, both ends included.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, NamedTuple, TypeVar

from holdfast.kernel.budget import Meter
from holdfast.kernel.compressor import Asking, ask
from holdfast.kernel.edits import Insert
from holdfast.kernel.errors import StoreError
from holdfast.kernel.integrity import Rule
from holdfast.kernel.messages import SUMMARY, Message, Opaque, Role
from holdfast.kernel.ports import Ask, Read, Save, Write
from holdfast.kernel.transcript import Transcript, keeps, may_follow
from holdfast.kernel.typed import kept_as
from holdfast.redact import masked_parts, redacted_text
from holdfast.text.keyed import decimal, digest, is_known

T = TypeVar("T")

PLAIN = f"{SUMMARY}]"
"""The mark without digits."""

HISTORY = "history"
"""The kind under which the originals of a summary are saved."""

_DIGITS = 12  # a forged mark passes once in 10^12 attempts
_OPEN = "0" * _DIGITS  # placeholder for the digits
_FIRST = re.compile(rf"\{PLAIN}(?: (\d{{{_DIGITS}}}))?")
# the mark of version 0.1: the first digits of the SHA-256 of the body
_EARLIER = re.compile(rf"\{SUMMARY} ([0-9a-f]{{16}})]")


def mark(body: str, role: Role = "user", secret: str | None = None) -> str:
    """The text of a summary message, with a placeholder for digits that are not known yet."""
    digits = _OPEN if secret is None else secret and _key(body, role, secret)
    return f"{PLAIN} {digits}\n{body}" if digits and role != "system" else f"{PLAIN}\n{body}"


def body_of(message: Message) -> str | None:
    """The text of a summary message below its mark, or None if it is not a summary."""
    return (message.content_text or "").partition("\n")[2] if message.ours else None


REFERENCE = "[original: "
"""The beginning of a reference."""

SKIPPED = "…"
"""The text of an assistant message before a user's summary, if roles must alternate."""


class Marks:
    """Recognises what Holdfast wrote: summaries by their marks, references by their keys.

    The secret may be empty.
    """

    def __init__(self, secret: str = "") -> None:
        self.secret = secret

    def sealed(self, text: str, role: Role) -> str:
        """The text of a summary with its digits; any other text unchanged."""
        first, _, body = text.partition("\n")
        return mark(body, role, self.secret) if _FIRST.fullmatch(first) else text

    def knows(self, key: str) -> bool:
        """Whether Holdfast wrote a reference with this key."""
        return is_known(key, self.secret)

    def admit(self, transcript: Transcript) -> Transcript:
        """Note on each message whether it is one of Holdfast's summaries.

        A user's text may look like a summary, and would be taken for one if the messages before it
        were dropped. Then the transcript gets a rule that prevents this.
        """
        alike = [i for i, message in enumerate(transcript.messages) if message.begins_like_ours]
        if not alike:
            return transcript
        kept = keeps(transcript.rules, transcript.messages) | transcript.pinned
        firm = {i for unit in transcript.units if not kept.isdisjoint(unit) for i in unit}
        opens, asked, last = True, False, None  # opens: only user messages and summaries so far
        foreign = False
        messages = list(transcript.messages)
        for i, message in enumerate(messages[: alike[-1] + 1]):
            placed = opens and (
                message.role != "assistant" or not asked or not _fits_user(transcript, last)
            )
            ours = self.is_marked(message, placed=placed)
            may_be_taken = message.role != "system" and self.is_marked(message, placed=True)
            foreign |= may_be_taken and not ours
            messages[i] = message.marked(ours=ours)
            if opens and message.role != "system":
                speaking = message.user_speaks
                opens = ours or i in firm or speaking or is_skipped(message)
                asked, last = asked or (speaking and not ours), messages[i]
        transcript = transcript.reworded(tuple(messages))
        if not foreign:
            return transcript
        return replace(transcript, rules=(*transcript.rules, StaysText(self, transcript)))

    def is_marked(self, message: Message, *, placed: bool) -> bool:
        """Whether a message is a summary; ``placed``: it is where Holdfast puts one."""
        if not message.begins_like_ours:
            return False
        first, _, body = (message.content_text or "").partition("\n")
        if message.role == "system" and first == PLAIN:
            return True  # only the caller writes system messages
        found = _FIRST.fullmatch(first)
        if self.secret:
            return found is not None and found[1] == _key(body, message.role, self.secret)
        if found is not None:
            return placed and found[1] in (None, _OPEN) and message.role != "system"
        earlier = _EARLIER.fullmatch(first)
        return (
            (placed or message.role == "system")
            and earlier is not None
            and earlier[1] == earlier_key(body)
        )


@dataclass(frozen=True, slots=True)
class StaysText(Rule):
    """A text that only looks like a summary never moves to a place where one may be."""

    marks: Marks
    transcript: Transcript
    """The original conversation."""

    name = "text_stays_text"

    def may_follow(self, before: Message | None, message: Message) -> bool:
        """Whether the message would not be taken for a summary after ``before``."""
        if message.ours or not self.marks.is_marked(message, placed=True):
            return True
        if before is None or before.ours or is_skipped(before):
            return False
        return not before.user_speaks or (
            message.role == "assistant" and _fits_user(self.transcript, before)
        )


def is_skipped(message: Message) -> bool:
    """Whether it is the empty answer that stands beside a digest so that roles alternate."""
    return message.role == "assistant" and message.content_text == SKIPPED


def _fits_user(transcript: Transcript, before: Message | None) -> bool:
    """Whether a user's message may follow; then every summary here is in the user's role."""
    wire = transcript.wire
    return may_follow(
        transcript.rules, before, Message("user", wire.compose("user", "notes"), wire, "notes")
    )


def _key(body: str, role: Role, secret: str) -> str:
    return decimal(secret, _DIGITS, role, body)


def earlier_key(body: str) -> str:
    """The hash of a summary's text, which is the key of its record in the store."""
    return digest("", body)[:16]


# where a summary stands


def preferred(transcript: Transcript) -> frozenset[int]:
    """Positions that stay while they fit: preferred messages, and summaries of dropped ones."""
    return transcript.preferred.union(
        i for i, message in enumerate(transcript.messages) if message.ours
    )


class Placed(NamedTuple):
    """Where a digest is inserted, and its role."""

    at: int
    role: Role
    in_turn: Literal["", "before", "after"] = ""
    """Where an empty assistant message is inserted beside it, so that roles alternate."""

    def tokens(self, meter: Meter) -> int:
        """Tokens of the inserted messages beside their text."""
        count = meter.tariff.message
        return 2 * count + meter.text(SKIPPED) if self.in_turn else count

    def inserts(self, text: str, reason: str, covers: tuple[int, int]) -> tuple[Insert, ...]:
        """The edits that insert the text."""
        notes = Insert(self.at, self.role, text, reason, covers=covers)
        return self.beside(notes, Insert(self.at, "assistant", SKIPPED, reason))

    def beside(self, notes: T, skipped: T) -> tuple[T, ...]:
        """The digest, and what is inserted beside it, in their order."""
        pair = (skipped, notes) if self.in_turn == "before" else (notes, skipped)
        return pair if self.in_turn else (notes,)


def placed(transcript: Transcript, going: Sequence[int], role: Role) -> Placed | None:
    """A valid place for a digest of the dropped messages, or None if there is none.

    ``going`` are their positions, ascending.
    """
    places = (going[-1] + 1, going[0])
    alone = (Placed(at, each) for at in places for each in (role, *_SPEAKERS))
    in_turn = (Placed(at, "user", side) for side in _SIDES for at in places)
    wire, before, gone = transcript.wire, transcript.messages, frozenset(going)
    staying = [message for i, message in enumerate(before) if i not in gone]
    known = set(_neighbours(before))
    for place in chain(alone, in_turn):
        # the new messages, and those around each gap, may follow each other
        at, after = place.at - bisect_left(going, place.at), staying.copy()
        roles: tuple[Role, ...] = place.beside(place.role, "assistant")
        after[at:at] = [Message(each, wire.compose(each, "notes"), wire, "notes") for each in roles]
        met = (pair for pair in _neighbours(after) if pair not in known)
        if all(may_follow(transcript.rules, *pair) for pair in met):
            return place
    return None


_SPEAKERS: tuple[Role, ...] = ("user", "assistant")
_SIDES: tuple[Literal["before", "after"], ...] = ("before", "after")


def voice(transcript: Transcript, role: Role) -> Role:
    """The role that a digest can have where ``role`` is wanted.

    Some formats have no system messages, and without a secret a digest in the assistant's role
    could not be recognised later.
    """
    bare = f"{PLAIN}\n"
    if role == "assistant" and transcript.seal and transcript.seal.sealed(bare, role) == bare:
        return "user"
    return transcript.wire.role(transcript.wire.compose(role, "notes"))


def _neighbours(messages: Iterable[Message]) -> Iterator[tuple[Message | None, Message]]:
    """Each message with the one before it, without system messages."""
    before = None
    for message in messages:
        if message.role != "system":
            yield before, message
            before = message


# what is stored


def concealed(message: Message) -> Message:
    """The message with every secret masked, or the same message if it has none.

    The mark of a summary is renewed, because it depends on the text.
    """
    texts, _ = masked_parts(message, everyone=True)
    body = body_of(message) if texts else None
    if body is not None:
        texts = {0: mark(redacted_text(body)[0], message.role)}
    said = message.saying(texts) if texts else message
    if said.is_speech or not any(isinstance(part, Opaque) for part in said.parts):
        return said
    parts = [
        Opaque(redacted_text(part.text)[0]) if isinstance(part, Opaque) else part
        for part in said.parts
    ]
    return Message(said.role, said.original, said.wire, said.plain, tuple(parts), ours=said.ours)


def summary_key(thread: str, start: int, end: int) -> str:
    """The key of the summary from ``start`` to ``end``, such as ``thread_123:summary:5-15``."""
    return f"{thread_prefix(thread)}summary:{start}-{end}"


def message_key(thread: str, index: int) -> str:
    """The key of the summary of one message."""
    return f"{thread_prefix(thread)}message:{index}"


def ranges_key(thread: str) -> str:
    """The key of the list of summarized ranges."""
    return f"{thread_prefix(thread)}summary:ranges"


def messages_key(thread: str) -> str:
    """The key of the list of messages that have summaries of their own."""
    return f"{thread_prefix(thread)}message:list"


def thread_prefix(thread: str) -> str:
    """The beginning of all keys of a thread, and of no others."""
    escaped = thread.replace("%", "%25").replace(":", "%3A")
    return f"thread_{escaped}:"


@dataclass(slots=True)
class WorkingStore:
    """The caller's store for one strategy: after the first failure it is not used again."""

    works: bool
    """Whether there is a store, and it has not failed."""

    trouble: str = ""
    """The problem, as text; empty without one."""

    def detail(self, *reasons: str) -> str:
        """The reasons of a plan, and after them the problem."""
        return "; ".join(filter(None, (*reasons, self.trouble)))

    def save(
        self,
        text: str,
        kind: str = "text",
        *,
        open: bool = False,  # noqa: A002 - the name that Save has
    ) -> Asking[str]:
        """Save an original and return its key, empty if it is not saved."""
        problem = "no original was saved from then on"
        return (yield from self._asked(Save(text, kind, open=open), problem)) or ""

    def read(self, key: str) -> Asking[str | None]:
        """The value of the key, or None if there is none or the store fails."""
        return (yield from self._asked(Read(key)))

    def write(self, key: str, value: str | None) -> Asking[None]:
        """Set the value of the key; None deletes it."""
        yield from self._asked(Write(key, value))

    def add(self, key: str, numbers: Iterable[int]) -> Asking[None]:
        """Add the numbers to the list under the key, each once."""
        known = kept_as((yield from self.read(key)), list[int]) or []
        new = [number for number in numbers if number not in known]
        if new:
            yield from self.write(key, json.dumps([*known, *new]))

    def _asked(self, request: Ask[T], problem: str = "summaries are not kept") -> Asking[T | None]:
        if not self.works:
            return None
        try:
            return (yield from ask(request))
        except StoreError as fault:
            self.works, self.trouble = False, f"{problem}: {fault}"
            return None
