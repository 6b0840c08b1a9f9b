"""Asking the model for notes: in one call where it takes all at once, else in parts that are merged."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from holdfast.compressors.prompting import quoted, request
from holdfast.compressors.verification import Count, accepted
from holdfast.kernel.errors import ContextOverflowError
from holdfast.kernel.flow import ask
from holdfast.kernel.ports import All, Ask, Complete
from holdfast.text.fit import clip, fits

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
        taken = self.tokens + _WORDING + self.count(earlier) + sum(map(self.count, self.values.values()))
        return max(_LEAST_INPUT, int(self.window * _ERRING) - taken)


def written(task: Task, blocks: Sequence[str], earlier: str = "") -> Writing:
    """The notes of the blocks, and of the ``earlier`` notes if there are any. Raises ModelError."""
    room, left = task.room(earlier), _ATTEMPTS
    while True:
        try:
            return (yield from _written(task, blocks, earlier, room))
        except ContextOverflowError as fault:
            left -= 1
            if not left:
                raise
            whole = task.count("\n\n".join(blocks))
            room = max(_LEAST_INPUT, min(room or whole, fault.limit or whole, whole) // 2)


def _written(task: Task, blocks: Sequence[str], earlier: str, room: int) -> Writing:
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
    return request(prompt, task.tokens, {**task.values, "messages": material, "earlier": quoted(earlier)})


def _packed(blocks: Sequence[str], room: int, count: Count) -> list[str]:
    """The blocks in order, joined to as few texts as the room allows; one that is too long is cut into several."""
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
    """The block, cut between lines where it does not fit the room; each part opens with the block's first line."""
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
