"""What a model writes: how it is asked, in one call or in parts, and what is kept of it.

Prompts come from the texts in ``prompts/``; what the model is to read is quoted, so as to be no
request.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Any, NamedTuple, TypeVar, cast

from holdfast.compressors.summaries import WorkingStore, as_object, message_key, messages_key
from holdfast.compressors.verification import Count, accepted, bullets, details_of, listed, missing
from holdfast.kernel.budget import Allowance
from holdfast.kernel.errors import ContextOverflowError, HoldfastError, ModelError
from holdfast.kernel.flow import ask
from holdfast.kernel.messages import Media, Message, Role, Text, ToolCall, ToolResult
from holdfast.kernel.ports import All, Ask, Complete
from holdfast.text.fit import clip, fits
from holdfast.text.visible import encodable

_HERE = Path(__file__).parent / "prompts"
_WORDS_A_TOKEN = 0.7  # of English, a little less than the usual three quarters
_QUOTE = "| "
_OF_SUMMARIES = ("extend", "merge", "message", "squeeze", "summarize", "system")
"""The prompts whose answers are kept: another wording of one makes all of them be asked for anew."""


def request(name: str, tokens: int, values: Mapping[str, str]) -> Complete:
    """The request of the prompt ``name`` for a reply of at most so many tokens."""
    given = {"words": str(max(1, int(tokens * _WORDS_A_TOKEN))), "instructions": "", **values}
    return Complete(
        _prompt(name).substitute(given).strip(), _prompt("system").template.strip(), tokens
    )


@cache
def _prompt(name: str) -> Template:
    return Template((_HERE / f"{name}.txt").read_text("utf-8"))


def wording() -> str:
    """Everything that is asked for a summary: it decides what an answer is worth."""
    return "\n".join(_prompt(name).template for name in _OF_SUMMARIES)


def quoted(text: str) -> str:
    """The text as material.

    Every line of it behind a bar, so that nothing inside can end the quotation.
    """
    return "\n".join(_QUOTE + line for line in encodable(text).splitlines()) or _QUOTE


def rendered(messages: Iterable[tuple[int, Message]]) -> Iterator[str]:
    """Each message, given with its position, as a block: who spoke, and the quotation."""
    tools: dict[str, str] = {}
    for position, message in messages:
        tools.update((call.id, call.name) for call in message.calls)
        said = "\n".join(_told_by(message, tools))
        if said:
            yield f"Message {position}, {message.role}:\n{quoted(said)}"


def _told_by(message: Message, tools: Mapping[str, str]) -> Iterator[str]:
    """What a reader would see of each part; reasoning is not part of what was said."""
    for part in message.parts:
        if isinstance(part, Text) and part.text.strip():
            yield part.text
        elif isinstance(part, ToolCall):
            yield f"calls {part.name}({part.arguments})"
        elif isinstance(part, ToolResult):
            yield f"result of {tools.get(part.call_id, 'a tool')}: {part.text}"
        elif isinstance(part, Media):
            yield f"[{part.kind}]"


Writing = Generator[Ask[Any], Any, str]

_LEAST_INPUT = 256  # tokens of material in one call, however small the window is said to be
_WORDING = 600  # tokens that the prompts take, generously
_ERRING = 0.9  # of a window: the model's own counter may differ from ours
_ATTEMPTS = 3  # calls that the model may find too large, each with half of the material
_CHARACTERS = 8  # a token: no text has longer ones on the whole


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be written: by the prompt of this name, with these values, in at most ``tokens``.

    ``window`` is what the model takes, in tokens, 0 if unknown.
    """

    prompt: str
    tokens: int
    window: int
    count: Count
    values: Mapping[str, str] = field(default_factory=dict[str, str])

    def room(self, earlier: str = "") -> int:
        """Tokens of material that one call may bring; 0 is without end."""
        if not self.window:
            return 0
        taken = (
            self.tokens
            + _WORDING
            + self.count(earlier)
            + sum(map(self.count, self.values.values()))
        )
        return max(_LEAST_INPUT, int(self.window * _ERRING) - taken)


def written(task: Task, blocks: Sequence[str], earlier: str = "") -> Writing:
    """The notes of the blocks, and of the ``earlier`` notes if there are any. Raises ModelError."""
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


def _written_in_room(task: Task, blocks: Sequence[str], earlier: str, room: int) -> Writing:
    chunks = _packed(blocks, room, task.count)
    if len(chunks) == 1:
        return (yield from _asked(task, "extend" if earlier else task.prompt, chunks[0], earlier))
    parts = [earlier] if earlier else []
    parts += yield from _each(task, task.prompt, chunks)
    return (yield from _merged(task, parts, room))


def _merged(task: Task, parts: Sequence[str], room: int) -> Writing:
    """One set of notes of many, in rounds; each makes fewer of them."""
    while len(parts) > 1:
        groups = _packed([quoted(part) for part in parts], room, task.count)
        if len(groups) >= len(parts):
            return "\n\n".join(parts)
        parts = yield from _each(task, "merge", groups)
    return parts[0]


def _each(task: Task, prompt: str, materials: Sequence[str]) -> Generator[Ask[Any], Any, list[str]]:
    asks = tuple(_request(task, prompt, material) for material in materials)
    answers = yield from ask(All(cast("tuple[Ask[object], ...]", asks)))
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    return [accepted(str(answer), task.tokens, task.count) for answer in answers]


def _asked(task: Task, prompt: str, material: str, earlier: str) -> Writing:
    reply = yield from ask(_request(task, prompt, material, earlier))
    return accepted(reply, task.tokens, task.count)


def _request(task: Task, prompt: str, material: str, earlier: str = "") -> Complete:
    return request(
        prompt, task.tokens, {**task.values, "messages": material, "earlier": quoted(earlier)}
    )


def _packed(blocks: Sequence[str], room: int, count: Count) -> list[str]:
    """The blocks in order, joined to as few texts as the room allows.

    One that is too long is cut into several.
    """
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
    """The block, cut between lines where it does not fit the room.

    Each part opens with the block's first line.
    """
    if fits(block, room, count):
        return [block]
    head, _, rest = block.partition("\n")
    left = max(1, room - count(head) - 4)
    pieces: list[str] = []
    at = 0
    while at < len(rest):
        ahead = rest[at : at + left * _CHARACTERS]
        part = clip(ahead, left, count) or ahead[:1]
        if at + len(part) < len(rest) and (line := part.rfind("\n")) > 0:
            part = part[: line + 1]
        at += len(part)
        pieces.append(f"{head}\n{part if part.startswith('| ') else '| ' + part}".rstrip("\n"))
    return pieces


_OF_THE_MODEL = 0.7  # of the tokens: the rest is for exact things that it leaves out


class Summary(NamedTuple):
    """A text in a model's words.

    ``trouble`` says why the store does not keep it, empty if it does.
    """

    text: str
    trouble: str = ""


Summing = Generator[Ask[Any], Any, Summary]


@dataclass(frozen=True, slots=True)
class Single:
    """A text to be summarized by itself.

    Whose it is, its position, and what it is, such as ``output of grep``.
    """

    text: str
    role: Role
    index: int
    source: str


def message_summary(
    single: Single, tokens: int, allowance: Allowance, question: str = ""
) -> Summing:
    """The text in a model's words, within the tokens, with exact things that the model left out.

    Kept in the store, by thread and position or by content, and found again while neither the text
    nor the prompts, the model or the question change. Raises ModelError where no model answers or
    its reply is refused; a store that fails costs nothing but the keeping, and is told.
    """
    if not allowance.writer:
        raise ModelError("no model was given; pass llm=")
    covers = _hash(single.role, single.text)
    proof = {
        "covers": covers,
        "writer": _hash(wording(), allowance.writer, question, single.source),
    }
    key = (
        message_key(allowance.thread, single.index)
        if allowance.thread
        else f"summary:message:{covers}"
    )
    shelf = WorkingStore(allowance.stored)
    known = _kept((yield from shelf.read(key)), proof)
    if known is not None and allowance.meter.text(known) <= tokens:
        return Summary(known)
    text = yield from _message_written(single, tokens, allowance, question)
    yield from shelf.write(key, json.dumps({**proof, "text": text}, ensure_ascii=False))
    if allowance.thread:
        yield from shelf.add(messages_key(allowance.thread), [single.index])
    return Summary(text, shelf.trouble)


def output_summary(text: str, index: int, tool: str, tokens: int, allowance: Allowance) -> Summing:
    """The output of a tool in a model's words, as ``message_summary``.

    ``tool`` is empty if it is not known.
    """
    return message_summary(
        Single(text, "tool", index, f"output of {tool or 'a tool'}"), tokens, allowance
    )


def _message_written(
    single: Single, tokens: int, allowance: Allowance, question: str
) -> Generator[Ask[Any], Any, str]:
    count = allowance.meter.text
    about = f" It should help to answer this:\n\n{quoted(question)}" if question.strip() else ""
    values = {"source": single.source, "question": about}
    task = Task(
        "message", max(1, int(tokens * _OF_THE_MODEL)), allowance.writer_window, count, values
    )
    text = accepted((yield from written(task, [quoted(single.text)])), tokens, count)
    room = tokens - count(text)
    if room < 0:
        raise ModelError(f"the reply of the model was refused: it is longer than {tokens:,} tokens")
    lines = listed(missing(details_of(single.role, single.text), text), room, count)
    whole = f"{text}\n{bullets(lines)}" if lines else text
    told = whole if count(whole) <= tokens else text
    if count(told) >= count(single.text):
        raise ModelError("the reply of the model was refused: it is not shorter than the text")
    return told


def _kept(value: str | None, proof: dict[str, str]) -> str | None:
    """The text that a store gave, if it was made of the same."""
    found = as_object(value)
    text = found.get("text")
    return text if isinstance(text, str) and found == {**proof, "text": text} else None


def _hash(*texts: str) -> str:
    return sha256(repr(texts).encode("utf-8", "surrogatepass")).hexdigest()


T = TypeVar("T")


def together(
    flows: Sequence[Generator[Ask[Any], Any, T]],
) -> Generator[Ask[Any], Any, list[T | HoldfastError]]:
    """What each flow returns, in order, or the HoldfastError that ended it.

    None waits for another one's end.
    """
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
