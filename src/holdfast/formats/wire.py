"""Base classes of formats whose messages are JSON objects; a format lists the places of parts.

Text in fields that belong to no part is counted too, for counts should rather be too high than too
low, except: the data of images and sounds, which ``tokens.media`` counts; signatures, which the
vendor checks and removes; citations, whose text, title and address are free according to
Anthropic's guides; and the first 64 characters of labels and field names, since no vendor's ids,
types and names are longer.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from marshal import dumps
from operator import getitem, is_
from typing import Any, ClassVar, cast

from holdfast.kernel.errors import FormatError
from holdfast.kernel.integrity import Rules
from holdfast.kernel.messages import (
    Message,
    Opaque,
    Part,
    Parts,
    Role,
    Text,
    Texts,
    ToolCall,
    ToolResult,
)
from holdfast.kernel.registry import imported
from holdfast.kernel.transcript import Transcript

from . import recognised
from .payloads import (
    MESSAGES,
    ROLES,
    Located,
    Node,
    Object,
    Path,
    body_of,
    compact,
    is_list,
    is_object,
    messages_of,
    refuse,
    rewritten,
    schemas,
    what_is,
)

_NO_TEXTS = frozenset(
    "bytes citations data fileUri file_data file_uri image_url redactedContent signature"
    " thoughtSignature thought_signature uri url".split()
)
_LABELS = frozenset(
    "call_id detail file_id format id media_type mimeType mime_type phase role status tool_call_id"
    " toolUseId tool_use_id ttl type".split()
)
_CALL_IDS = ("tool_call_id", "call_id", "tool_use_id", "toolUseId", "id")
LABEL = 64  # characters of a label that are not counted as text: longer than any role, type or id


def untold(value: object, told: Mapping[int, Collection[str]], field: str = "") -> list[str]:
    """All texts in the value of this field, at any depth, but those that are told in parts.

    ``told`` has their fields by the identity of the object. Most messages have no other text: lists
    are made faster here than generators.
    """
    if field in _NO_TEXTS:
        return []
    if isinstance(value, str):
        text = value[LABEL:] if field in _LABELS else value
        return [text] if text else []
    found: list[str] = []
    if is_object(value):
        passed = told.get(id(value), ())
        for name, inner in value.items():
            if name in passed or (type(inner) is str and name in _LABELS and len(inner) <= LABEL):
                continue
            if len(str(name)) > LABEL:  # dictionaries of others may have a number as a name
                found.append(str(name))
            found += untold(inner, told, name)
    elif is_list(value):
        for item in value:
            found += untold(item, told, field)
    return found


_SCHEMAS = (
    "response_format",
    "output_config",
    "output_format",
    "text",
)  # counted whole, even if their texts are short


_STRANGERS = {
    "openai_responses": "this is an item of OpenAI's Responses API",
    "langchain": "this is a message of LangChain",
}
"""What a message without a role may be, by the format whose marks it has."""


Glance = tuple[Parts, str]
"""What a glance at a message shows: its parts, and the texts beside them, each after a newline."""


# what the caller's objects held when they were read, since they may change; and the messages
RecentRead = tuple[bytes, tuple[Message, ...]]


_FEW = 64  # fewer messages are read in .2 ms, and would take the place of a longer conversation
_KEPT = 4  # conversations; a program that fits more of them by turns reads each again
_MOST = 2_000_000  # bytes of one; all of them take an eighth of what the other caches may take
_WITHOUT_REFERENCES = 2  # a version of marshal's format by which equal objects are equal bytes
_BARE = 2  # fields of a message with nothing beside its content: that and the role
_HEADER = 5  # bytes before the first item of a list, in that format


class ObjectWire(ABC):
    """Reads and writes messages by the paths of their parts.

    ``publisher`` is the format whose published fields this one has, if it is another one.
    ``field`` is the field of a body with the messages, ``content`` that of a message with its
    content. ``carriers`` are further fields with parts: a message without them whose content is one
    text needs no further reading. ``prompts`` are the fields of a body that may have the system
    prompt, and ``enveloped`` those of tools, which ``read`` counts too. ``rules`` are those of
    every API that uses the format.
    """

    name: str
    field: ClassVar[str] = MESSAGES
    publisher: ClassVar[str] = ""
    content: ClassVar[str] = "content"
    rules: Rules = ()
    carriers: ClassVar[frozenset[str]] = frozenset()
    prompts: ClassVar[tuple[str, ...]] = ()
    enveloped: ClassVar[tuple[str, ...]] = ("tools",)
    _recent: ClassVar[Sequence[RecentRead]] = ()
    """The conversations that were read last; most come again with a few messages more."""

    @abstractmethod
    def locate(self, message: Node) -> Located:
        """The parts in order, each with the path of its text."""

    def recognises(self, payload: object) -> bool:
        """Whether the payload has the marks of this format, and of none that comes before it."""
        return recognised(payload) == self.name

    def with_ids(self, message: Object, ids: Mapping[int, str]) -> Object:
        """A copy with these ids, by the indices of the calls and results.

        A call of the time before there were ids has none.
        """
        located = list(self.locate(Node(message, "message")))
        texts: dict[Path, str] = {}
        for k, name in ids.items():
            part, path = located[k]
            own = part.call_id if isinstance(part, ToolResult) else cast("ToolCall", part).id
            # the id is a field of an object around the text
            holders = accumulate(path[:-1], getitem, initial=cast("Any", message))
            for depth, holder in enumerate(holders):
                if is_object(holder):
                    found = [field for field in _CALL_IDS if holder.get(field) == own]
                    texts |= {(*path[:depth], field): name for field in found}
        return rewritten(message, texts)

    def published(self, payload: object) -> Rules:
        """Fields and limits of the vendor's own API; other servers may accept more."""
        load = imported("holdfast.formats.rules.published:published_rules")
        return cast("Rules", load(self.publisher or self.name, body_of(payload)))

    def aside(self, original: object) -> str:
        """The texts that are in no part, each after a line break.

        Raises FormatError for a message nested too deeply.
        """
        message = self.view(original)
        text = self._text(message, message.get(self.content))
        is_bare = text is not None and len(message) == _BARE
        return "" if is_bare else self._told(message, "message")[1]

    def view(self, original: Any) -> Object:
        """The message as a JSON object, from which all methods read."""
        view: Object = original
        return view

    def rebuilt(self, value: Object, was: object = None) -> object:
        """The message that corresponds to a view; ``was`` is its earlier version."""
        return value

    def system_parts(self, message: Object) -> Sequence[int]:
        """The indices of system prompts among the parts of a user's message."""
        return ()

    def key(self, payload: object) -> str:
        """The field of a request body with its messages; empty for a list."""
        return self.field if is_object(payload) else ""

    def listed(self, payload: object) -> Sequence[Any]:
        """The messages of the payload. Raises FormatError if there are none."""
        return messages_of(payload, self.field)

    def named_role(self, original: object, place: str) -> Role:
        """The role of a message. Raises FormatError, naming the place, for anything else."""
        if not is_object(original):
            advice = 'give a dictionary with "role" and "content"'
            raise FormatError(f"{what_is(original)} is not a message", place=place, advice=advice)
        role = original.get("role")
        advice = "give a role such as user or assistant"
        if role is None:
            problem = 'the message has no "role"'
            if (whose := recognised([original])) in _STRANGERS:
                problem, advice = _STRANGERS[whose], f"leave the format out, or name {whose}"
            raise FormatError(problem, place=place, advice=advice)
        if not isinstance(role, str) or not role.strip():
            problem = (
                "the role is empty" if isinstance(role, str) else f"{what_is(role)} is not a role"
            )
            raise FormatError(problem, place=f"{place}.role", advice=advice)
        return ROLES.get(role, "user")

    def only_text(self, block: Object) -> str | None:
        """The text of a message's only block if it has nothing else; None for other blocks."""
        return None

    def glance(self, message: Object) -> Glance | None:
        """What a message of the most common form says, read quickly; None for other messages.

        A conversation is read again at each call, which makes this worthwhile.
        """
        return None

    def parts(self, original: object) -> Parts:
        """The parts, in the message's order."""
        return self._told(self.view(original), "message")[0]

    def render(self, original: object, texts: Texts) -> object:
        """A copy with these texts: JSON for a call's arguments, the whole content of a result."""
        message = self.view(original)
        places = [path for _, path in self.locate(Node(message, "message"))]
        now = rewritten(message, {places[index]: text for index, text in texts.items()})
        return self.rebuilt(now, original)

    def compose(self, role: Role, text: str) -> object:
        """A new message."""
        return {"role": role, "content": text}

    def role(self, original: object) -> Role:
        """The role of the message."""
        return self.named_role(self.view(original), "message")

    def prompt(self, payload: object) -> Iterator[Part]:
        """The system prompt that a body has besides its messages; the model reads it first."""
        body = body_of(payload)
        for field in filter(body.get, self.prompts):
            system = body[field]
            if not (is_object(system) or is_list(system) or isinstance(system, str)):
                refuse(system, f"body.{field}", "give text or a list of parts")
            holder = system if is_object(system) else {"role": "system", self.content: system}
            parts, beside = self._told(holder, f"body.{field}")
            yield from (*parts, Opaque(beside)) if beside else parts

    def prompted(self, text: str) -> object:
        """The system prompt as a body has it."""
        return text

    def offered(self, body: Object, tools: object) -> Parts:
        """The schemas of these tools, by default those of the body."""
        return schemas(body.get("tools") if tools is None else tools)

    def read(self, payload: object, tools: object = None) -> Transcript:
        """The transcript, with the rules of this format; the rest of a body is its envelope."""
        body = body_of(payload)
        envelope = [*self.prompt(payload), *self.offered(body, tools)]
        for field, value in body.items():
            if not value or field in (self.field, *self.prompts, *self.enveloped):
                continue
            # what else the model reads: schemas of its answer, and longer texts
            if field in _SCHEMAS or any(len(text) > LABEL for text in untold(value, {})):
                envelope.append(Opaque(compact(value, field)))
        return Transcript(self._messages(payload), self, self.rules, tuple(envelope))

    def _messages(self, payload: object) -> tuple[Message, ...]:
        """The messages; those that were read before and have not changed are not read again."""
        originals = self.listed(payload)
        content = b""
        if len(originals) >= _FEW:
            with suppress(ValueError):  # for what is not JSON, which may change unseen
                content = dumps([*originals], _WITHOUT_REFERENCES)[_HEADER:]
        if not 0 < len(content) <= _MOST:
            return tuple(self._read(originals, 0))
        recent = ObjectWire._recent
        before = next(
            (known for known in recent if self._overlaps(known, originals, content)), None
        )
        begun = before[1][: len(originals)] if before else ()
        messages = (*begun, *self._read(originals, len(begun)))
        others = [known for known in recent if known is not before]
        ObjectWire._recent = [(content, messages), *others][:_KEPT]
        return messages

    def _overlaps(self, known: RecentRead, originals: Sequence[Any], content: bytes) -> bool:
        """Whether the shorter of the two conversations is the beginning of the longer one."""
        held, messages = known
        before = [message.original for message in messages]
        shorter, longer = sorted((held, content), key=len)
        is_same = messages[0].wire is self and all(map(is_, before, originals))
        return is_same and longer.startswith(shorter)

    def _read(self, originals: Sequence[Any], start: int) -> list[Message]:
        """The messages from ``start`` on."""
        messages: list[Message] = []
        view, glance, field = self.view, self.glance, self.content
        for i, original in enumerate(originals[start:], start):
            value = view(original)
            try:
                role, content = ROLES[value["role"]], value.get(field)
            except (KeyError, TypeError, AttributeError, IndexError):
                role = self.named_role(value, f"{self.field}[{i}]")
                content = value.get(field)
            is_bare = len(value) == _BARE
            text = content if is_bare and type(content) is str else self._text(value, content)
            if text is not None and role != "tool":
                messages.append(Message(role, original, self, text, None, "" if is_bare else None))
                continue
            parts, aside = glance(value) or self._told(value, f"{self.field}[{i}]")
            messages.append(Message(role, original, self, text, parts, aside))
        return messages

    def _text(self, message: Object, content: object) -> str | None:
        """The content if it is one text and no other field has parts; else None."""
        if type(content) is str:
            text: str | None = content
        elif content and is_list(content) and len(content) == 1 and is_object(content[0]):
            text = self.only_text(content[0])
        else:
            return None
        # null and empty fields have no parts
        return None if any(map(message.get, self.carriers)) else text

    def _told(self, message: Object, place: str) -> Glance:
        """The parts, and the texts beside them. Raises FormatError if it is nested too deeply."""
        node = Node(message, place)
        parts = tuple([part for part, _ in self.locate(node)])
        try:
            beside = self.beside(node)
        except RecursionError as fault:
            raise FormatError(
                "a message is nested too deeply, or holds itself",
                place=place,
                advice="give it less deeply nested",
            ) from fault
        if beside and not parts and message.get(self.content) is None:
            for field, value in message.items():
                if field not in ("role", "name") and untold(value, {}, field):
                    # it would be counted as nothing
                    raise FormatError(
                        f'the message has "{field}" and no "{self.content}"',
                        place=place,
                        advice=f'put its text into "{self.content}"',
                    )
        return parts, "".join([f"\n{text}" for text in beside])

    def beside(self, message: Node) -> Sequence[str]:
        """The texts of a message that are in none of its parts, which were read before."""
        return untold(message.value, message.told)


class FrameworkWire(ObjectWire):
    """A framework's format: messages are its objects, or the JSON that it writes.

    ``objects``: new messages are objects too.
    """

    def __init__(self, *, objects: bool = False) -> None:
        self.objects = objects

    def published(self, payload: object) -> Rules:
        """None: the package checks the fields itself when a message is made."""
        return ()

    def read(self, payload: object, tools: object = None) -> Transcript:
        """As in every format; if one message is an object, new messages are objects too."""
        if self.objects or all(map(is_object, self.listed(payload))):
            return super().read(payload, tools)
        return type(self)(objects=True).read(payload, tools)

    def compose(self, role: Role, text: str) -> object:
        """A new message."""
        return self.rebuilt(cast("Object", super().compose(role, text)))


class BlockWire(ObjectWire):
    """A format whose messages are lists of blocks, with results in user messages."""

    def only_text(self, block: Object) -> str | None:
        """The text of a block that has nothing else."""
        text = block.get("text")
        return text if len(block) == 1 and type(text) is str else None

    assistant: ClassVar[str] = "assistant"
    """The name of the assistant's role."""

    @abstractmethod
    def block(self, part: Part, name: str = "") -> Object:
        """A new block for this part, which is no reasoning; ``name`` is the tool of a result."""

    def holding(self, role: Role, blocks: Sequence[Object]) -> Object:
        """A message of these blocks; the system role becomes the user's."""
        speaker = self.assistant if role == "assistant" else "user"
        return {"role": speaker, self.content: list(blocks)}

    def compose(self, role: Role, text: str) -> object:
        """A new message of one block."""
        return self.holding(role, [self.block(Text(text))])
