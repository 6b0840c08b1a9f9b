"""What keeps two texts apart however near their vectors are, and the lines that keep what only one of them says.

Vectors hardly see a number, a name or a "not"; a reader does.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.compressors.verification import stands
from holdfast.text.facts import facts
from holdfast.text.memo import Memo
from holdfast.text.sentences import sentences
from holdfast.text.words import terms, words

_OPENING, _CLOSING = "[also said: ", "]"

_NEGATIONS = frozenset(
    """
    not no never none nothing nobody without neither nor cannot unable unless until except t
    nicht kein keine keinen nie ohne pas jamais sans nunca sin não sem mai senza niet geen не нет без
    """.split()
)
"""The words that turn what is said around; "don't" reads as ``don`` and ``t``."""


def body(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without the lines of what was added to it, and the sentences that these lines hold."""
    lines = text.split("\n")
    start = len(lines)
    while start > 1 and lines[start - 1].startswith(_OPENING) and lines[start - 1].endswith(_CLOSING):
        start -= 1
    added = (line.removeprefix(_OPENING).removesuffix(_CLOSING) for line in lines[start:])
    return "\n".join(lines[:start]), tuple(added)


def with_sentences(text: str, more: Sequence[str]) -> str:
    """The text with a line for each of the sentences, beside those that it has already."""
    head, added = body(text)
    lines = (f"{_OPENING}{sentence}{_CLOSING}" for sentence in dict.fromkeys((*added, *more)))
    return "\n".join((head.rstrip(), *lines))


def lacking(text: str, other: str) -> list[str]:
    """The sentences of the text that name exact things which do not stand in the other one, in one line each."""
    own, added = body(text)
    known = frozenset(thing for sentence in sentences(other) for thing in facts(sentence).things)
    lost: list[str] = []
    for sentence in (*sentences(own), *added):
        things = facts(sentence).things
        if not known.issuperset(things) and not all(stands(thing, other) for thing in things):
            lost.append(" ".join(sentence.split()))
    return lost


def shows(newer: str, older: str) -> bool:
    """Whether everything that stands in what a tool was asked and gave stands in the newer one too."""
    return older == newer or set(older.split()) <= set(newer.split())


def contrasts(one: str, other: str) -> bool:
    """Whether one text denies what the other does not, or both say the same of different things.

    ``deploy to staging`` and ``deploy to production`` have one frame, in which one place is filled differently.
    """
    if one == other:
        return False
    a, b = _WORDS(one), _WORDS(other)
    if sum(word in _NEGATIONS for word in a) != sum(word in _NEGATIONS for word in b):
        return True
    shortest = min(len(a), len(b))
    head = next((k for k in range(shortest) if a[k] != b[k]), shortest)
    tail = next((k for k in range(shortest - head) if a[-1 - k] != b[-1 - k]), shortest - head)
    frame = head + tail
    if frame < max(len(a), len(b)) - frame:
        return False
    left, right = (set(terms(" ".join(run[head : len(run) - tail]))) for run in (a, b))
    return not left <= right and not right <= left


_WORDS = Memo(words, lambda text, found: len(text) + 60 * len(found), 16_000_000)
