"""The warm and the cold form of a segment, made by rules.

The warm form keeps the most meaningful sentences, the cold form clauses of them, each after its
speaker's name. Missing names are listed at the end, as far as there is room. Both are made from the
original.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from holdfast.content import recognise
from holdfast.content.order import order
from holdfast.kernel.ports import Ask, Room
from holdfast.selection.pieces import clauses
from holdfast.text.fit import choose
from holdfast.text.importance import signals
from holdfast.text.memo import Memo
from holdfast.text.sentences import sentences

from .entities import HEAD, add_names, named_in, names_beside, telling, with_names

VERBATIM, LIGHT, HEAVY = 0, 1, 2
"""Levels of compression (V.3): the original, the warm form, and the cold form."""

FACTORS = {LIGHT: (4.0, 3.2), HEAVY: (11.0, 8.2)}
"""For each level, the ratio by which a form is to be smaller, and the least ratio.

V.2 asks for 3:1 to 5:1 and 8:1 to 15:1; the difference leaves room for the list of names.
"""

KEPT = {LIGHT: 0.95, HEAVY: 0.80}
"""For each level, the share of the text's names that a form should have."""

Count = Callable[[str], int]
Said = tuple[str, str]
"""The speaker's name with a colon, or empty, and the words."""

_SMALL = 24  # tokens that every form may have; fewer leave no room for a name
_SAID = 0.35  # least share of sentences in a form that also lists all names
_LISTED = (0.6, 0.8)  # shares of the list of names, tried in turn if that is not possible
_TALK = frozenset({"prose", "dense"})  # kinds of content that people write
_OUTPUT = 600  # characters above which a fenced text is shortened by its kind
_CLAUSE = 80  # characters of a clause
_BRIEF = 20  # characters below which a one-word sentence is left out
_ROW, _UNSPOKEN = 4, 0.3  # words of a row, and the value of a row of numbers without its table
_SPEAKER = re.compile(r"[^\W\d_][\w.'’ -]{0,40}: ")
_FENCED = re.compile(
    r"^[ \t]{0,3}```[^\n]*\n(.*?)(?:^[ \t]{0,3}```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_MARK = re.compile(r"^(?:[-*+•>|]|#{1,6}|```\w*|~~~\w*)(?=\s|$)\s*|\|$|\*\*")
_EXACT = re.compile(r"\d|(?<=\w )[A-Z]|[A-Z]{2}")
_WORD = re.compile(r"[^\W\d_]{2,}")
_EDGES = " ,;:–—-"


class Condenser(Protocol):
    """Makes the warm or cold form of a text."""

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form at the level, in fewer tokens than the text."""
        ...


@dataclass(frozen=True, slots=True)
class Form:
    """A form for which a model was asked. ``refused`` is the reason why rules made it instead."""

    text: str
    refused: str = ""
    asked: bool = True
    """False if the text is too short to be worth a request; then rules made the form, too."""


@runtime_checkable
class AskingCondenser(Condenser, Protocol):
    """A condenser that can ask a model; ``condense`` returns a form in the meantime."""

    def asking(self, text: str, level: int, count: Count) -> Generator[Ask[object], Any, Form]:
        """The form at the level. Raises ModelError if the model does not answer."""
        ...


@dataclass(frozen=True, slots=True)
class RuleCondenser:
    """Extracts sentences for warm and clauses for cold; shortens outputs by their kind."""

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form at the level; the text itself if the form would not be smaller."""
        return _FORMS((text, level, count))


def room_for(size: int, level: int) -> int:
    """The largest size of a form of a text with this size, in tokens."""
    return max(int(size / FACTORS[level][1]), min(_SMALL, size - 1))


def _form(key: tuple[str, int, Count]) -> str:
    text, level, count = key
    size, aimed = count(text), FACTORS[level][0]
    head = HEAD.match(text)
    start = head.end() if head else 0
    if size >= _SMALL and not HEAD.search(text, start):
        kind = recognise(text[start:])
        if kind.name not in _TALK:
            left = max(1, int(size / aimed) - count(text[:start]))
            return text[:start] + kind.shrink(text[start:], Room(left, count)).text
    told = _statements(text, aimed, count)
    if level == HEAVY:
        told = [(by, part.strip(_EDGES)) for by, said in told for part in clauses(said, _CLAUSE)]
    told = list(dict.fromkeys(told))
    spoken, most = named_in(_FENCED.sub("", text)), room_for(size, level)
    named = names_beside(text, spoken)
    ranked = ranked_by_worth([said for _, said in told])
    ranked.sort(key=lambda n: signals(told[n][1]).decides < 1)
    sizes = [len(said) for _, said in told]
    tries = [(int(size / aimed), named), (most, named)]
    tries += [(int(most * (1 - share)), {}) for share in _LISTED]
    made = ""
    for room, listed in tries:

        def written(kept: Sequence[int], listed: Mapping[str, str] = listed) -> str:
            return with_names(_rendered(told[n] for n in kept), listed)

        chosen = choose(ranked, sizes, written, room, count)
        said = _rendered(told[n] for n in chosen.pieces) if chosen else ""
        if listed and count(said) < _SAID * room:
            continue
        if made and not said:
            break
        made = add_names(said, named, most, count, spoken)
        if sum(name in made for name in named) >= KEPT[level] * len(named):
            break
    return made if made and count(made) <= size else text


_FORMS: Memo[tuple[str, int, Count], str] = Memo(
    _form, lambda key, form: len(key[0]) + len(form), 8_000_000
)
"""Cached, since a segment that is promoted and demoted again gets the same form."""


def ranked_by_worth(texts: Sequence[str], question: str = "") -> list[int]:
    """The indices of the texts, best first: readable ones with new content that answer."""
    return order(texts, question, [_readable(text) for text in texts], decisions=False)


def _statements(text: str, factor: float, count: Count) -> list[Said]:
    """The sentences and lines, each with its speaker; fenced texts are shortened by their kind."""

    def read(fenced: re.Match[str]) -> str:
        output = fenced[1]
        kind = recognise(output) if len(output) > _OUTPUT else None
        if kind is None or kind.name in _TALK:
            return output
        return kind.shrink(output, Room(max(1, int(count(output) / factor)), count)).text

    heads = HEAD if HEAD.search(text) else _SPEAKER
    found: list[Said] = []
    speaker = ""
    for line in _FENCED.sub(read, text).split("\n"):
        head = heads.match(line)
        speaker = head.group() if head else speaker
        for sentence in sentences(line[head.end() if head else 0 :]):
            said = " ".join(_MARK.sub("", sentence.strip()).split())
            if _says_something(said):
                found.append((speaker, said))
    return found


def _says_something(said: str) -> bool:
    if len(said) >= _BRIEF or _EXACT.search(said):
        return any(map(str.isalpha, said))
    return len(telling(said)) > 1


def _rendered(told: Iterable[Said]) -> str:
    """The pieces in order, with the speaker's name where the speaker changes."""
    lines: list[str] = []
    before: str | None = None
    for speaker, said in told:
        if lines and speaker == before:
            lines[-1] += f" {said}" if not lines[-1][-1].isalnum() else f"; {said}"
        else:
            lines.append(speaker + said)
        before = speaker
    return "\n".join(lines)


def _readable(said: str) -> float:
    """The value of a piece for a reader: a row of numbers means little without its table."""
    tokens = said.split()
    spoken = sum(map(bool, map(_WORD.search, tokens)))
    return 1.0 if len(tokens) < _ROW or 2 * spoken >= len(tokens) else _UNSPOKEN
