"""One message of a conversation and its parts.

A message keeps the caller's object by reference and is read through its wire: parts are made when
first asked for, and an untouched message is written back as the very object that came in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, cast, runtime_checkable

Role = Literal["system", "user", "assistant", "tool"]
"""The four roles; ``developer`` is read as system, ``human`` as user, ``function`` as tool."""

MediaKind = Literal["image", "document", "audio", "video"]


class Text(NamedTuple):
    """Words of the message's author."""

    text: str


class ToolCall(NamedTuple):
    """A call made by the model; ``arguments`` is JSON text, written as the wire writes it."""

    id: str
    name: str
    arguments: str

    @property
    def text(self) -> str:
        """What is counted: the name and its arguments in one run, as providers render them."""
        return self.name + self.arguments


@dataclass(frozen=True, slots=True)
class Media:
    """An image, document, sound or film; ``source`` is base64 data, a URL or a file id.

    ``detail`` is the wire's own hint on resolution (``low``, ``high``), empty where there is none.
    """

    kind: MediaKind
    media_type: str = ""
    source: str = ""
    detail: str = ""

    @property
    def text(self) -> str:
        """Media have no words."""
        return ""


class ToolResult(NamedTuple):
    """What a tool gave back for the call ``call_id``: its text, and media that came with it."""

    call_id: str
    text: str
    media: tuple[Media, ...] = ()
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Thinking of the model; vendors refuse ``signed`` thinking once a letter of it has changed."""

    text: str
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part of unknown type, carried along untouched; ``text`` is its JSON, for counting alone."""

    text: str


SUMMARY = "[HISTORY_SUMMARY"
"""The beginning of a summary message; ``compressors.summaries`` tells a genuine one."""

T = TypeVar("T")
Part = Text | ToolCall | ToolResult | Reasoning | Media | Opaque


class Wire(Protocol):
    """How one vendor's messages are read and written, one message at a time."""

    @property
    def name(self) -> str:
        """The name in ``formats/``."""
        ...

    def parts(self, original: object) -> tuple[Part, ...]:
        """The parts of one message of the payload, in its own order."""
        ...

    def render(self, original: object, texts: Mapping[int, str]) -> object:
        """A copy of the message in which the parts at these indices have these texts.

        The content of a tool result becomes the text alone: media inside it are gone.
        """
        ...

    def compose(self, role: Role, text: str) -> object:
        """A new message of this wire."""
        ...

    def role(self, original: object) -> Role:
        """Whose message it is; one that is composed for a role that the wire lacks has another."""
        ...


@runtime_checkable
class Annotated(Protocol):
    """A wire with text beside the parts of a message, such as a speaker's name or a title."""

    def aside(self, original: object) -> str:
        """What stands there and is counted; it is never edited."""
        ...


@runtime_checkable
class Viewing(Protocol):
    """A wire whose messages may be objects of a framework, each of which is read as an object of JSON."""

    def view(self, original: object) -> Mapping[str, Any]:
        """The message as an object of JSON; the very same where it is one."""
        ...

    def rebuilt(self, value: Mapping[str, Any], was: object = None) -> object:
        """The message of which this is the view.

        ``was`` is the one that it is a version of: what the view does not tell stays as it is
        there.
        """
        ...


@cache
def _is_annotated(wire: type) -> bool:
    return issubclass(wire, Annotated)


class Message:
    """One message: its role, the caller's object and the wire that reads it. Immutable.

    ``plain`` is the whole content where that is one text and the message has no other part (a
    result's ``tool_call_id`` aside), else None. ``is_speech``: it is one text of a system, a user
    or an assistant, without calls and results. ``measured`` is the meter that counted it last, and
    what it found. ``ours``: Holdfast wrote it, in the place of older messages.

    Not a frozen dataclass: that would cost a quarter of the time of reading a conversation.
    """

    __slots__ = (
        "_aside",
        "_calls",
        "_parts",
        "_results",
        "is_speech",
        "measured",
        "original",
        "ours",
        "plain",
        "role",
        "wire",
    )

    def __init__(
        self,
        role: Role,
        original: object,
        wire: Wire,
        plain: str | None = None,
        parts: tuple[Part, ...] | None = None,
        aside: str | None = None,
    ) -> None:
        self.role: Role = role
        self.original = original
        self.wire = wire
        self.plain = plain
        self.is_speech = plain is not None and role != "tool"
        self.measured: tuple[object, int] | None = None
        self.ours = False
        self._parts = parts
        self._aside = aside
        self._calls: tuple[ToolCall, ...] | None = None
        self._results: tuple[ToolResult, ...] | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts, read from the original when first asked for."""
        parts = self._parts
        if parts is None:
            parts = self._parts = self.wire.parts(self.original)
        return parts

    @property
    def aside(self) -> str:
        """What is counted beside the parts."""
        aside = self._aside
        if aside is None:
            wire = self.wire
            aside = (
                cast("Annotated", wire).aside(self.original) if _is_annotated(type(wire)) else ""
            )
            self._aside = aside
        return aside

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls that it makes."""
        if self.is_speech or self.role != "assistant":
            return ()
        calls = self._calls
        if calls is None:
            calls = self._calls = _only(ToolCall, self.parts)
        return calls

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results that it brings."""
        if self.is_speech or self.role == "assistant":
            return ()
        results = self._results
        if results is None:
            results = self._results = _only(ToolResult, self.parts)
        return results

    @property
    def content_text(self) -> str | None:
        """Texts and results joined by newlines; None where the message has neither."""
        if self.plain is not None:
            return self.plain
        texts = [part.text for part in self.parts if isinstance(part, Text | ToolResult)]
        return "\n".join(texts) if texts else None

    def saying(self, texts: Mapping[int, str]) -> Message:
        """The message with other texts in the parts at these indices."""
        original = self.wire.render(self.original, texts)
        plain = None
        if self.plain is not None and len(self.parts) == 1 and 0 in texts:
            plain = texts[0]
        after = Message(self.role, original, self.wire, plain)
        after.ours = self.ours and (after.content_text or "").startswith(SUMMARY)
        return after


def _only(kind: type[T], parts: tuple[Part, ...]) -> tuple[T, ...]:
    """The parts of this kind; without a new tuple where there is one part and it is."""
    if len(parts) == 1:
        return cast("tuple[T, ...]", parts) if type(parts[0]) is kind else ()
    return tuple([part for part in parts if isinstance(part, kind)])
