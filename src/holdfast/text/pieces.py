"""What a text says: its pieces, the smallest parts that are kept or left out, and their things.

Things are names, paths, numbers, ids and content words, all found by one pattern.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, filterfalse, pairwise, product
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Literal, NamedTuple

from holdfast.kernel.forks import cached_property

from .fit import Numbers, Render
from .visible import amount
from .words import in_any_script, is_sentence, unspaced_pairs

LONGEST = 160
"""Characters of a piece, about forty tokens: shorter lines are joined up to this length, so that a
name keeps its context, and a longer line is cut at the end of a clause. In recorded runs shorter
pieces kept fewer of the names that were used later, and longer ones no more.
"""
GAP = "…"
"""Marks missing text in notes."""
SEAM = 8
"""Characters that a piece costs besides its text: a line break and sometimes a gap mark."""
# the number that a tool puts before a line, and no time of day. Two spaces behind it are part of it
# only if it is padded; else they are an indentation
_NUMBER = re.compile(r"(\s{1,8})?(\d{1,7})(?!:\d\d\b)(?:[:|│→-]\t?|\t|(?(1) {2}|\t))")
_IN_FRONT = re.compile(r"^\d+ ?", re.MULTILINE)
_LEVELS = (4, 2, 1)  # columns of a level of indentation: of PEP 8, of most YAML, and of notes
# share of the indented lines whose columns are whole levels; of a file with levels of 2, half are
# also of 4
_REGULAR = 2 / 3
_BORDERS = tuple(map(re.compile, (r"[.;!?。！？,)}\]\"](?=\s)", r"\s", r"[^\w@#$./:~+%-]")))
"""Where a long line is cut, the best first: behind a clause or a quotation, behind a word, and
behind a character that no name has."""
_SENTENCE = re.compile(r"[.!?](?=\s)|[。！？]")
# characters from the start of a part within which the end of a person's sentence is looked for. Of
# made-up group chats 65 of 80 statements of people stayed at 15% so, and 60 when lines were cut
# after any clause. With LONGEST as many stayed, and .735 of recorded runs instead of .734, but half
# of a longer sentence may say the opposite
WHOLE = 400


Numbered = Sequence[re.Match[str] | None]
"""For each line the number before it, if a tool put one there."""


class Piece(NamedTuple):
    """A part of a text, and the units of its source (lines, records) that it stands for.

    ``labels`` say what it is, such as the kind of event of a log line. They are things of it beside
    those in its text: the second of two pieces with the same label is worth little. ``parent`` is
    the index of the piece that gives its context (a heading, the columns of a table) and that is
    kept with it, -1 for none. ``numbered``: its lines begin with their numbers, which are no names.
    ``continues``: it goes on with the line in which the piece before it ends.
    """

    text: str
    at: int
    units: int = 1
    labels: tuple[str, ...] = ()
    parent: int = -1
    numbered: bool = False
    continues: bool = False

    @property
    def unnumbered(self) -> str:
        """The text without the numbers of its lines, which are no names."""
        return _IN_FRONT.sub("", self.text) if self.numbered else self.text

    @property
    def cost(self) -> int:
        """Its characters, with runs of white space as one, and the seam before it."""
        return len(" ".join(self.text.split())) + SEAM


class Reading(NamedTuple):
    """A text split by its kind: its pieces in order, and the name of the units between them.

    ``total`` counts the units of the source. With an empty ``unit``, gaps are not named.
    """

    pieces: Sequence[Piece]
    total: int
    unit: str = "line"


def passages(text: str, *, alone: bool = False, said: bool = False) -> Reading:
    """Any text: short neighbouring lines together, long lines by clause.

    Of a text that stands ``alone``, in no conversation, fewer lines are together, and none of two
    paragraphs: that kept more of real texts, and less of conversations. A long line that a person
    ``said`` is cut after sentences.
    """
    lines = text.split("\n")
    # line numbers that a tool put before a file's lines: each is one more than the last
    found = [_NUMBER.match(line) for line in lines]
    counts = [int(number[2]) if number else -1 for number in found]
    follows = [number > 0 and number == above + 1 for above, number in pairwise([-1, *counts, -1])]
    numbers = [each if follows[at] or follows[at + 1] else None for at, each in enumerate(found)]
    _close_to_their_numbers(lines, numbers)
    pieces = _passages(lines, numbers, alone, said)
    for number, piece in enumerate(pieces):  # missing lines without a word are not a gap
        end = piece.at + piece.units
        following = pieces[number + 1].at if number + 1 < len(pieces) else len(lines)
        if end < following and not any(map(str.isalnum, "".join(lines[end:following]))):
            pieces[number] = piece._replace(units=following - piece.at)
    return Reading(tuple(pieces), len(lines))


def _passages(lines: Sequence[str], numbers: Numbered, alone: bool, said: bool) -> list[Piece]:
    pieces: list[Piece] = []
    start, held, size, deep = 0, list[str](), 0, 0
    are_numbered = False
    for number, line in enumerate(lines):
        in_front = numbers[number]
        bare = line.rstrip()
        longest = LONGEST
        if alone:
            above, deep = deep, len(bare) - len(bare.lstrip())
            longest = LONGEST if deep > above else LONGEST // 2
        is_of_another_kind = (in_front is not None) != are_numbered if bare else alone
        if held and (is_of_another_kind or size + len(bare) > longest):
            pieces.append(Piece("\n".join(held), start, number - start, numbered=are_numbered))
            held, size = [], 0
        if not bare:
            continue
        if len(bare) > LONGEST:
            pieces += _parts(bare, number, len(pieces), said)
            continue
        if not held:
            start, are_numbered = number, in_front is not None
        held.append(bare)
        size += len(bare)
    if held:
        pieces.append(Piece("\n".join(held), start, len(lines) - start, numbered=are_numbered))
    return pieces


def _parts(line: str, at: int, before: int, said: bool) -> Iterator[Piece]:
    """The pieces of a long line, after ``before`` others; neighbours are joined to a line again.

    If a line opens with a name that is no word, such as an id or a path, the rest of the line is
    about it: the other pieces are under the first.
    """
    parts = clauses(line, whole=WHOLE if said else 0)
    is_cut_in_words = " ".join(parts).split() != line.split()
    opening = next(iter(names(parts[0])), "")
    is_entry = bool(opening) and not said and not opening.isalpha()
    for place, part in enumerate(parts):
        parent = before if place and is_entry else -1
        yield Piece(part, at, parent=parent, continues=place > 0 and not is_cut_in_words)


def _close_to_their_numbers(lines: list[str], numbers: Numbered) -> None:
    """Strip numbered lines of padding: to the number, and one space for a level of indentation.

    An empty line loses its number.
    """
    both = [(at, number) for at, number in enumerate(numbers) if number]
    codes = [lines[at][number.end() :].expandtabs(_LEVELS[0]).rstrip() for at, number in both]
    depths = [len(code) - len(code.lstrip()) for code in codes]
    least = min((depth for depth, code in zip(depths, codes, strict=True) if code), default=0)
    deep = [depth - least for depth in depths if depth > least]
    level = next(n for n in _LEVELS if sum(d % n == 0 for d in deep) >= _REGULAR * len(deep))
    for (at, number), code, depth in zip(both, codes, depths, strict=True):
        lines[at] = code and f"{number[2]} {' ' * (depth // level)}{code.lstrip()}"


def clauses(line: str, longest: int = LONGEST, whole: int = 0) -> list[str]:
    """A long line in parts of at most ``longest`` characters, cut after clauses if possible.

    If a sentence ends within ``whole`` characters, the part ends with it.
    """
    if len(line) <= longest:  # as most lines are
        return [bare] if (bare := line.strip()) else []
    parts: list[str] = []
    start = 0
    while len(line) - start > longest:
        end = _end_of_sentence(line, start, longest, whole) if whole else 0
        end = end or end_of_clause(line, start, start + longest)
        parts.append(line[start:end].strip())
        start = end
    parts.append(line[start:].strip())
    return [part for part in parts if part]


def end_of_clause(line: str, start: int, most: int) -> int:
    """The best place to cut before ``most``: in the second half, unless that would cut a name."""
    window = line[start:most]
    for least, border in product((len(window) // 2, 1), _BORDERS):
        if ends := [found.end() for found in border.finditer(window, least)]:
            return start + ends[-1]
    return most


def _end_of_sentence(line: str, start: int, longest: int, whole: int) -> int:
    """The end of the last sentence that fits ``longest`` characters, else of the next; 0 for none.

    There is no short part, as in ``clauses``.
    """
    ends = [found.end() for found in _SENTENCE.finditer(line, start + longest // 2, start + whole)]
    if len(line) - start <= whole:
        ends.append(len(line))
    near = [end for end in ends if end - start <= longest]
    return near[-1] if near else next(iter(ends), 0)


def heading_of(piece: Piece, before: Piece) -> list[str]:
    """The last line of the piece before this one that is less deep, if it is short.

    Without it, details would stand under the heading of others.
    """
    depth = _depth(piece.text)
    if not depth or piece.parent >= 0:
        return []
    above = reversed(before.text.split("\n"))
    heading = next((line for line in above if _depth(line) < depth), "")
    return [heading] if 0 < len(heading) <= len(piece.text) else []


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def writer(reading: Reading) -> Render:
    """Return a function that joins chosen pieces, with a note for each gap.

    A gap is filled instead if the missing text is no longer than the note.
    """
    pieces, unit = reading.pieces, reading.unit

    def between(start: int, end: int, units: int) -> list[str]:
        if not unit or (start == end and units <= 0):
            return []
        named = f"… {amount(units, unit)} …" if units > 0 else "…"
        if end - start == 1 and len(pieces[start].text) <= len(named):
            return [pieces[start].text]
        return [named]

    def written(chosen: Numbers) -> str:
        lines: list[str] = []
        following = reached = 0
        for number in chosen:
            piece = pieces[number]
            if piece.continues and number == following:
                lines[-1] += f" {piece.text}"
            else:
                missing = piece.at - reached
                gap = between(following, number, missing)
                if gap and number > following and gap != [pieces[number - 1].text]:
                    heading = heading_of(piece, pieces[number - 1])
                    gap = [*between(following, number, missing - len(heading)), *heading]
                lines += [*gap, piece.text]
            following, reached = number + 1, max(reached, piece.at + piece.units)
        return "\n".join([*lines, *between(following, len(pieces), reading.total - reached)])

    return written


# things

Shape = Literal[
    "path",
    "small_number",
    "number",
    "id",
    "word",
    "capitalised",
    "compound",
    "hyphened",
    "camel",
    "other",
]
"""What a thing looks like; the table of weights has one weight for each shape."""

finder = in_any_script(
    # a sign begins a name only if no run of names and signs goes on there: else such a run would be
    # searched again from each of its signs
    lambda beyond: (
        rf"[A-Za-z0-9_@#$~{beyond}]"
        rf"(?:(?<=[A-Za-z0-9_{beyond}])|(?<![A-Za-z0-9_@#$./:\-~+%{beyond}].))"
        rf"[A-Za-z0-9_@#$./:\-~+%{beyond}]*[A-Za-z0-9_%{beyond}]|[0-9]"
    ),
    r"\u00c0-\uffff",
)
_QUOTED = re.compile(r"[`\"'“]([^`\"'“”\n]{2,80})[`\"'”]")
STOP = frozenset(
    "a an the of in on at to for and or is was were are be been it its that this with "
    "by from as his her their "
    "they he she i you we my your our do did does have has had not but if then so can "
    "will would could should "
    "may all any no yes one two more some which when what who how there here than them "
    "us me also just only into "
    "out up down over about after before".split()
)
"""Words that mean nothing by themselves."""

_FEW_DIGITS = 3  # digits; a shorter number is rarely a name, since there are only a hundred
# share of digits that makes a mixture of letters and digits an id; "utf8" and "sha256" have more,
# words with a number at their end less
_DIGITS_OF_AN_ID = 0.2


def names(text: str) -> list[str]:
    """All that ``things_in`` may find, with repeats."""
    return finder(text)(text)


def things_in(text: str) -> tuple[str, ...]:
    """The distinct things in order of appearance; a path's last component is one too.

    In a script without spaces these are pairs of characters, as most of its words have two.
    """
    pairs, text = unspaced_pairs(text)
    found = dict.fromkeys(filterfalse(STOP.__contains__, names(text) + pairs))
    if "/" in text:
        for path in [thing for thing in found if "/" in thing]:
            found[path.rpartition("/")[2]] = None
    return tuple(map(_shared, found))


# one object for equal things, which are compared faster; not ``sys.intern``, which keeps each for
# good in some versions of Python
_shared = lru_cache(maxsize=1 << 15)(str)


def quoted(text: str) -> set[str]:
    """The things between quotation marks or backticks."""
    return set(things_in("\n".join(_QUOTED.findall(text))))


@lru_cache(maxsize=1 << 15)
def shape_of(thing: str) -> Shape:
    """The shape of a thing."""
    if thing.isalpha() and thing == thing.lower():
        return "word"
    if "/" in thing:
        return "path"
    of_digits, size = sum(map(thing.count, digits)), len(thing)
    if of_digits == size:
        return "small_number" if size < _FEW_DIGITS else "number"
    if of_digits >= _DIGITS_OF_AN_ID * size:
        return "id"
    if thing[0].isupper() and thing.isalpha() and thing[1:].islower():
        return "capitalised"
    if any(mark in thing for mark in "_.:"):
        return "compound"
    if "-" in thing:
        return "hyphened"
    return "camel" if not thing[1:].islower() and any(c.isupper() for c in thing[1:]) else "other"


WORDS: frozenset[Shape] = frozenset({"word", "capitalised"})
"""Shapes of plain words, which two texts may share by chance."""

# the letters of a case are one class of characters, and so are the digits
_CLASSES = str.maketrans(ascii_lowercase + ascii_uppercase + digits, "a" * 26 + "A" * 26 + "0" * 10)


Template = tuple[str, ...]
"""A text without its names and numbers, as of a line of a log: its distinct words and shapes."""


def template_of(found: Iterable[str]) -> Template:
    """The template of a text with these things; a path and its last component count once."""
    things = list(found)
    last = {thing.rpartition("/")[2] for thing in things if "/" in thing}
    return tuple(dict.fromkeys([_word_or_shape(thing) for thing in things if thing not in last]))


@lru_cache(maxsize=1 << 15)
def _word_or_shape(thing: str) -> str:
    shape = shape_of(thing)
    if thing.isalpha() and (shape != "camel" or thing.isupper()):
        return thing
    return shape.removeprefix("small_")


IdFormat = tuple[int, str]
"""A length, and the distinct classes of characters."""


@lru_cache(maxsize=1 << 15)
def id_format(thing: str) -> IdFormat:
    """What ids of one origin have in common, such as ``ORD-1042`` and ``ORD-2207``."""
    return len(thing), "".join(sorted(set(thing.translate(_CLASSES))))


@dataclass(frozen=True)
class TextPieces:
    """The pieces of a text and what is in each; what few callers need is found at its first use.

    Tuples and dictionaries of texts and numbers cost the garbage collector nothing.
    """

    text: str
    reading: Reading
    numbers: Sequence[int]
    """Those of the pieces that may be chosen, ascending."""
    pieces: Sequence[Piece]
    found: Sequence[tuple[str, ...]]
    """The things in each of these."""
    is_act: bool = False

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """For each of ``pieces``, the place among them of the one that gives its context, or -1."""
        return tuple(places_in(self.numbers, [piece.parent for piece in self.pieces]))

    @cached_property
    def things(self) -> tuple[tuple[str, ...], ...]:
        """The things in each of ``pieces``; none in the heads of columns, which are no content."""
        heads = {piece.parent for piece in self.pieces}
        each = zip(self.numbers, self.pieces, self.found, strict=True)
        return tuple([() if n in heads and not piece.units else found for n, piece, found in each])

    @cached_property
    def templates(self) -> tuple[Template, ...]:
        """The template of each; empty for an argument of an act, which is no line of a listing."""
        both = zip(self.pieces, self.found, strict=True)
        return tuple(
            [() if self.is_act and piece.parent >= 0 else template_of(own) for piece, own in both]
        )

    @cached_property
    def relative_lengths(self) -> tuple[float, ...]:
        """The length of each, as a multiple of the mean length of the parts of its line."""
        parts, sizes = Counter[int](), Counter[int]()
        for piece in self.reading.pieces:
            parts[piece.at] += 1
            sizes[piece.at] += len(piece.text)
        rows = [(len(piece.text), piece.at) for piece in self.pieces]
        return tuple([size * parts[at] / max(1, sizes[at]) for size, at in rows])

    @cached_property
    def lines(self) -> tuple[tuple[str, ...], ...]:
        """The lines of each, with one space for several, as between a number and code."""
        each = (piece.text.split("\n") for piece in self.pieces)
        return tuple([tuple([" ".join(line.split()) for line in lines]) for lines in each])

    @cached_property
    def all_lines(self) -> frozenset[str]:
        """The lines of all."""
        return frozenset(chain.from_iterable(self.lines))

    @cached_property
    def costs(self) -> tuple[int, ...]:
        """The characters of each, as ``Piece.cost`` counts them."""
        return tuple([piece.cost for piece in self.pieces])

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """For each thing, the number of pieces that have it."""
        return dict(Counter(chain.from_iterable(self.found)))

    @cached_property
    def act_things(self) -> frozenset[str]:
        """The things in an act, without those in sentences, which say why it is done."""
        both = zip(self.pieces, self.found, strict=True)
        what = [found for piece, found in both if not is_sentence(piece.text.partition(": ")[2])]
        return frozenset(chain.from_iterable(what or self.found))

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The names that are no plain words."""
        return tuple([name for name in self.counts if shape_of(name) not in WORDS])

    @cached_property
    def crowd(self) -> int:
        """The number of all things, labels too."""
        return len(frozenset(self.counts).union(*[piece.labels for piece in self.pieces]))

    @cached_property
    def quoted(self) -> tuple[str, ...]:
        """The things between quotation marks."""
        return () if self.is_act else tuple(quoted(self.text))


def places_in(numbers: Numbers, parents: Iterable[int]) -> list[int]:
    """For each of the ``parents``, its place among these numbers, -1 if it is not among them."""
    places = {number: place for place, number in enumerate(numbers)}
    return [places.get(above, -1) for above in parents]
