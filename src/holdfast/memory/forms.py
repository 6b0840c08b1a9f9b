"""The warm and the cold form of a segment, made by rules.

The warm form keeps the most meaningful sentences, the cold form clauses of them, each after its
speaker's name. Decisions come first, and long statements are cut into clauses. Missing names and
amounts are listed at the end, as far as there is room. Both are made from the original.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from holdfast.content import recognise
from holdfast.content.lossy import sampled
from holdfast.kernel.ports import Ask, Room
from holdfast.selection import evenly, order, table
from holdfast.text.fit import choose
from holdfast.text.importance import alarm, concludes
from holdfast.text.memo import Memo
from holdfast.text.pieces import LONGEST, SEAM, clauses
from holdfast.text.sentences import sentences
from holdfast.text.words import DIGITS

from .entities import HEAD, LETTERS, SPEAKER, add_names, named_in, names_beside, telling, with_names

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

SHOWN = 0.5
"""The least share of a shortened output, or of notes, in a form that also lists names."""

_SMALL = 24  # tokens that every form may have; fewer leave no room for a name
_SAID, _LEAST_SAID = 0.35, 0.25  # least shares of what is said in a form that also lists names
_WINDOWS, _WIDE = 2, 500
"""Samples by which a kind is recognised, and the characters of each: as many as name the kind, and
in recorded runs more names are kept than with 4 of 300.
"""
_CLOSELY = 4  # times the room of a form: so much of a long text is read closely,
_READ = 1_500  # and at least so many characters
_OUTPUT = 600  # characters above which a fenced or bare output is shortened by its kind
_JOINT = re.compile(r"(?<=[,;:)\]–—])(?=\s)|(?=\s[–—-]\s)")
_BRIEF = 20  # characters below which a one-word sentence is left out
_DENSER = 1.1  # times the tokens of a character in the text, in a shorter one with more speakers
_FULL = 9  # telling words of a statement; more of them do not raise its value
_NAMING = 0.01  # value of each letter or digit that names something, a fifth of a statement's
_ROW, _UNSPOKEN = 4, 0.3  # words of a row, and the value of a row of numbers without its table
_FENCED = re.compile(
    r"^[ \t]{0,3}```[^\n]*\n(.*?)(?:^[ \t]{0,3}```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_NUMBER = re.compile(r"\s*\d+(?:→|\t)")  # of a line, as programs print it
_MARK = re.compile(r"^(?:[-*+•>|]|#{1,6}|```\w*|~~~\w*)(?=\s|$)\s*|\|$|\*\*")
_EXACT = re.compile(  # begins with one set, so that the search can skip to it
    r"[\dA-Z](?:(?<=\d)|(?<=\w [A-Z])|(?<=[A-Z])[A-Z])"
)
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
    head = HEAD.match(text)
    start = head.end() if head else 0
    size = count(text)
    if len(text) > _OUTPUT and not HEAD.search(text, start):
        kind = recognise(sampled(text[start:], _WINDOWS, _WIDE))
        if kind.name != "prose":
            room, named = room_for(size, level), names_beside(text, {})
            shown = max(int(SHOWN * room), room - count(with_names("", named)))
            left = min(int(size / FACTORS[level][0]), shown) - count(text[:start])
            made = kind.shrink(text[start:], Room(max(1, left), count)).text
            return add_names(text[:start] + made, named, room, count)
    made = _extract(text, level, size, count)
    return made if made and count(made) <= size else text


def _extract(text: str, level: int, size: int, count: Count) -> str:
    """The best sentences or clauses that fit, and the names that they lack.

    The room is the usual one if all names fit, else the largest one. If too few names fit, there is
    less room for what is said, and only for what decides or names something.
    """
    most = room_for(size, level)
    told = _statements(text, FACTORS[level][0], count)
    close = _close(told, _CLOSELY * most / max(size, 1))
    read = text if len(close) == len(told) else _rendered(close)
    spoken = named_in(_FENCED.sub("", read))
    named = names_beside(read, spoken) if "```" in read else spoken
    parts = list(dict.fromkeys((by, part) for by, one in close for part in _parts(one, most)))
    sizes = [len(part) for _, part in parts]
    decided = _concluding([part for _, part in parts])

    def written(kept: Iterable[int]) -> str:
        return _rendered(parts[n] for n in kept)

    def estimated(said: str) -> int:
        return round(_DENSER * size * len(said) / len(text))

    def best(ranked: Sequence[int], room: float, cost: Count) -> str:
        chosen = choose(ranked, sizes, written, int(room), cost)
        return chosen.text if chosen else ""

    room, share = max(int(size / FACTORS[level][0]), min(_SMALL, most)), _SAID
    listed, ranked = count(with_names("", named)), _ranked(parts, decided)
    if listed > (1 - share) * room:
        room = most
    if KEPT[level] * listed > (1 - share) * room:
        share = _LEAST_SAID
        ranked = [n for n in ranked if n in decided or any(map(parts[n][1].__contains__, named))]
    owed = count(written(sorted(decided)))
    least = max(share * room, min(owed, (1 - _LEAST_SAID) * room))
    made = best(ranked, max(least, room - listed), estimated)
    # what is said has some of the names, so there is room for more of it
    listed = count(with_names(made, named)) - count(made)
    made = best(ranked, max(least, room - listed), count)
    return add_names(made, named, room, count, spoken)


_FORMS: Memo[tuple[str, int, Count], str] = Memo(_form)
"""Cached, since a segment that is promoted and demoted again gets the same form."""


def ranked_by_worth(texts: Sequence[str], question: str = "") -> list[int]:
    """The indices of the texts, best first: readable ones with new content that answer."""
    return order(texts, question, [_readable(text) for text in texts], decisions=False)


def _statements(text: str, factor: float, count: Count) -> list[Said]:
    """The sentences and lines, each with its speaker; fenced texts are shortened by their kind."""

    def read(fenced: re.Match[str]) -> str:
        output = fenced[1]
        kind = recognise(output) if len(output) > _OUTPUT else None
        if kind is None or kind.name == "prose":
            return output
        return kind.shrink(output, Room(max(1, int(count(output) / factor)), count)).text

    heads = HEAD if HEAD.search(text) else SPEAKER
    found: list[Said] = []
    speaker = ""
    for line in _FENCED.sub(read, text).split("\n"):
        head = heads.match(line)
        speaker = head.group() if head else speaker
        body = line[head.end() if head else 0 :]
        for sentence in sentences(_NUMBER.sub("", body, count=1) if _NUMBER.match(body) else body):
            said = " ".join(_MARK.sub("", sentence.strip()).split())
            if _says_something(said):
                found.append((speaker, said))
    return found


def _says_something(said: str) -> bool:
    if len(said) >= _BRIEF or _EXACT.search(said):
        return any(map(str.isalpha, said))
    return len(telling(said)) > 1


def _close(told: Sequence[Said], share: float) -> Sequence[Said]:
    """The statements that are read closely: some ``share`` of a long text, or all of a short one.

    Those that decide or name something come first, then an even share of the others.
    """
    whole = sum(len(said) for _, said in told)
    left = max(_READ, share * whole)
    if whole <= left:
        return told
    decided = _concluding([said for _, said in told])
    worth = [2 * (n in decided) + bool(_EXACT.search(said)) for n, (_, said) in enumerate(told)]
    chosen: list[int] = []
    for n in sorted(evenly(len(told)), key=lambda n: -worth[n]):
        if left <= 0:
            break
        chosen.append(n)
        left -= len(told[n][1])
    return [told[n] for n in sorted(chosen)]


def _concluding(texts: Sequence[str]) -> set[int]:
    """The indices of the texts that state a decision; most have none, which is seen at once."""
    if not concludes("\n".join(texts)):
        return set()
    return {n for n, text in enumerate(texts) if concludes(text)}


def _parts(said: str, room: int) -> list[str]:
    """The statement, or parts of a long one, cut between clauses if possible.

    A part has at most as many characters as the ``room`` has tokens, or as half of a piece.
    """
    longest = max(LONGEST // 2, room)
    if len(said) <= longest:
        return [said] if said[0] not in _EDGES and said[-1] not in _EDGES else _bare([said])
    found: list[str] = []
    for clause in _JOINT.split(said):
        if found and len(found[-1]) + len(clause) <= longest:
            found[-1] += clause
        else:
            found += clauses(clause, longest)
    return _bare(found)


def _bare(parts: Iterable[str]) -> list[str]:
    """The parts that say something, without marks at their edges."""
    return [part for part in (each.strip(_EDGES) for each in parts) if _says_something(part)]


def _ranked(told: Sequence[Said], decided: Container[int]) -> list[int]:
    """The indices of the statements, best first: decisions, then what says most for its length.

    Trouble, names and numbers raise the value. A statement of few words, such as a greeting with a
    name, says little. Of statements that differ in their numbers alone, the n-th has an n-th of the
    value.
    """
    usual, failure = table().pattern, table().failure
    speakers = {word for by in {by for by, _ in told} for word in telling(by)}
    alike = Counter[str]()
    gains: list[float] = []
    for _, said in told:
        pattern = DIGITS.sub("0", said)
        alike[pattern] += 1
        worth = max(usual, failure * alarm(said)) + _NAMING * len(set(_EXACT.findall(said)))
        if pattern != said:
            worth *= _readable(said)
        full = min(1.0, (len(set(telling(said)) - speakers) + 1) / _FULL)
        gains.append(worth * full / (alike[pattern] * (len(said) + SEAM)))
    return sorted(range(len(told)), key=lambda n: (n not in decided, -gains[n]))


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
    spoken = sum(map(bool, map(LETTERS.search, tokens)))
    return 1.0 if len(tokens) < _ROW or 2 * spoken >= len(tokens) else _UNSPOKEN
