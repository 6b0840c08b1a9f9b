"""Masking secrets in texts, in messages, and in a conversation before anything leaves its view.

In a conversation, text of the model and its tools is masked in place. Text of users and the system
is masked when it leaves the view, since it is then stored or summarised. So are parts that must not
be changed in the view, such as signed thinking; while they stay, the result says that they hold a
secret.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from holdfast.kernel.apply import Applied
from holdfast.kernel.edits import Replace
from holdfast.kernel.messages import (
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Viewing,
    Wire,
)
from holdfast.kernel.ports import Ask, Complete, Embed, Save, Write
from holdfast.kernel.registry import imported
from holdfast.kernel.transcript import Transcript
from holdfast.kernel.typed import is_list, is_object
from holdfast.text.items import TIES
from holdfast.text.memo import Memo

MASK = re.compile(r"\[redacted [a-z ]+\]")
"""The masks that replace secrets."""

_BRIEF = "***"
"""A mask with no more tokens than the shortest secret."""

_Holder = dict[Any, Any] | list[Any]

Counts = Mapping[str, int]
"""The number of secrets by kind."""


@Memo
def redacted_text(text: str) -> tuple[str, Counts]:
    """The text with every secret masked, and the number of secrets by kind; JSON stays JSON."""
    # imported on first use, since compiling the patterns takes 20 ms
    return cast("tuple[str, Counts]", imported("holdfast.text.secrets:redact_any")(text))


def concealing(*, redacts: bool) -> Callable[[str], str]:
    """A function that masks secrets, if they are to be masked, or returns the text."""
    return (lambda text: redacted_text(text)[0]) if redacts else str


def masked_parts(message: Message, *, everyone: bool) -> tuple[dict[int, str], Counter[str]]:
    """The masked texts of parts with secrets, and the secrets by kind.

    A masked tool output loses its media. Without ``everyone``, text of users and the system is not
    masked.
    """
    texts: dict[int, str] = {}
    counts: Counter[str] = Counter()
    own = everyone or message.role in ("assistant", "tool")
    for at, part in enumerate(message.parts):
        match part:
            case ToolCall(arguments=said) | ToolResult(text=said):
                pass
            case Text(said) | Reasoning(said, signed=False) if own:
                pass
            case _:  # signed thinking, a medium, or a part of unknown type
                continue
        text, found = redacted_text(said)
        if found:
            texts[at] = text
            counts.update(found)
    return texts, counts


def masked_values(value: object) -> tuple[object, Counter[str]]:
    """A copy of a JSON value with its secrets masked, and the secrets by kind.

    A value without secrets is returned itself. Keys and ids of calls are kept. Values of any depth
    are accepted, and a loop is visited once.
    """
    counts: Counter[str] = Counter()
    root: list[Any] = [value]
    made: dict[int, _Holder] = {}
    todo: list[_Holder] = [root]
    while todo:
        holder = todo.pop()
        for key, each in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            if isinstance(each, str) and key not in TIES:
                holder[key], found = redacted_text(each)
                counts.update(found)
            elif is_object(each) or is_list(each):
                if id(each) not in made:
                    made[id(each)] = dict(each) if is_object(each) else list(each)
                    todo.append(made[id(each)])
                holder[key] = made[id(each)]
    return (root[0] if counts else value), counts


def masked_message(original: object, wire: Wire) -> tuple[object, Counter[str]]:
    """A caller's message with secrets masked, with their counts; the same object if it has none.

    Of an object with secrets, fields that the format does not read are left out.
    """
    if not isinstance(wire, Viewing) or not hasattr(original, "__dict__"):
        return masked_values(original)
    value, counts = masked_values(wire.view(original))
    counts |= masked_values(vars(original))[1]
    return (wire.rebuilt(cast("Any", value)) if counts else original), counts


_hidden = concealing(redacts=True)


@dataclass
class Redaction:
    """A transcript with its secrets masked, the edits that mask them, and counts by kind.

    It also masks what the steps of a compression remove, and counts that too. Signed thinking is
    masked there, since nobody checks its signature any more. Steps use the positions that they see;
    ``positions`` holds the original positions of messages with masked text.
    """

    transcript: Transcript
    edits: tuple[Replace, ...]
    counts: Counter[str]

    def __post_init__(self) -> None:
        self.positions = {edit.index for edit in self.edits}
        self._origins: Sequence[int | None] = range(len(self.transcript))
        self._counted = set[int]()

    @property
    def taken(self) -> dict[int, object]:
        """The masked messages, which replace their originals: undo does not bring secrets back."""
        messages, wire = self.transcript.messages, self.transcript.wire
        return {i: masked_message(messages[i].original, wire)[0] for i in sorted(self.positions)}

    @property
    def detail(self) -> str:
        """The number of masked secrets by kind, as text."""
        return f"secrets masked: {_kinds(self.counts)}"

    def removed(self, applied: Applied) -> dict[int, object]:
        """What a step removed, with all secrets masked."""
        masked: dict[int, object] = {}
        for i, original in applied.taken.items():
            masked[i], found = masked_message(original, self.transcript.wire)
            origin = self._origins[i]
            if found and origin is not None and origin not in self._counted:
                self._counted.add(origin)  # a message that is changed and then dropped counts once
                self.positions.add(origin)
                self.counts.update(found)
        self._origins = [None if i is None else self._origins[i] for i in applied.origins]
        return masked


def mask_transcript(transcript: Transcript, *, brief: bool = False) -> Redaction:
    """Mask secrets in the text of the model and its tools; ``brief`` leaves out their kinds."""
    messages = list(transcript.messages)
    edits: list[Replace] = []
    counts: Counter[str] = Counter()
    for i, message in enumerate(messages):
        texts, found = masked_parts(message, everyone=False)
        if texts:
            texts = {at: MASK.sub(_BRIEF, text) for at, text in texts.items()} if brief else texts
            messages[i] = message.saying(texts)
            edits += [Replace(i, part, text, "secrets masked") for part, text in texts.items()]
            counts.update(found)
    return Redaction(transcript.reworded(tuple(messages)), tuple(edits), counts)


def left(transcript: Transcript) -> str:
    """The secrets in view that could not be masked, as text; empty if there are none."""
    counts: Counter[str] = Counter()
    for message in transcript.messages:
        said = [call.id for call in message.calls] + [each.call_id for each in message.results]
        if message.role in ("assistant", "tool"):
            counts.update(masked_message(message.original, message.wire)[1])
        elif message.plain is None:
            said += [part.text for part in message.parts if isinstance(part, Opaque)]
        for text in said:
            counts.update(redacted_text(text)[1])
    return f"secrets left in parts that may not be changed: {_kinds(counts)}" if counts else ""


def incoming(request: Ask[object], answer: object) -> object:
    """The answer with secrets masked, if a model wrote it."""
    if isinstance(request, Complete) and isinstance(answer, str):
        return _hidden(answer)
    return answer


def _kinds(counts: Counts) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in sorted(counts.items()))


def outgoing(request: Ask[object]) -> Ask[object]:
    """The request with its secrets masked."""
    match request:
        case Save(text):
            return replace(request, text=_hidden(text))
        case Write(value=str(value)):
            return replace(request, value=_hidden(value))
        case Complete(prompt, system):
            return replace(request, prompt=_hidden(prompt), system=_hidden(system))
        case Embed(texts):
            return replace(request, texts=tuple(map(_hidden, texts)))
        case _:
            return request
