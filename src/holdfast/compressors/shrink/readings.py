"""What was worked out for a text, kept by the text itself: its shorter form, its readings."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from holdfast.compressors.references import referenced
from holdfast.compressors.shrink.arguments import shortened
from holdfast.content import recognise
from holdfast.kernel.ports import Room, Shrunk
from holdfast.text.memo import Memo
from holdfast.text.question import Question

_SMALL = 1_000  # tokens: of a shorter text a question without names or numbers sets little apart
_CHARACTERS = 32_000_000  # that each memo holds


class Reading(NamedTuple):
    """A text in a room, with the key of its original and the name of the tool that gives it back, if any."""

    text: str
    room: Room
    key: str = ""
    tool: str = ""


def _read(reading: Reading) -> Shrunk | None:
    text, room, key, tool = reading
    kind = recognise(text)
    return referenced(kind, text, room, key, tool) if key else kind.shrink(text, room)


class Arguments(NamedTuple):
    """Arguments of a call in so many tokens, counted by ``tokens_of``, with the reference to their original."""

    text: str
    tokens: int
    tokens_of: Callable[[str], int]
    reference: str = ""


def _clamped(arguments: Arguments) -> str | None:
    return shortened(*arguments)


def _compacted(text: str) -> str | None:
    return recognise(text).compact(text)


def question_for(text: str, tokens: int, question: str) -> str:
    """What the question asks of this text: nothing, if the text says nothing of it.

    So another question that asks the same of it meets the same reading.
    """
    return _asked((text, question, tokens < _SMALL)) if question else ""


def _asked_of(key: tuple[str, str, bool]) -> str:
    text, question, is_small = key
    telling = [term for term in Question.of(question).terms if not (is_small and term.plain)]
    low = text.lower() if telling else ""
    held = (term.needle for term in telling if term.needle in low and term.found_in(text, low))
    if is_small:
        return " ".join(f'"{needle}"' for needle in sorted(held))
    return question if any(True for _ in held) else ""


compacted = Memo(_compacted, lambda text, short: len(text) + len(short or ""), _CHARACTERS)
"""The shorter form of the same value, or None."""

read = Memo(_read, lambda reading, shrunk: len(reading.text) + len(shrunk.text if shrunk else ""), _CHARACTERS)
"""The text as it fits the room; None where there is no room for its reference."""

clamped = Memo(_clamped, lambda arguments, short: len(arguments.text) + len(short or ""), _CHARACTERS)
"""The arguments, still JSON, with their long texts clamped; None where there are none."""

_asked = Memo(_asked_of, lambda key, _: len(key[0]) + len(key[1]), _CHARACTERS)
