"""The warm and the cold form of a segment, made by rules.

The warm form keeps the most meaningful sentences, the cold form clauses of them, each after its
speaker's name. Decisions come first, and long statements are cut into clauses. Missing names and
amounts are listed at the end, as far as there is room. Both are made from the original.
"""

import re
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, Protocol, runtime_checkable

from holdfast.content import recognise
from holdfast.excerpts import ordered_by_shape
from holdfast.kernel.ports import Ask, Room
from holdfast.selection import evenly
from holdfast.text.fit import MISSES, SENTENCE, Count, Numbers, Render, clip
from holdfast.text.importance import concludes
from holdfast.text.pieces import LONGEST, SEAM, clauses, names, things_in
from holdfast.text.sentences import sentences
from holdfast.text.words import NEGATIONS, words

from .entities import (
    HEAD,
    SPEAKER,
    add_names,
    codes,
    glimpsed,
    named_in,
    telling,
    with_names,
)

VERBATIM, LIGHT, HEAVY = 0, 1, 2
"""Levels of compression (V.3): the original, the warm form, and the cold form."""

FACTORS = {LIGHT: (4.0, 3.2), HEAVY: (11.0, 8.2)}
"""For each level, the ratio by which a form is to be smaller, and the least ratio.

V.2 asks for 3:1 to 5:1 and 8:1 to 15:1; the difference leaves room for the list of names.
"""

KEPT = {LIGHT: 0.95, HEAVY: 0.80}
"""For each level, the share of the text's names that a form should have; with .9 and .6 forms keep
as many."""

Said = tuple[str, str]
"""The speaker's name with a colon, or empty, and the words."""

SHOWN = 0.5
"""The least share of a shortened output, or of notes, in a form that also lists names; half kept as
many names."""

# least share of what is said in a form that also lists names. Half kept .703 of the names in cold
# forms of recorded runs instead of .697, but .42 of the decisions instead of .54, and double .661
# and .73
_SAID = 0.25
# times the room of a form: so much of a long text is read closely, and at least the characters
# below. Half kept .641 of the names in cold forms of recorded runs instead of .697, and double .654
CLOSELY = 4
_READ = 1_500  # half and double kept .692 of the names in cold forms instead of .697
# characters above which a fenced or bare output is shortened by its kind; half and double kept as
# many names
_OUTPUT = 600
_JOINT = re.compile(r"(?<=[,;:)\]–—])(?=\s)|(?=\s[–—-]\s)")
# characters below which a one-word sentence is left out; half kept .699 of the names in cold forms
# instead of .697, and double .694
_BRIEF = 20
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


class Form(NamedTuple):
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
        head = HEAD.match(text)
        start = head.end() if head else 0
        size = count(text[:start]) + count(
            text[start:]
        )  # the second was counted without its speaker
        if len(text) > _OUTPUT and not HEAD.search(text, start):
            kind = recognise(glimpsed(text[start:]))
            if kind.name != "prose":
                room, named = room_for(size, level), codes(things_in(text))
                shown = max(int(SHOWN * room), room - count(with_names("", named)))
                left = min(int(size / FACTORS[level][0]), shown) - count(text[:start])
                made = kind.shrink(text[start:], Room(max(1, left), count)).text
                return add_names(text[:start] + made, named, room, count)
        most = room_for(size, level)
        told = _statements(text, FACTORS[level][0], count)
        close = _close(told, CLOSELY * most / max(size, 1))
        read = text if len(close) == len(told) else _rendered(close)
        named = spoken = named_in(_FENCED.sub("", read) if "```" in read else read)
        parts = list(dict.fromkeys((by, part) for by, one in close for part in _parts(one, most)))
        said = [part for _, part in parts]
        decided = concluding(said)
        tells = list(map(names, said))
        if "```" in read:
            named = codes(chain.from_iterable(tells)) | spoken
        ranked = ordered_by_shape(said, tells, decided)

        def written(kept: Numbers) -> str:
            return _rendered(parts[n] for n in kept)

        made = short_form(Short(said, ranked, decided, written, named, spoken), text, level, count)
        return made if made and count(made) <= size else text


def room_for(size: int, level: int) -> int:
    """The largest size of a form of a text with this size, in tokens."""
    return max(int(size / FACTORS[level][1]), min(SENTENCE, size - 1))


class Short(NamedTuple):
    """What a form is made of: the statements of a text, and the names that it should have."""

    said: Sequence[str]
    ranked: Numbers
    """The statements, the best first."""
    decided: Collection[int]
    """Those that state a decision, which come before others."""
    written: Render
    """Makes the text of some statements."""
    named: Mapping[str, str]
    first: Collection[str] = ()
    """The names that are listed before shorter ones."""
    share: float = _SAID
    """The least share of the form that the statements have if not all names fit."""


def short_form(of: Short, text: str, level: int, count: Count) -> str:
    """The first statements that fit beside the names that they lack, and these names.

    The room is the usual one if all names fit, else the largest one. If too few names fit, there is
    less room for what is said, and only for what decides or names something.
    """
    size = count(text)
    most, listed = room_for(size, level), count(with_names("", of.named))
    usual = max(int(size / FACTORS[level][0]), min(SENTENCE, most))
    room = most if listed > (1 - of.share) * usual else usual
    is_scarce = KEPT[level] * listed > (1 - of.share) * room
    rate = size / max(1, len(text))
    least = of.share * room
    whole = sum(map(len, of.named.values())) + 2 * len(of.named)

    lacking = {name: listed / whole * (len(label) + 2) for name, label in of.named.items()}
    left, spent, missed = float(listed), 0.0, 0
    kept: list[int] = []
    for n in of.ranked:
        said = of.said[n]
        cost = rate * (len(said) + SEAM)
        told = [name for name in lacking if name in said]
        if is_scarce and not told and n not in of.decided:
            continue
        saved = sum(map(lacking.__getitem__, told))
        if spent + cost <= max(least, room - left + saved):
            kept.append(n)
            spent += cost
            left -= saved
            for name in told:
                del lacking[name]
        else:
            missed += 1
            if missed > MISSES:
                break
    made = of.written(sorted(kept))
    while len(kept) > 1 and count(made) > least and count(with_names(made, of.named)) > room:
        kept.pop()
        made = of.written(sorted(kept))
    if count(made) > room:
        made = clip(made, room, count, mark="…")
    return add_names(made, of.named, room, count, of.first)


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
    for line in (_FENCED.sub(read, text) if "```" in text else text).split("\n"):
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
    decided = concluding([said for _, said in told])
    worth = [2 * (n in decided) + bool(_EXACT.search(said)) for n, (_, said) in enumerate(told)]
    chosen: list[int] = []
    for n in sorted(evenly(len(told)), key=lambda n: -worth[n]):
        if left <= 0:
            break
        chosen.append(n)
        left -= len(told[n][1])
    return [told[n] for n in sorted(chosen)]


def concluding(texts: Sequence[str]) -> set[int]:
    """The indices of the texts that state a decision; most have none, which is seen at once."""
    if not concludes("\n".join(texts)):
        return set()
    return {n for n, text in enumerate(texts) if concludes(text)}


def _parts(said: str, room: int) -> list[str]:
    """The statement, or parts of a long one, cut between clauses if possible.

    A part has at most as many characters as the ``room`` has tokens, or as half of a piece. What
    follows a negation is not parted from it, since it would say the opposite.
    """
    longest, negates = max(LONGEST // 2, room), False
    found: list[str] = []
    for clause in _JOINT.split(said):
        is_more = negates or (found and len(found[-1]) + len(clause) <= longest)
        negates = negates or not NEGATIONS.isdisjoint(words(clause))
        if is_more:
            found[-1] += clause
        else:
            found += [clause] if negates else clauses(clause, longest)
    bare = (part.strip(_EDGES) for part in found)
    return list(filter(_says_something, bare))


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
