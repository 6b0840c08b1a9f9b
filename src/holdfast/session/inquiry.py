"""What the past is asked: what the user said last, and what the work since then is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.memory.pleasantries import idle_words
from holdfast.text.memo import Memo
from holdfast.text.words import STOP_WORDS, stem, words

from .lines import found_by
from .thread import Thread

SHIFT_AFTER = 8
"""Messages after a recall, before the work may have turned to something else."""

_COMMON, _LEAST_HOLDERS, _COMMON_AT = 0.2, 4, 60
"""Share of the messages, and its bounds in messages, from which on a word tells of nothing in particular."""
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
    return Inquiry(_said(thread), _work(thread))


def is_idle(thread: Thread) -> bool:
    """Whether the newest message of a user has nothing to look for: "ok thanks", "go on with the next step"."""
    left = idle_words(_said(thread))
    if left is None or thread.state.spoke is None:
        return False
    common = min(_COMMON_AT, max(_LEAST_HOLDERS, int(thread.state.messages * _COMMON)))
    return all(len(thread.search([word], common)) >= common for word in left)


def _said(thread: Thread) -> str:
    spoke = thread.state.spoke
    kept = thread.read([spoke]) if spoke is not None else {}
    return next((each.message.content_text or "" for each in kept.values()), "")


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
