"""Asking a model for notes, in one call or in parts, and storing summaries of single messages.

The prompts are the texts in ``prompts/``. The material is quoted line by line, so that nothing in
it looks like a request.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import NamedTuple, TypeVar

from holdfast.compressors.summaries import WorkingStore, message_key, messages_key
from holdfast.compressors.verification import accepted, details_of, with_missing
from holdfast.kernel.budget import Allowance
from holdfast.kernel.errors import ContextOverflowError, HoldfastError, ModelError
from holdfast.kernel.flow import Asking, ask
from holdfast.kernel.messages import Media, Message, Role, Text, ToolCall, ToolResult
from holdfast.kernel.ports import All, Ask, Complete
from holdfast.kernel.typed import kept_as
from holdfast.text.fit import Count, clip, fits
from holdfast.text.visible import encodable

_HERE = Path(__file__).parent / "prompts"
_WORDS_A_TOKEN = 0.7  # of English; vendors say three quarters, and this leaves some room
_QUOTE = "| "
_OF_SUMMARIES = ("extend", "merge", "message", "squeeze", "summarize", "system")
"""The prompts whose answers are stored; after a change of one, all answers are requested again."""


def request(name: str, tokens: int, values: Mapping[str, str]) -> Complete:
    """The request made from the prompt ``name``, for a reply of at most ``tokens`` tokens."""
    given = {"words": str(max(1, int(tokens * _WORDS_A_TOKEN))), "instructions": "", **values}
    return Complete(
        _prompt(name).substitute(given).strip(), _prompt("system").template.strip(), tokens
    )


@cache
def _prompt(name: str) -> Template:
    return Template((_HERE / f"{name}.txt").read_text("utf-8"))


def wording() -> str:
    """The text of all prompts for summaries."""
    return "\n".join(_prompt(name).template for name in _OF_SUMMARIES)


def quoted(text: str) -> str:
    """The text with a bar before every line, so that nothing in it can end the quotation."""
    return "\n".join(_QUOTE + line for line in encodable(text).splitlines()) or _QUOTE


def rendered(messages: Iterable[tuple[int, Message]]) -> Iterator[str]:
    """Each message as a block: its position, its role, and the quotation."""
    tools: dict[str, str] = {}
    for position, message in messages:
        tools.update((call.id, call.name) for call in message.calls)
        said = "\n".join(_told_by(message, tools))
        if said:
            yield f"Message {position}, {message.role}:\n{quoted(said)}"


def _told_by(message: Message, tools: Mapping[str, str]) -> Iterator[str]:
    """The text of each part; reasoning is left out, because it was not said."""
    for part in message.parts:
        if isinstance(part, Text) and part.text.strip():
            yield part.text
        elif isinstance(part, ToolCall):
            yield f"calls {part.name}({part.arguments})"
        elif isinstance(part, ToolResult):
            yield f"result of {tools.get(part.call_id, 'a tool')}: {part.text}"
        elif isinstance(part, Media):
            yield f"[{part.kind}]"


# Chosen by hand:
_LEAST_INPUT = 256  # tokens of material in one call, however small the stated window
_WORDING = 600  # tokens for the prompts; the longest has some 400
_ERRING = 0.9  # share of a window: the model's own counter may differ from ours
_ATTEMPTS = 3  # calls that the model may refuse as too long, each with half the material
_CHARACTERS = 8  # characters of a token; no text has longer ones on average


@dataclass(frozen=True, slots=True)
class WritingTask:
    """Notes to be written with this prompt and these values, in at most ``tokens``.

    ``window`` is the window of the model in tokens, 0 if it is not known.
    """

    prompt: str
    tokens: int
    window: int
    count: Count
    values: Mapping[str, str] = field(default_factory=dict[str, str])

    def room(self, earlier: str) -> int:
        """Tokens of material for one call; 0 means no limit."""
        if not self.window:
            return 0
        given = sum(map(self.count, (earlier, *self.values.values())))
        taken = self.tokens + _WORDING + given
        return max(_LEAST_INPUT, int(self.window * _ERRING) - taken)


def written(task: WritingTask, blocks: Sequence[str], earlier: str = "") -> Asking[str]:
    """The notes on the blocks, together with ``earlier`` notes if given. Raises ModelError."""
    room, left = task.room(earlier), _ATTEMPTS
    while True:
        try:
            return (yield from _written_in_room(task, blocks, earlier, room))
        except ContextOverflowError as fault:
            left -= 1
            if not left:
                raise
            whole = task.count("\n\n".join(blocks))
            room = max(_LEAST_INPUT, min(room or whole, fault.limit or whole, whole) // 2)


def _written_in_room(
    task: WritingTask, blocks: Sequence[str], earlier: str, room: int
) -> Asking[str]:
    chunks = _packed(blocks, room, task.count)
    if len(chunks) == 1:
        (notes,) = yield from _each(task, "extend" if earlier else task.prompt, chunks, earlier)
        return notes
    parts = [earlier] if earlier else []
    parts += yield from _each(task, task.prompt, chunks)
    return (yield from _merged(task, parts, room))


def _merged(task: WritingTask, parts: Sequence[str], room: int) -> Asking[str]:
    """One set of notes made of several, in rounds that each leave fewer."""
    while len(parts) > 1:
        groups = _packed([quoted(part) for part in parts], room, task.count)
        if len(groups) >= len(parts):
            return "\n\n".join(parts)
        parts = yield from _each(task, "merge", groups)
    return parts[0]


def _each(
    task: WritingTask, prompt: str, materials: Sequence[str], earlier: str = ""
) -> Asking[list[str]]:
    """The accepted reply to the prompt for each of the materials. Raises ModelError."""
    values = {**task.values, "earlier": quoted(earlier)}
    asks = [request(prompt, task.tokens, {**values, "messages": each}) for each in materials]
    if len(asks) == 1:
        answers: Sequence[object] = [(yield from ask(asks[0]))]
    else:
        answers = yield from ask(All(tuple(asks)))
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    return [accepted(str(answer), task.tokens, task.count) for answer in answers]


def _packed(blocks: Sequence[str], room: int, count: Count) -> list[str]:
    """The blocks in order, joined to as few texts as the room allows; a long block is cut."""
    if not room or fits("\n\n".join(blocks), room, count):
        return ["\n\n".join(blocks)]
    packed: list[str] = []
    size = 0
    for block in [piece for whole in blocks for piece in _pieces(whole, room, count)]:
        tokens = count(block) + 2
        if packed and size + tokens <= room:
            packed[-1] += f"\n\n{block}"
            size += tokens
        else:
            packed.append(block)
            size = tokens
    return packed


def _pieces(block: str, room: int, count: Count) -> list[str]:
    """The block, cut between lines if it does not fit; each part has the block's heading."""
    if fits(block, room, count):
        return [block]
    heading, rest = "", block
    if not block.startswith(_QUOTE):
        first, _, rest = block.partition("\n")
        heading = f"{first}\n"
    left = max(1, room - count(heading) - 4)
    pieces: list[str] = []
    at = 0
    while at < len(rest):
        ahead = rest[at : at + left * _CHARACTERS]
        part = clip(ahead, left, count) or ahead[:1]
        if at + len(part) < len(rest) and (line := part.rfind("\n")) > 0:
            part = part[: line + 1]
        at += len(part)
        mark = "" if part.startswith(_QUOTE) else _QUOTE
        pieces.append(f"{heading}{mark}{part}".rstrip("\n"))
    return pieces


_OF_THE_MODEL = 0.7  # share of the tokens, chosen by hand: the rest is for omitted exact things


class MessageSummary(NamedTuple):
    """A text in a model's words; ``trouble`` says why it is not stored, if it is not."""

    text: str
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Single:
    """A text to be summarized by itself; ``source`` describes it, such as ``output of grep``."""

    text: str
    role: Role
    index: int
    source: str


def message_summary(single: Single, tokens: int, allowance: Allowance) -> Asking[MessageSummary]:
    """A model's summary of the text in at most ``tokens``, with exact things that it left out.

    It is stored by thread and position or by content, and found again while the text, the prompts
    and the model stay the same. Raises ModelError if no model answers or its reply is
    refused. If the store fails, the summary is not stored, and ``trouble`` says why.
    """
    if not allowance.writer:
        raise ModelError("no model was given; pass llm=")
    count = allowance.meter.text
    covers = _hash(single.role, single.text)
    writer = _hash(wording(), allowance.writer, "", single.source)
    proof = {"covers": covers, "writer": writer}
    key = f"summary:message:{covers}"
    if allowance.thread:
        key = message_key(allowance.thread, single.index)
    shelf = WorkingStore(allowance.stored)
    known = _kept((yield from shelf.read(key)), proof)
    if known is not None and count(known) <= tokens:
        return MessageSummary(known)
    values = {"source": single.source, "question": ""}
    aimed = max(1, int(tokens * _OF_THE_MODEL))
    task = WritingTask("message", aimed, allowance.writer_window, count, values)
    reply = accepted((yield from written(task, [quoted(single.text)])), tokens, count)
    if count(reply) > tokens:
        raise ModelError(f"the reply of the model was refused: it is longer than {tokens:,} tokens")
    text = with_missing(reply, details_of(single.role, single.text), tokens, count)
    if count(text) > tokens:
        text = reply
    if count(text) >= count(single.text):
        raise ModelError("the reply of the model was refused: it is not shorter than the text")
    yield from shelf.write(key, json.dumps({**proof, "text": text}, ensure_ascii=False))
    if allowance.thread:
        yield from shelf.add(messages_key(allowance.thread), [single.index])
    return MessageSummary(text, shelf.trouble)


def output_summary(
    text: str, index: int, tool: str, tokens: int, allowance: Allowance
) -> Asking[MessageSummary]:
    """Like ``message_summary``, for the output of a tool; ``tool`` is empty if it is not known."""
    single = Single(text, "tool", index, f"output of {tool or 'a tool'}")
    return message_summary(single, tokens, allowance)


def _kept(value: str | None, proof: dict[str, str]) -> str | None:
    """The stored text, if it was made from the same things."""
    found = kept_as(value, dict[str, str]) or {}
    text = found.pop("text", None)
    return text if found == proof else None


def _hash(*texts: str) -> str:
    return sha256(repr(texts).encode("utf-8", "surrogatepass")).hexdigest()


T = TypeVar("T")


def together(
    flows: Sequence[Asking[T]],
) -> Asking[list[T | HoldfastError]]:
    """Run flows together; return each one's value, or the HoldfastError that ended it."""
    ended: dict[int, T | HoldfastError] = {}
    answers: Mapping[int, object] = dict.fromkeys(range(len(flows)))
    while answers:
        asking: dict[int, Ask[object]] = {}
        for place, answer in answers.items():
            flow = flows[place]
            try:
                asking[place] = (
                    flow.throw(answer) if isinstance(answer, HoldfastError) else flow.send(answer)
                )
            except StopIteration as stop:
                ended[place] = stop.value
            except HoldfastError as fault:
                ended[place] = fault
        found = (yield from ask(All(tuple(asking.values())))) if asking else ()
        answers = dict(zip(asking, found, strict=True))
    return [ended[place] for place in range(len(flows))]
