"""What the past is asked: what the user said last, and what the work since then is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.memory.pleasantries import idle_words
from holdfast.text.memo import Memo
from holdfast.text.words import STOP_WORDS, stem, words

from .lines import found_by
from .thread import Thread

_WORK = 8  # newest messages that say what the work is about
_COMMON, _LEAST_HOLDERS, _COMMON_AT = 0.2, 4, 60
"""Share of the messages, and its bounds in messages, from which on a word tells of nothing in particular."""
_UNKNOWN = 0.1  # share of the words of an input that may stand nowhere in the view
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


def is_known(thread: Thread, messages: Iterable[object], recalled: str) -> bool:
    """Whether nearly all the words of the newest input of the user stand in the view that goes on."""
    asked = _terms(_said(thread))
    unknown = set(asked) - _terms(recalled)
    for message in messages:
        if len(unknown) <= _UNKNOWN * len(asked):
            break
        read = thread.wire.read([message]).messages[0]
        unknown -= _HELD(read.content_text or "")
    return len(unknown) <= _UNKNOWN * len(asked)


def _work(thread: Thread) -> str:
    """The beginnings of the newest messages, if there are some since a user spoke."""
    end, spoke = thread.state.messages, thread.state.spoke or 0
    newest = thread.read(range(end - _WORK, end)) if end - spoke > _WORK else {}
    return "\n".join(found_by(kept.message, kept.remembered)[:_SHOWN] for kept in newest.values())


def _terms(text: str) -> frozenset[str]:
    return frozenset(map(stem, set(words(text)) - STOP_WORDS))


_HELD: Memo[str, frozenset[str]] = Memo(_terms, lambda text, _: 2 * len(text), 2_000_000)
"""The terms of the messages of a view, most of which stand in the next one too."""
