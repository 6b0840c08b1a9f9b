"""What a model writes: how it is asked for, checked and, for single messages, kept.

The prompts are the texts in ``prompts/``. The material is quoted line by line, so that nothing in
it looks like a request. A reply that is empty, a placeholder, an apology or an error is refused.
Exact things and constraints of the source that a reply does not repeat are listed in the words of
the source.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Template
from typing import NamedTuple, TypeVar

from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Asking, ask
from holdfast.kernel.errors import ContextOverflowError, HoldfastError, ModelError
from holdfast.kernel.messages import Media, Message, Opaque, Role, Text, ToolCall, ToolResult
from holdfast.kernel.ports import All, Ask, Complete
from holdfast.kernel.typed import kept_as
from holdfast.text.fit import LONG_TOKEN, Count, choose, clip, fits, packed
from holdfast.text.identifiers import Identifier, find
from holdfast.text.importance import signals
from holdfast.text.items import item_of
from holdfast.text.keyed import digest
from holdfast.text.memo import Memo
from holdfast.text.pieces import LONGEST, SEAM, WHOLE, clauses
from holdfast.text.sentences import sentences
from holdfast.text.visible import GLANCE, encodable
from holdfast.text.words import READ, stands, terms

from .summaries import WorkingStore, message_key, messages_key

_HERE = Path(__file__).parent / "prompts"
_WORDS_A_TOKEN = 0.7  # of English; OpenAI's help says three quarters, and this leaves some room
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
    return "\n".join(f"{_QUOTE}{line}" for line in encodable(text).splitlines()) or _QUOTE


def rendered(messages: Iterable[tuple[int, Message]]) -> Iterator[str]:
    """Each message as a block: its position, its role, and the quotation."""
    tools: dict[str, str] = {}
    for position, message in messages:
        tools.update((call.id, call.name) for call in message.calls)
        said = "\n".join(_told_by(message, tools))
        if said:
            named = f"{message.name}: {said}" if message.name else said
            yield f"Message {position}, {message.role}:\n{quoted(named)}"


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
        elif isinstance(part, Opaque):
            yield item_of(part.text).told


_ERRING = 0.9  # share of a window: an estimate of tokens errs by a tenth (``tokens.estimate``)
# calls, each with half the material: as many as the packages of OpenAI and Anthropic make
_ATTEMPTS = 3


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
        """Tokens of material for one call, at least as many as of the notes; 0 means no limit."""
        if not self.window:
            return 0
        values = {**self.values, "earlier": quoted(earlier), "messages": ""}
        bare = request("extend" if earlier else self.prompt, self.tokens, values)
        taken = self.tokens + self.count(f"{bare.system}\n{bare.prompt}")
        return max(self.tokens, int(self.window * _ERRING) - taken)


def written(task: WritingTask, blocks: Sequence[str], earlier: str = "") -> Asking[str]:
    """The notes on the blocks, together with ``earlier`` notes if given. Raises ModelError."""
    room, left = task.room(earlier), _ATTEMPTS
    while True:
        try:
            chunks = _packed(blocks, room, task.count)
            if len(chunks) == 1:
                prompt = "extend" if earlier else task.prompt
                return (yield from _each(task, prompt, chunks, earlier))[0]
            parts = [earlier] if earlier else []
            parts += yield from _each(task, task.prompt, chunks)
            while len(parts) > 1:  # rounds that each leave fewer
                groups = _packed([quoted(part) for part in parts], room, task.count)
                if len(groups) >= len(parts):
                    return "\n\n".join(parts)
                parts = yield from _each(task, "merge", groups)
            return parts[0]
        except ContextOverflowError as fault:
            left -= 1
            if not left:
                raise
            whole = task.count("\n\n".join(blocks))
            room = max(task.tokens, min(room or whole, fault.limit or whole, whole) // 2)


def _each(
    task: WritingTask, prompt: str, materials: Sequence[str], earlier: str = ""
) -> Asking[list[str]]:
    """The accepted reply to the prompt for each of the materials. Raises ModelError."""
    values = {**task.values, "earlier": quoted(earlier)}
    asks = [request(prompt, task.tokens, {**values, "messages": each}) for each in materials]
    answers = yield from ask(All(tuple(asks)))
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    told = zip(answers, materials, strict=True)
    return [
        accepted(str(answer), task.tokens, task.count, f"{earlier}\n{material}")
        for answer, material in told
    ]


def _packed(blocks: Sequence[str], room: int, count: Count) -> list[str]:
    """The blocks in order, joined to as few texts as the room allows; a long block is cut."""
    if not room or fits("\n\n".join(blocks), room, count):
        return ["\n\n".join(blocks)]
    pieces = [piece for block in blocks for piece in _pieces(block, room, count)]
    groups = packed([count(piece) + 2 for piece in pieces], room)
    return ["\n\n".join(pieces[n] for n in group) for group in groups]


def _pieces(block: str, room: int, count: Count) -> Iterator[str]:
    """The block, cut between lines if it does not fit; each part has the block's heading."""
    if fits(block, room, count):
        yield block
        return
    heading, rest = "", block
    if not block.startswith(_QUOTE):
        first, _, rest = block.partition("\n")
        heading = f"{first}\n"
    left = max(1, room - count(heading) - 4)
    at = 0
    while at < len(rest):
        ahead = rest[at : at + left * LONG_TOKEN]
        part = clip(ahead, left, count) or ahead[:1]
        if at + len(part) < len(rest) and (line := part.rfind("\n")) > 0:
            part = part[: line + 1]
        at += len(part)
        mark = "" if part.startswith(_QUOTE) else _QUOTE
        yield f"{heading}{mark}{part}".rstrip("\n")


LISTED = 0.25
"""The share of a summary for exact things that the model left out, and as much for users' words.

With half and double, .237 and .239 of recorded runs that grow were kept instead of .241.
"""


class Single(NamedTuple):
    """A text to be summarized by itself; ``source`` describes it, such as ``output of grep``."""

    text: str
    role: Role
    position: int
    source: str


def message_summary(
    single: Single, tokens: int, allowance: Allowance, store: WorkingStore
) -> Asking[str]:
    """A model's summary of the text in at most ``tokens``, with exact things that it left out.

    It is stored by thread and position or by content, and found again while the text, the prompts
    and the model stay the same. Raises ModelError if no model answers or its reply is
    refused. If the store fails, the summary is not stored.
    """
    count = allowance.meter.text
    covers = hash_of(single.role, single.text)
    writer = hash_of(wording(), allowance.writer, "", single.source)
    proof = {"covers": covers, "writer": writer}
    key = f"summary:message:{covers}"
    if allowance.thread:
        key = message_key(allowance.thread, single.position)
    kept = kept_as((yield from store.read(key)), dict[str, str]) or {}
    if proof.items() <= kept.items() and count(kept["text"]) <= tokens:
        return kept["text"]
    values = {"source": single.source, "question": ""}
    aimed = max(1, int(tokens * (1 - LISTED)))
    task = WritingTask("message", aimed, allowance.writer_window, count, values)
    reply = yield from written(task, [quoted(single.text)])
    if count(reply) > tokens:
        raise refused(f"it is longer than {tokens:,} tokens")
    text = with_missing(reply, details_of((single.role, single.text)), tokens, count)
    if count(text) > tokens:
        text = reply
    if count(text) >= count(single.text):
        raise refused("it is not shorter than the text")
    yield from store.write(key, json.dumps({**proof, "text": text}, ensure_ascii=False))
    if allowance.thread:
        yield from store.add(messages_key(allowance.thread), [single.position])
    return text


def hash_of(*texts: object) -> str:
    """A hash that differs if one of these values does."""
    return digest("", repr(texts))


T = TypeVar("T")


def together(flows: Sequence[Asking[T]]) -> Asking[list[T | HoldfastError]]:
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


_PLACEHOLDER = re.compile(
    r"\[[^\]\n]{0,120}\]"
    r"|\W*(?:n/?a|none|null|nil|undefined|todo|tbd|(?:no )?summary|placeholder)?\W*",
    re.IGNORECASE,
)
_EXCUSE = re.compile(
    r"\A(?:i'?m sorry|i am sorry|sorry|i apologi[sz]e|i can(?:no|')t|i am (?:not able|unable)"
    r"|as an ai|(?P<report>error\b|exception\b|traceback\b|internal server error"
    r"|service unavailable|rate limit|\{\s*\"error\"))"
    r"|too (?:long|large) to (?:be )?summari[sz]e|summary (?:is )?(?:un|not )available"
    r"|(?:unable|failed|cannot|could not) to? ?(?:be )?(?:generate|summari[sz]e|create)",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}"
    r"\b(?:previous|prior|above|earlier|preceding|all)\b.{0,40}"
    r"\b(?:instructions?|prompts?|rules|messages|directions|context)\b",
    re.IGNORECASE,
)
_MARK = re.compile(r"\s*\[(?:HISTORY_SUMMARY|CONVERSATION_SUMMARY)\b")

SHARED = 0.8
"""The share of the words of a statement with which a text repeats it, as in the benchmark."""

# how much an exact thing in a tool's output counts; beside notes that tell nothing, .290 of
# recorded runs were kept, with double .283, and with as much as elsewhere .277
_OF_A_TOOL = 0.2
# share of the words of a reply or a text, whichever has fewer, that the other has: short forms of
# dialogues and recorded runs have as much of their own text, and 2% of them of another. With half
# of it 10%, and with double half of them would be refused
_OWN_WORDS = 0.5
_SPELLED_OUT = 2  # digits; up to a hundred is written in words (Chicago Manual of Style, 9.2)


def refused(problem: str) -> ModelError:
    """The error for a reply that cannot be used."""
    return ModelError(f"the reply of the model was refused: {problem}")


def accepted(reply: str, tokens: int, count: Count, source: str = "") -> str:
    """The reply as it may be used. Raises ModelError, with the reason, if it is refused.

    It may be longer than the requested ``tokens`` while it is shorter than its ``source``. Lines
    are removed that look like the mark of a summary, or that tell the reader to ignore other
    instructions. An error is refused unless it is one that the source tells.
    """
    lines = encodable(reply).strip().splitlines()
    kept = [line for line in lines if not _MARK.match(line) and not _COMMAND.search(line[:2_000])]
    text = "\n".join(kept).strip()
    if not text:
        raise refused("it is empty, or nothing but commands")
    if len(text) <= GLANCE:  # a summary of errors is longer than an error
        if _PLACEHOLDER.fullmatch(text):
            raise refused(f"{text!r} is a placeholder")
        excuse = _EXCUSE.search(text)
        if excuse and not (excuse["report"] and _tells_of(text, source)):
            raise refused(f"{text[:80]!r} is an excuse, no summary")
    if not fits(text, tokens, count) and not fits(text, count(source) - 1, count):
        raise refused(f"it is longer than {tokens:,} tokens, and not shorter than the text")
    return text


def _tells_of(reply: str, source: str) -> bool:
    """Whether a report of an error tells one of the source: it names only things that stand there.

    A report of the model's server names other things, or none.
    """
    return bool(find(reply)) and not unfounded(reply, source)


def unfounded(reply: str, text: str) -> str:
    """Why the reply is not a shorter or longer version of the text; empty if it is one.

    A short number may stand for words of the text: "twice" may have become "2 times".
    """
    said, told = set(terms(reply)), set(terms(text))
    if not said:
        return "it says nothing"
    if len(said & told) < _OWN_WORDS * min(len(said), len(told)):
        return "it speaks of something else"
    for one in find(reply):
        digits = sum(map(str.isdigit, one.text))
        in_words = one.kind in {"number", "amount"} and digits <= _SPELLED_OUT
        if one.text not in text and not in_words:
            return f"it names {one.text!r}, which the text does not"
    return ""


class Detail(NamedTuple):
    """A sentence or a line of the source, and the exact things in it.

    ``constrains``: it is a user's constraint.
    """

    line: str
    things: tuple[str, ...]
    weight: float
    constrains: bool = False


def missing(source: Sequence[Detail], text: str) -> list[Detail]:
    """The details that the text lacks, each with the missing things."""
    said = [frozenset(terms(line)) for line in text.splitlines()]
    found: list[Detail] = []
    for detail in source:
        things = tuple(thing for thing in detail.things if not stands(thing, text))
        wanted = frozenset(terms(detail.line) if detail.constrains else ())
        repeats = any(len(wanted & words) >= SHARED * len(wanted) for words in said)
        constrains = detail.constrains and not repeats
        if things or constrains:
            found.append(detail._replace(things=things, constrains=constrains))
    return found


def listed(lost: Sequence[Detail], tokens: int, count: Count) -> list[str]:
    """The most valuable of the lost details that fit, as lines in the order of the source."""
    worth = [
        each.weight * (len(each.things) + each.constrains) / (len(each.line) + SEAM)
        for each in lost
    ]
    ranked = sorted(range(len(lost)), key=lambda n: (-worth[n], -n))
    told, order = set[str](), list[int]()
    for n in ranked:
        if not told.issuperset(lost[n].things) or lost[n].constrains:
            order.append(n)
            told.update(lost[n].things)
    found = chosen([detail.line for detail in lost], order, bullets, tokens, count)
    return list(dict.fromkeys(found))


def chosen(
    texts: Sequence[str],
    order: Sequence[int],
    render: Callable[[Sequence[str]], str],
    tokens: int,
    count: Count,
) -> list[str]:
    """The most texts that fit when rendered together; ``order`` lists the best first."""
    sizes = [len(text) for text in texts]
    some = choose(order, sizes, lambda some: render([texts[n] for n in some]), tokens, count)
    return [texts[n] for n in some]


def with_missing(text: str, source: Sequence[Detail], tokens: int, count: Count) -> str:
    """The text and a list of the details that it lacks, in about ``tokens`` together."""
    lines = listed(missing(source, text), tokens - count(text), count)
    return f"{text}\n{bullets(lines)}" if lines else text


def bullets(lines: Iterable[str]) -> str:
    """The lines as a list, each once."""
    return "\n".join(f"- {line}" for line in dict.fromkeys(lines))


@Memo
def details_of(said: tuple[Role, str]) -> tuple[Detail, ...]:
    """The details of a text, after the role that wrote it."""
    role, text = said
    weight, whole, lines = 1.0, WHOLE, [text]
    if role == "tool":
        weight, whole, lines = _OF_A_TOOL, 0, text[:READ].splitlines()
    found: list[Detail] = []
    for clause in (
        clause
        for line in lines
        for sentence in sentences(line)
        for clause in clauses(sentence, whole=whole)
    ):
        things = tuple(one.text for one in find(clause) if _is_telling(one, role))
        constrains = role == "user" and signals(clause).constrains
        if things or constrains:
            line = " ".join(clause.split())
            found.append(Detail(line, things, weight, constrains))
    return tuple(found)


def attributed(role: Role, text: str, by: str) -> list[Detail]:
    """The details of a text, each behind who said it, or it would read as the user's words."""
    label = f"{by}: " if by else ""
    return [detail._replace(line=f"{label}{detail.line}") for detail in details_of((role, text))]


def _is_telling(one: Identifier, role: Role) -> bool:
    """Whether it may be needed again; in a tool's output, only if it is surely an identifier."""
    digits = sum(character.isdigit() for character in one.text)
    if one.kind == "quoted" or len(one.text) > LONGEST:
        return False
    if one.kind == "number":
        return digits >= (4 if role == "tool" else 2)
    if one.kind == "name" and role == "tool":
        return digits > 0 or one.text.isupper() or "/" in one.text or "@" in one.text
    return True
