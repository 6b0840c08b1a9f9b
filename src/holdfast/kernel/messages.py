"""A message of a conversation, and its parts.

A message holds the caller's object and reads it when asked. An unchanged message is written back as
the same object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, cast, get_args, runtime_checkable

from .forks import cached_property

Role = Literal["system", "user", "assistant", "tool"]
"""The four roles; ``developer`` is read as system, ``human`` as user, ``function`` as tool."""

MediaKind = Literal["image", "document", "video", "audio"]
MEDIA_KINDS: tuple[MediaKind, ...] = get_args(MediaKind)


class Text(NamedTuple):
    """Text of the message's author."""

    text: str


class ToolCall(NamedTuple):
    """A tool call of the model; ``arguments`` is JSON text as the provider writes it."""

    id: str
    name: str
    arguments: str

    @property
    def text(self) -> str:
        """The counted text: the name and its arguments, as providers render them."""
        return self.name + self.arguments


@dataclass(frozen=True)
class Media:
    """An image, document, sound or video; ``source`` is base64 data, a URL or a file id.

    ``detail`` is the provider's hint on resolution (``low``, ``high``), or empty.
    """

    kind: MediaKind
    media_type: str = ""
    source: str = ""
    detail: str = ""

    @property
    def text(self) -> str:
        """Empty: media have no text."""
        return ""


class ToolResult(NamedTuple):
    """The result of the call ``call_id``: its text, and its media."""

    call_id: str
    text: str
    media: tuple[Media, ...] = ()
    is_error: bool = False


@dataclass(frozen=True)
class Reasoning:
    """Thinking of the model; vendors refuse ``signed`` thinking that was changed."""

    text: str
    signed: bool = False


@dataclass(frozen=True)
class Opaque:
    """A part of unknown type, never changed; ``text`` is its JSON, used for counting."""

    text: str


SUMMARY = "[HISTORY_SUMMARY"
"""The start of a summary message; ``compressors.summaries`` checks whether it is genuine."""

Part = Text | ToolCall | ToolResult | Reasoning | Media | Opaque
Parts = tuple[Part, ...]
# new texts of a message, by the indices of its parts
Texts = Mapping[int, str]


class Wire(Protocol):
    """Reads and writes the messages of one vendor, one at a time."""

    @property
    def name(self) -> str:
        """The name of the format."""
        ...

    def parts(self, original: object) -> Parts:
        """The parts of a message, in its order."""
        ...

    def render(self, original: object, texts: Texts) -> object:
        """A copy of the message with these texts in the parts at these indices.

        A tool result becomes its new text alone, without media.
        """
        ...

    def compose(self, role: Role, text: str) -> object:
        """A new message."""
        ...

    def role(self, original: object) -> Role:
        """The role of a message; it differs from a composed one's if the vendor lacks that."""
        ...


@runtime_checkable
class Viewing(Protocol):
    """A wire whose messages may be a framework's objects, each read as a JSON object."""

    def view(self, original: object) -> Mapping[str, Any]:
        """The message as a JSON object; the same object if it is one already."""
        ...

    def rebuilt(self, value: Mapping[str, Any], was: object = None) -> object:
        """The message that corresponds to a view.

        ``was`` is the message of which it is a new version: fields that the view does not show are
        kept.
        """
        ...


class Message:
    """A message: its role, the caller's object, and the wire that reads it. Immutable.

    ``plain`` is the content if the message is one text and nothing else (a result's
    ``tool_call_id`` aside), else None. ``is_speech`` says that it is one text of a system, user or
    assistant. ``measured`` caches the last count and its meter. ``ours`` says that Holdfast wrote
    it in place of older messages.

    Not a frozen dataclass, which would make reading a conversation a quarter slower.
    """

    def __init__(
        self,
        role: Role,
        original: object,
        wire: Wire,
        plain: str | None = None,
        parts: Parts | None = None,
        aside: str | None = None,
        *,
        ours: bool = False,
    ) -> None:
        self.role: Role = role
        self.original = original
        self.wire = wire
        self.plain = plain
        self.is_speech = plain is not None and role != "tool"
        self.measured: tuple[object, int] | None = None
        self.ours = ours
        if parts is not None:
            self.parts = parts
        if aside is not None:
            self.aside = aside

    @cached_property
    def parts(self) -> Parts:
        """The parts, read on first use."""
        plain = self.plain if self.is_speech else None
        return self.wire.parts(self.original) if plain is None else (Text(plain),)

    @cached_property
    def aside(self) -> str:
        """The text beside the parts, such as a speaker's name; counted and never changed."""
        wire: Any = self.wire
        return wire.aside(self.original) if hasattr(wire, "aside") else ""

    @property
    def name(self) -> str:
        """The name of its user or assistant, where several speak in one role; empty without one."""
        wire, role = self.wire, self.role
        if role not in ("user", "assistant") or not self.aside or not isinstance(wire, Viewing):
            return ""
        name = wire.view(self.original).get("name")
        return " ".join(name.split()) if isinstance(name, str) else ""

    @cached_property
    def calls(self) -> tuple[ToolCall, ...]:
        """Its tool calls."""
        if self.is_speech or self.role != "assistant":
            return ()
        return tuple([part for part in self.parts if isinstance(part, ToolCall)])

    @cached_property
    def results(self) -> tuple[ToolResult, ...]:
        """Its tool results."""
        if self.is_speech or self.role == "assistant":
            return ()
        return tuple([part for part in self.parts if isinstance(part, ToolResult)])

    @property
    def user_speaks(self) -> bool:
        """Whether a user speaks here; some formats put tool results under the user's role."""
        return self.role == "user" and (
            self.is_speech or len(self.results) < max(1, len(self.parts))
        )

    @property
    def speaker(self) -> Role:
        """The role of who speaks: a tool's output is the tool's, whichever role holds it."""
        return "tool" if self.role == "user" and not self.user_speaks else self.role

    @cached_property
    def begins_like_ours(self) -> bool:
        """Whether it is text that begins as Holdfast's notes and summaries do."""
        first = self.plain
        if first is None and all(isinstance(part, Text) for part in self.parts):
            first = next((part.text for part in self.parts), "")
        return self.role != "tool" and (first or "").startswith(SUMMARY)

    @property
    def content_text(self) -> str | None:
        """Texts and results joined by newlines; None if there are none."""
        if self.plain is not None:
            return self.plain
        texts = [part.text for part in self.parts if isinstance(part, Text | ToolResult)]
        return "\n".join(texts) if texts else None

    @property
    def said(self) -> Iterator[tuple[Role, str]]:
        """Each text, call (``name(arguments)``) and result, with the role of who said it.

        Parts of unknown type are those of tools that the vendor runs.
        """
        for part in self.parts:
            if isinstance(part, Text):
                yield self.role, part.text
            elif isinstance(part, ToolCall):
                yield "assistant", f"{part.name}({part.arguments})"
            elif isinstance(part, ToolResult | Opaque):
                yield "tool", part.text

    def saying(self, texts: Texts) -> Message:
        """A copy with other texts in the parts at these indices."""
        original = self.wire.render(self.original, texts)
        plain = None if self.plain is None else texts.get(0)
        if plain:  # its only part has the text, and what stands beside it is the same
            parts = tuple(
                [cast("Text | ToolResult", part)._replace(text=plain) for part in self.parts]
            )
            after = Message(self.role, original, self.wire, plain, parts, self.aside)
        else:
            after = Message(self.role, original, self.wire, plain)
        return after.marked(ours=self.ours and (after.content_text or "").startswith(SUMMARY))

    def marked(self, *, ours: bool) -> Message:
        """The message as one that Holdfast wrote, or as one of others."""
        if ours == self.ours:
            return self
        after = copy(self)
        after.ours = ours
        return after


Messages = Sequence[Message]
