"""One message in a model's words: for the place of an old output, or of a message that does not fit."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from holdfast.compressors.kept import as_list, as_object
from holdfast.compressors.prompting import quoted, wording
from holdfast.compressors.summary_keys import message_key, messages_key
from holdfast.compressors.verification import accepted, bullets, details_of, listed, missing
from holdfast.compressors.writing import Task, written
from holdfast.kernel.budget import Allowance
from holdfast.kernel.errors import ModelError, StoreError
from holdfast.kernel.flow import ask
from holdfast.kernel.messages import Role
from holdfast.kernel.ports import Ask, Read, Write

_OF_THE_MODEL = 0.7  # of the tokens: the rest is for exact things that it leaves out


class Summary(NamedTuple):
    """A text in a model's words; ``trouble`` says why the store does not keep it, empty if it does."""

    text: str
    trouble: str = ""


Summing = Generator[Ask[Any], Any, Summary]


@dataclass(frozen=True, slots=True)
class Single:
    """A text to be summarized by itself: whose it is, its position, and what it is, such as ``output of grep``."""

    text: str
    role: Role
    index: int
    source: str


def message_summary(single: Single, tokens: int, allowance: Allowance, question: str = "") -> Summing:
    """The text in a model's words, in at most so many tokens, with the exact things that the model left out.

    Kept in the store, by thread and position or by content, and found again while neither the text nor the
    prompts, the model or the question change. Raises ModelError where no model answers or its reply is refused;
    a store that fails costs nothing but the keeping, and is told.
    """
    if not allowance.writer:
        raise ModelError("no model was given; pass llm=")
    covers = _hash(single.role, single.text)
    proof = {"covers": covers, "writer": _hash(wording(), allowance.writer, question, single.source)}
    key = message_key(allowance.thread, single.index) if allowance.thread else f"summary:message:{covers}"
    shelf = _Shelf(allowance)
    known = _kept((yield from shelf.read(key)), proof)
    if known is not None and allowance.meter.text(known) <= tokens:
        return Summary(known)
    text = yield from _written(single, tokens, allowance, question)
    yield from shelf.keep(key, json.dumps({**proof, "text": text}, ensure_ascii=False), single.index)
    return Summary(text, shelf.trouble)


def output_summary(text: str, index: int, tool: str, tokens: int, allowance: Allowance) -> Summing:
    """The output of a tool in a model's words, as ``message_summary``; ``tool`` is empty if it is not known."""
    return message_summary(Single(text, "tool", index, f"output of {tool or 'a tool'}"), tokens, allowance)


def _written(single: Single, tokens: int, allowance: Allowance, question: str) -> Generator[Ask[Any], Any, str]:
    count = allowance.meter.text
    about = f" It should help to answer this:\n\n{quoted(question)}" if question.strip() else ""
    values = {"source": single.source, "question": about}
    task = Task("message", max(1, int(tokens * _OF_THE_MODEL)), allowance.writer_window, count, values)
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


@dataclass(slots=True)
class _Shelf:
    """The caller's store, as far as there is one that works: after its first failure it is not asked again."""

    allowance: Allowance
    trouble: str = field(default="", init=False)

    def read(self, key: str) -> Generator[Ask[Any], Any, str | None]:
        """What stands under the key; None where nothing does, or nothing can be read."""
        if not self.allowance.stored:
            return None
        try:
            return (yield from ask(Read(key)))
        except StoreError as fault:
            self.trouble = f"summaries are not kept: {fault}"
            return None

    def keep(self, key: str, value: str, index: int) -> Generator[Ask[Any], Any, None]:
        """Keep the summary, and its position in the list by which a thread is forgotten."""
        if not self.allowance.stored or self.trouble:
            return
        try:
            yield from ask(Write(key, value))
            if self.allowance.thread:
                listing = messages_key(self.allowance.thread)
                known = as_list((yield from ask(Read(listing))))
                if index not in known:
                    yield from ask(Write(listing, json.dumps([*known, index])))
        except StoreError as fault:
            self.trouble = f"summaries are not kept: {fault}"


def _hash(*texts: str) -> str:
    return sha256(repr(texts).encode("utf-8", "surrogatepass")).hexdigest()
