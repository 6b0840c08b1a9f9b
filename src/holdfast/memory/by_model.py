"""The warm and the cold form by a model, held against the original; the form by rule wherever it falls short."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from holdfast.kernel.errors import ModelError
from holdfast.kernel.flow import ask
from holdfast.kernel.ports import Ask, Complete
from holdfast.text.identifiers import Identifier, find
from holdfast.text.words import terms

from .changing import read
from .clauses import Count
from .condensing import FACTORS, KEPT, Condenser, Form, RuleCondenser, room_for
from .mentions import completed, named_in
from .segments import HEAVY, LIGHT, VERBATIM, Segment

RECONSTRUCTED = "[reconstructed by a model from a shorter note of it: these are not the original words]"
"""The first line of what a model wrote out."""

_PROMPTS = Path(__file__).parent / "prompts"
_NAMES = {LIGHT: "light", HEAVY: "heavy"}
_LEAST = 12  # tokens that a form aims at, at least: in fewer a model says no more than the rule
_OWN_WORDS = 0.4  # share of its words that a form takes from the text: an excuse or another topic has none of them
_SPELLED_OUT = 2  # digits of a number that the text may have had in words
_WORDS_A_TOKEN = 0.7  # of English, a little less than the usual three quarters
_EXPANSION = 4  # times the note's tokens that its expansion may take


@dataclass(frozen=True, slots=True)
class ModelCondenser:
    """Asks the model for a form, and takes it if it says what the text says and is small enough.

    ``rule`` makes the form that stands until the model has answered, where its answer is refused, and of what is
    too short to be worth a request.
    """

    rule: Condenser = field(default_factory=RuleCondenser)

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form by rule: at once, and without a model."""
        return self.rule.condense(text, level, count)

    def asking(self, text: str, level: int, count: Count) -> Generator[Ask[object], Any, Form]:
        """The form by the model, and behind it what the text names and the model left out."""
        aimed = int(count(text) / FACTORS[level][0])
        if aimed < _LEAST:
            return Form(self.condense(text, level, count), asked=False)
        named, room = named_in(text), room_for(count(text), level)
        reply = (yield from ask(_request(_NAMES[level], text, named, aimed))).strip()
        form = completed(reply, named, room, count)
        reason = _unfounded(reply, text)
        if not reason and count(form) > room:
            reason = "it is too long"
        if not reason and sum(name in form for name in named) < KEPT[level] * len(named):
            reason = "with all that the text names it is too long"
        return Form(self.condense(text, level, count), reason) if reason else Form(form)


def expanded(segment: Segment, count: Count, now: float) -> Generator[Ask[object], Any, Segment]:
    """The segment written out by the model (V.19), marked as reconstructed; ``recalled`` gives the original.

    Raises ModelError where the model has no answer, or one that the note does not bear out. Only for those who
    ask for it.
    """
    named = named_in(segment.content)
    text = (yield from ask(_request("expand", segment.content, named, segment.tokens * _EXPANSION))).strip()
    reason = _unfounded(text, segment.content) or _forgotten(text, named)
    if reason:
        raise ModelError(f"the reply of the model was refused: {reason}")
    metadata = {
        "was_compressed": True,
        "original_compression_level": segment.level,
        "expansion_timestamp": now,
        "reconstructed": True,
    }
    content = f"{RECONSTRUCTED}\n{text}"
    return replace(read(segment, now), content=content, tokens=count(content), level=VERBATIM, metadata=metadata)


def _unfounded(reply: str, text: str) -> str:
    """Why the reply cannot stand for the text; empty where it can."""
    said = set(terms(reply))
    if not said:
        return "it says nothing"
    if len(said.intersection(terms(text))) < _OWN_WORDS * len(said):
        return "it speaks of something else"
    invented = [one.text for one in find(reply) if one.text not in text and not _may_be_in_words(one)]
    return f"it names {invented[0]!r}, which the text does not" if invented else ""


def _may_be_in_words(one: Identifier) -> bool:
    """Whether it is a small number, for "twice" may have become "2 times"."""
    return one.kind in {"number", "quantity"} and sum(map(str.isdigit, one.text)) <= _SPELLED_OUT


def _forgotten(reply: str, named: Iterable[str]) -> str:
    missing = [name for name in named if name not in reply]
    return f"it leaves out {missing[0]!r}" if missing else ""


def _request(name: str, piece: str, named: Iterable[str], tokens: int) -> Complete:
    prompt = _template(name).substitute(
        words=max(1, int(tokens * _WORDS_A_TOKEN)),
        named=", ".join(named) or "(nothing in particular)",
        piece="\n".join(f"| {line}" for line in piece.splitlines()),
    )
    return Complete(prompt.strip(), _template("system").template.strip(), tokens)


@cache
def _template(name: str) -> Template:
    return Template((_PROMPTS / f"{name}.txt").read_text("utf-8"))
