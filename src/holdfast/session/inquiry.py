"""What the past is asked: what the user said last, and what the work since then is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.text.memo import Memo
from holdfast.text.words import STOP_WORDS, stem, words

from .lines import found_by
from .thread import Thread

SHIFT_AFTER = 8
"""Messages after a recall, before the work may have turned to something else."""

_SHIFTED = 0.1  # share of its words that were in view when it was recalled: below that, it has
_SHOWN = 300  # characters of a message, or of a question, that say what it is about


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question, and the work in which it stands: its words count too, but it asks nothing by itself."""

    question: str
    work: str = ""

    @property
    def brief(self) -> str:
        """The question, and of the work what it began with."""
        return f"{self.question}\n{self.work[:_SHOWN]}".rstrip("\n")

    @property
    def shown(self) -> str:
        """As an event keeps it."""
        return self.brief[:_SHOWN]


def of_the_newest(thread: Thread) -> Inquiry:
    """What the newest message of a user asks, and what the work since then is about."""
    spoke = thread.state.spoke
    kept = thread.read([spoke]) if spoke is not None else {}
    said = next((each.message.content_text or "" for each in kept.values()), "")
    return Inquiry(said, _work(thread))


def has_shifted(thread: Thread, standing: Mapping[str, Any]) -> bool:
    """Whether the work is about something else now than what was recalled for it."""
    about = {term for term in _terms(_work(thread)) if not term.isdigit()}
    before = about & _RECALLED(f"{standing['question']}\n{standing['text']}")
    return len(before) < _SHIFTED * len(about)


def _work(thread: Thread) -> str:
    """The beginnings of the newest messages, if there are some since a user spoke."""
    end, spoke = thread.state.messages, thread.state.spoke or 0
    newest = thread.read(range(end - SHIFT_AFTER, end)) if end - spoke > SHIFT_AFTER else {}
    return "\n".join(found_by(kept.message, kept.remembered)[:_SHOWN] for kept in newest.values())


def _terms(text: str) -> frozenset[str]:
    return frozenset(map(stem, set(words(text)) - STOP_WORDS))


_RECALLED: Memo[str, frozenset[str]] = Memo(_terms, lambda text, _: 2 * len(text), 1_000_000)
"""The terms of what was recalled: it stands for as long as the user says nothing."""
