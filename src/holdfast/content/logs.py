"""The content kind ``log``: lines written by programs, summarized by kind of event.

What varies is found by comparing the lines. The columns with which lines begin are found in a
sample; the head of a line ends after its last time, level or component. Messages that differ only
in numbers are one kind, and so are those that differ only where many words alternate. A word that
is the same in all lines of a kind is shown; if a few words alternate at one place, all are shown.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, islice, takewhile
from os.path import commonprefix
from typing import NamedTuple

from holdfast.kernel.forks import cached_property
from holdfast.text.importance import TROUBLE, alarm
from holdfast.text.pieces import LONGEST, Piece, Reading, clauses
from holdfast.text.visible import amount, as_shown

from .lossy import FEWEST, MOSTLY, SAMPLE, Lines, LossyKind, mostly, sampled

_COLUMNS = 12  # fields at the beginning of a line that may be columns; half and double read alike
# least share of lines that begin a record; stack traces are longer than their heads. Half and
# double kept as much of real logs
_BOUND = 0.3
_LONGEST = 2_000  # characters of a line that are compared; half and double read real logs alike
# up to so many words at one place are states, not values: each makes a kind of its own. Of logs, 1
# and 6 kept as much
_STATES = 3
# lines that a kind must have for each of its states; with fewer, its words are listed in one line.
# Of 19 made-up logs .854 of the kinds were told in 2,000 tokens instead of .831; half and double
# told as many
_OF_A_STATE = 5
_FEW = 12  # alternating words at one place that are all shown; half and double read logs alike
# most characters of these words; with 90, .887 of the kinds of eleven systems' logs are told in
# 2,000 tokens instead of .907, and with 360 as many
_MOST_LISTED = 180
# most characters of a list of numbers, three or four of them: longer lists say less. Half and
# double kept as much of real logs
_SHORT = 12
# share of the lines that are the first of their kind, above which kinds say nothing. In recorded
# runs as much is kept with it
_ALONE = 0.5
# share of the lines above which kinds are too many for a log that has neither times nor levels.
# With half, .93 of the alarms of a made-up one were told instead of all; with double real prose was
# a log
_FEW_KINDS = 0.3
# words of the mean line of such a log: fields of records have fewer. Made-up logs have 8 to 14
_WORDS = 5
# groups, or values at one place, each compared with the next; others stay alone. Half and double
# read real logs alike
_MOST_GROUPS = 64
_MORE = "…"
_ENDS = frozenset({"time", "level", "tag", "bar"})
"""Classes of the columns with which a head may end."""

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+")
_FIELD = re.compile(r"\[[^\]\n]{0,160}\][^\s|]*|[^\s|]+|\|")
_GLUED = re.compile(r"^(?:\S+ )?\S*\d[;,|]\S+(?: +\|\S+)*", re.MULTILINE)
"""The first or second field of a line, if columns stand in it without spaces between them.

Behind a bar a column may be padded."""
_DELIMITER = re.compile(r";(?=\S)|(?<=\d),(?=[^\W\d_])")
_BRACKETS = re.compile(r"^\[[^\]\n]{0,160}\](?=\[)(?:\[[^\]\n]{0,160}\])+", re.MULTILINE)
"""Columns in brackets at the beginning of a line, without spaces between them."""

_TIME = re.compile(
    r"\W{0,2}(?:[a-z_]{1,12}[=(]\W?){0,2}(?:\d{1,2}:\d\d(?::\d\d)?(?![:\d])"
    r"|\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?!\d|\1\d)"
    r"|(?:19|20)\d{6}(?:\D|$)|\[ *\d+\.\d{3,}\]|1\d{9}(?:\.?\d{3,9})?(?!\d))"
    r"|\W?(?i:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|mon|tue|wed|thu|fri|sat"
    r"|sun)\b(?![-_/])"
)
_PROCESS = re.compile(r"\[\d+\]")
_CLOCK = re.compile(r"\d:\d\d(?!\d)")
_LEVEL = re.compile(
    r"\W*(?:(?:level|lvl|severity)=\W*)?(?:trace|debug|verbose|fine\w*|config|info\w*|notice"
    r"|log|ok|warn\w*|wrn|err\w*"
    r"|severe|crit\w*|d?panic|fatal|alert|emerg\w*|fail(?:ure)?)\W*",
    re.IGNORECASE,
)
_LETTER = re.compile(r"([VDINWEFC])(?:[01]\d[0-3]\d|0)?")
_LETTERS = {"W": "WARNING", "E": "ERROR", "F": "FATAL", "C": "CRITICAL"}
_TAG = re.compile(
    r"[^\s\"]*:|\[.*\][^\w\]]*|[^\s\[\"][^\s\[\":]*:[^\s\[]*\]"
    r"|[A-Za-z_][\w-]*(?:[.$]|::)[\w$-]+(?:(?:\.|::)[\w$-]+)*"
)
# both begin with one set, so that the search can skip to it; a code such as E0308 is no number
_HEX = re.compile(
    r"[0-9a-fA-F](?<![^\W_].)(?:(?<=0)[xX][0-9a-fA-F]+|(?!(?<=[A-F])\d{1,4}(?![^\W_]))"
    r"(?:(?<=\d)|(?=[a-fA-F:-]{0,40}\d))[0-9a-fA-F]+(?:[:-]+[0-9a-fA-F]{2,})*)(?![^\W_])"
)
_NUMBER = re.compile(
    r"[-+\dMTWFSJAOND](?:(?<![a-zA-Z\d].)(?:(?<=\d)\d*|(?<=[-+])\d+)(?:[.,:/_+-]+\d+)*|(?<=\d)\d*"
    r"|(?:(?<=\bM)(?:on|ar|ay)|(?<=\bT)(?:ue|hu)|(?<=\bW)ed|(?<=\bF)(?:ri|eb)|(?<=\bS)(?:at|un|ep)"
    r"|(?<=\bJ)(?:an|un|ul)|(?<=\bA)(?:pr|ug)|(?<=\bO)ct|(?<=\bN)ov|(?<=\bD)ec)\b)"
)


_DIGITS_ALIKE = str.maketrans("123456789", "000000000")


def _masked(lines: Lines) -> list[str]:
    """The lines or words with ``0`` for each number, id, address, date, and list of them.

    All digits look alike to the patterns, and most lines of a log are then equal.
    """
    alike = "\n".join(lines).translate(_DIGITS_ALIKE).split("\n")
    distinct = list(dict.fromkeys(alike))
    masked = _NUMBER.sub("0", _HEX.sub("0", "\n".join(distinct))).split("\n")
    return list(map(dict(zip(distinct, masked, strict=True)).__getitem__, alike))


def is_time(text: str) -> bool:
    """Whether a text begins with a time or a date."""
    return _TIME.match(text) is not None


def is_level(text: str) -> bool:
    """Whether a text is the level of a log line."""
    return (_LEVEL.fullmatch(text) or _LETTER.fullmatch(text)) is not None


@lru_cache(maxsize=1 << 12)
def _class_of(field: str) -> str:
    """The class of a field at the beginning of a line, by its form."""
    if is_time(field) or (field[0] == "[" and _CLOCK.search(field)):
        return "time"
    if is_level(field):
        return "level"
    if _TAG.fullmatch(field):
        return "tag"
    if any(map(str.isdigit, field)):
        return "number"
    if field == "|":
        return "bar"
    return "word" if any(map(str.isalpha, field)) else "mark"


class Column(NamedTuple):
    """A column of a log: the class of its fields, and their usual forms, with numbers alike."""

    name: str
    usual: frozenset[str]
    letters: int
    """The most letters that a usual form has."""

    def takes(self, field: str) -> bool:
        """Whether a masked field can be in the column.

        A time or a number that has none of the usual forms must have digits, and no more letters
        than they have: a line of another shape has words of its message there.
        """
        if self.name in {"time", "number"}:
            return field in self.usual or (
                any(map(str.isdigit, field)) and _letters(field) <= self.letters
            )
        if self.name == "bar":
            return field == "|"
        is_any = self.name not in {"level", "tag", "mark"}
        return is_any or _class_of(field) in {self.name, "tag", "level"}


def _letters(field: str) -> int:
    return sum(map(str.isalpha, field))


class Head(NamedTuple):
    """The head of a line: its number of fields, its level, and its component and its place."""

    fields: int = 0
    level: str = ""
    tag: str = ""
    place: int = 0


def _spaced_columns(glued: re.Match[str]) -> str:
    """Columns with a space behind each; those between bars after a time become components."""
    columns = list(map(str.rstrip, glued[0].split("|")))
    found = glued[0]
    if any(map(_CLOCK.search, columns[:2])):  # else it is a row of data
        parted = [f"{each} " if is_level(each) else f"{each}: " for each in columns[:-1]]
        found = "".join([*parted, columns[-1]])
    return _DELIMITER.sub(r"\g<0> ", found)


class Layout:
    """The lines, and the classes of their columns up to the last time, level or component."""

    def __init__(self, text: str) -> None:
        text = as_shown(text).removeprefix("\ufeff").replace("\r\n", "\n")
        text = _UNPRINTABLE.sub("\ufffd", text)
        self.whole = text.removesuffix("\n").split("\n")
        """The lines without byte-order mark, carriage returns and colours."""
        text = _GLUED.sub(_spaced_columns, text)
        text = _BRACKETS.sub(lambda found: found[0].replace("][", "] ["), text)
        self.lines = text.removesuffix("\n").split("\n")
        """These lines, with a space behind each column."""

    @cached_property
    def names(self) -> Sequence[str]:
        """The classes of the columns."""
        return [column.name for column in self.columns]

    @cached_property
    def columns(self) -> Sequence[Column]:
        """The columns of nearly all lines of a sample that begin a record."""
        asked = [line for line in self.lines if line and not line[0].isspace()]
        rows = [
            _FIELD.findall(line[:600])[:_COLUMNS] for line in asked[:: max(1, len(asked) // SAMPLE)]
        ]
        for name in ("time", "level"):
            begun = [row for row in rows if _class_of(row[0]) == name]
            if len(begun) >= max(2, _BOUND * len(rows)):  # one alone is no regularity
                rows = begun
                break
        width = max(map(len, rows), default=0)
        fields = [[row[at] for row in rows if len(row) > at] for at in range(width)]
        while fields and not mostly(fields[-1], lambda field: _class_of(field) in _ENDS, MOSTLY):
            fields.pop()  # before their classes are found: most texts have no head, or a short one
        names = list(takewhile(bool, (_class_of_column(found, len(rows)) for found in fields)))
        while names and (
            names[-1] not in _ENDS
            or (names[-1] == "bar" and len(names) != 2)  # else it stands in the message
            or (
                names[-1] != "time"
                and sum(len(row) > len(names) for row in rows) <= (1 - MOSTLY) * len(rows)
            )
        ):
            names.pop()
        return list(map(_column_of, names, fields))

    @cached_property
    def shapes(self) -> Sequence[str]:
        """The lines with their numbers alike; most texts are no logs, and do not need them."""
        return _masked([line[:_LONGEST] for line in self.lines])

    @cached_property
    def heads(self) -> Mapping[str, Head]:
        """The head of each masked line; kept, since a log is recognised and then read by it."""
        return {shape: self._head(shape) for shape in dict.fromkeys(self.shapes)}

    @cached_property
    def bad(self) -> frozenset[str]:
        """The components that tell trouble: one may be a result, as in ``FAIL: part 7``."""
        tags = {head.tag for head in self.heads.values()}
        return frozenset(tag for tag in tags if alarm(tag) >= TROUBLE)

    def head(self, row: int) -> Head:
        """The head of a line."""
        return self.heads[self.shapes[row]]

    def _head(self, shape: str) -> Head:
        """The head of a masked line; empty for a line that continues another.

        If one of the columns is a time, a head has one.
        """
        fields, level, tag, place, before = 0, "", "", 0, ""
        for column, found in zip(self.columns, _FIELD.finditer(shape), strict=False):
            name, field = column.name, found.group()
            if not column.takes(field):
                break
            if name == "level":
                level = field
            elif name == "tag" and (field[0] != "[" or not tag) and any(map(str.isalpha, field)):
                tag, place = field, fields
            elif name == "bar":  # behind the component
                tag, place = before, fields - 1
            elif name == "label" and not tag:
                tag, place = field, fields
            fields, before = fields + 1, field
        least = self.names.index("time") if "time" in self.names else 0
        return Head(fields, level, tag, place) if fields > least else Head()


def _column_of(name: str, fields: Sequence[str]) -> Column:
    """The column of this class, with the most usual forms of its fields."""
    usual = [form for form, _ in Counter(_masked(fields)).most_common(_FEW)]
    return Column(name, frozenset(usual), max(map(_letters, usual), default=0))


def _class_of_column(fields: Sequence[str], rows: int) -> str:
    """The class of nearly all fields of a column; empty if the column is part of the message."""
    least = MOSTLY * rows
    if not fields or len(fields) < least:
        return ""
    classes = Counter(map(_class_of, fields))
    name, count = classes.most_common(1)[0]
    if count >= least and name not in {"tag", "word"}:
        return name
    different = Counter(_masked(fields))
    if count >= least and name == "tag" and len(different) <= max(_FEW, _BOUND * rows):
        return name
    if sum(count for _, count in different.most_common(_FEW)) >= least:
        return "label" if len(different) > 1 else "same"
    return "number" if classes["number"] + classes["tag"] >= least else ""


class EventKind(NamedTuple):
    """Lines with the same kind of event: their masked words and their positions."""

    words: tuple[str, ...]
    level: str
    rows: list[int]


def _kinds(layout: Layout) -> list[EventKind]:
    rows_of = defaultdict[str, list[int]](list)
    for row, shape in enumerate(layout.shapes):
        rows_of[shape].append(row)
    kinds: dict[tuple[object, ...], EventKind] = {}
    for shape, rows in rows_of.items():
        head = layout.heads[shape]
        words = tuple(_words(shape, head.fields))
        if not any(map(str.isalnum, shape)):
            continue
        letter = _LETTER.fullmatch(head.level)
        level = _LETTERS.get(letter[1], "") if letter else head.level
        key = words, level, head.tag in layout.bad
        kinds.setdefault(key, EventKind(words, level, [])).rows.extend(rows)
    families = defaultdict[tuple[object, ...], list[EventKind]](list)
    for kind in kinds.values():
        told = f"{layout.head(kind.rows[0]).tag} {' '.join(kind.words)}"
        families[len(kind.words), kind.level, alarm(told) >= TROUBLE].append(kind)
    found = [kind for family in families.values() for kind in _merged(family)]
    for kind in found:
        kind.rows.sort()
    return sorted(found, key=lambda kind: kind.rows[0])


def _is_repetitive(layout: Layout) -> bool:
    """Whether the lines are of few kinds, each of few components, unlike those of a search.

    They must also be sentences, not fields of records, and no component may be a result, as
    ``FAIL:`` is.
    """
    lines, kinds = layout.lines, _kinds(layout)
    found = {(kind.words, lines[row].partition(" ")[0]) for kind in kinds for row in kind.rows}
    said = sum(len(kind.words) * len(kind.rows) for kind in kinds)
    return len(found) <= _FEW_KINDS * len(lines) and said >= _WORDS * len(lines) and not layout.bad


def _words(line: str, fields: int) -> list[str]:
    """The words of a line after the fields of its head."""
    if not fields:
        return line.split()
    *_, last = islice(_FIELD.finditer(line), fields)
    return line[last.end() :].split()


def _merged(kinds: Sequence[EventKind]) -> Iterator[EventKind]:
    """Messages of one length, merged if they differ only in values.

    Each joins the first group whose first message has half of its words with letters, as in Drain
    (He et al. 2017). Words of which a group has only a few at one place are states, and each makes
    a kind of its own; other words that differ are values.
    """
    groups: list[tuple[frozenset[str], list[EventKind]]] = []
    for kind in kinds:
        told = frozenset(filter(_has_letters, kind.words))
        for words, group in groups[:_MOST_GROUPS]:
            if 0 < len(told) <= 2 * len(told & words):
                group.append(kind)
                break
        else:
            groups.append((told, [kind]))
    for _, group in groups:
        columns = zip(*[kind.words for kind in group], strict=True)
        rows = sum(len(kind.rows) for kind in group)
        different = [len(set(words)) for words in columns]
        most = min(_STATES, max(1, rows // _OF_A_STATE))
        states = [at for at, few in enumerate(different) if few <= most]
        found: dict[tuple[str, ...], EventKind] = {}
        for kind in group:
            key = tuple([kind.words[at] for at in states])
            joined = found.setdefault(key, EventKind(kind.words, kind.level, []))
            joined.rows.extend(kind.rows)
        yield from found.values()


@lru_cache(maxsize=1 << 14)
def _has_letters(word: str) -> bool:
    """Whether a word has at least two letters."""
    return len(word) > 1 and sum(map(str.isalpha, word)) > 1


class KindSummary(NamedTuple):
    """The summary of one kind of event, its component and its lines."""

    name: str
    """Its level, its masked words, and how it ended: the same in every log."""
    text: str
    tag: str
    rows: Sequence[int]
    words: int
    """The largest number of words shown at one place, each of which makes a kind."""


def _events(kind: EventKind, layout: Layout, usual_level: str) -> Iterator[KindSummary]:
    """The events of a kind; failures that differ only in a number are separated from successes."""
    heads = list(map(layout.head, kind.rows))
    lines = [layout.lines[row] for row in kind.rows]
    said = [_words(line[:_LONGEST], head.fields) for line, head in zip(lines, heads, strict=True)]
    level = "" if kind.level == usual_level and not alarm(kind.level) else kind.level
    usual = Counter(head.tag for head in heads).most_common()
    tag = "|".join(dict.fromkeys(tag.replace("[0]", "") for tag, _ in usual))
    failed = _failures(said)
    others = sorted(set(range(len(said))).difference(failed))
    for ending, part in (("failed", failed), ("", others)):
        if part:
            columns = map(dict.fromkeys, zip(*[said[n] for n in part], strict=True))
            most = LONGEST if alarm(" ".join(said[part[0]])) >= TROUBLE else _MOST_LISTED
            words = [_joint_form(list(values), most) for values in columns]
            count = f"×{len(part)}" if len(part) > 1 else ""
            shown = words or [lines[part[0]]]  # else the line is all head
            told = " ".join(filter(None, (count, level, *shown)))
            text = re.sub(f"{_MORE}[ {_MORE}]*{_MORE}", _MORE, told)
            first = zip(words, said[part[0]], strict=True)
            more = [word.count("|") - own.count("|") for word, own in first]
            rows = [kind.rows[n] for n in part]
            name = " ".join(filter(None, (kind.level, *kind.words, ending)))
            yield KindSummary(name, text, tag, rows, max([0, *more]) + 1)


def _failures(said: Sequence[Sequence[str]]) -> Sequence[int]:
    """The lines that fail by the word at one place, if the others do not."""

    @cache
    def is_bad(number: int) -> bool:
        return alarm(" ".join(said[number])) >= TROUBLE

    last_first = [*reversed([*enumerate(said)])]
    for place, values in enumerate(map(dict.fromkeys, zip(*said, strict=True))):
        if 1 < len(values) <= _MOST_GROUPS and max(map(len, values)) <= _FEW:
            first = {words[place]: n for n, words in last_first}
            bad = {value for value, n in first.items() if is_bad(n)}
            if 0 < len(bad) < len(values):
                return [n for n, words in enumerate(said) if words[place] in bad]
    return ()


def _joint_form(values: Sequence[str], most: int = _MOST_LISTED) -> str:
    """The words at one place of a kind: one, a few in ``most`` characters, or their common part."""
    listed = "|".join(values)
    if len(values) > 1 and len(listed) > _SHORT:
        values = list(dict.fromkeys(mask.replace("0", _MORE) for mask in _masked(values)))
        listed = "|".join(values)
    if len(values) <= _FEW and len(listed) <= most:
        return listed
    if len(values) == 1:
        return f"{listed[:_MOST_LISTED]}{_MORE}"
    start = _shared(values)
    end = _shared([value[len(start) :][::-1] for value in values])[::-1]
    return f"{start}{_MORE}{end}"


def _shared(values: Sequence[str]) -> str:
    """The common beginning of the values, up to the end of a word."""
    start = commonprefix(values)[:_MOST_LISTED]  # noqa: RUF071
    while start[-1:].isalnum():
        start = start[:-1]
    return start


_laid_out = lru_cache(maxsize=1)(Layout)  # since a text is recognised before it is read


class Log(LossyKind):
    """Lines that begin with a time, a level or a component, told by their kinds of event.

    Each kind is shown once, with its count.
    """

    name = "log"
    takes_apart = True
    least = _BOUND

    def share(self, text: str) -> float:
        """The share of the lines that begin like a log's.

        It is 0 if too few of the lines that are not indented do: indented ones continue others.
        """
        layout = _laid_out(sampled(text))
        begins = {"time", "level"}.intersection(layout.names[:5])
        component = "tag" in layout.names[:1] or layout.names[1:] == ["bar"]
        if not begins and not component:
            return 0.0
        both = zip(layout.lines, layout.shapes, strict=True)
        told = [(line, shape) for line, shape in both if shape.strip()]
        if len(told) < FEWEST:
            return 0.0
        begun = sum(
            layout.heads[shape].fields > 0 or _class_of(line.split(None, 1)[0]) == "level"
            for line, shape in told
        )
        own = sum(not line[0].isspace() for line, _ in told)  # indented lines continue a record
        least = 0.6 if "time" in layout.names else 0.8
        if begun <= least * own or not (begins or _is_repetitive(layout)):
            return 0.0
        return begun / len(told)

    def read(self, text: str) -> Reading:
        """The events; where most lines have a kind of their own, as in ``git log``, the lines."""
        return events_in(text) or super().read(text)


def events_in(text: str, whole: Lines | None = None, always: str = "") -> Reading | None:
    """Each kind of event with its count, by component, and then the lines.

    ``whole`` are the lines as they are shown, if ``text`` has only what they are compared by, and
    ``always`` is what all of them have besides. None if most lines have a kind of their own.
    """
    layout = _laid_out(text) if sampled(text) is text else Layout(text)
    lines, kinds = layout.lines, _kinds(layout)
    if len(kinds) > _ALONE * sum(map(bool, map(str.strip, lines))):
        return None
    levels = Counter(kind.level for kind in kinds for _ in kind.rows)
    usual = levels.most_common(1)[0][0] if levels else ""
    events = [event for kind in kinds for event in _events(kind, layout, usual)]
    marks = f"×n n such lines, {_MORE} differs, a|b either; then lines as they are"
    mostly = f"mostly {usual}, " if usual else ""  # which is left out of the lines below
    title = f"[log, {len(lines):,} lines, {mostly}{amount(len(events), 'kind')} of line: {marks}]"
    first = Piece(f"{title} always {always}" if always else title, 0, 0)
    pieces = [first]
    _add_kinds(pieces, layout, events)
    _add_lines(pieces, events, whole or layout.whole)
    return Reading(tuple(pieces), len(lines), "")


def _add_kinds(pieces: list[Piece], layout: Layout, events: Sequence[KindSummary]) -> None:
    """Add the pieces of the kinds, each under its component."""
    by_tag = defaultdict[str, list[KindSummary]](list)
    for event in events:
        by_tag[event.tag].append(event)
    for tag, tagged in by_tag.items():
        # the components, without process numbers, the most usual first
        components = Counter[str]()
        for row in chain.from_iterable(event.rows for event in tagged if tag):
            component, place = layout.head(row)[2:]
            if "0" in component:  # its digits are alike
                component = next(islice(_FIELD.finditer(layout.lines[row]), place, None)).group()
            components[_PROCESS.sub("", component)] += 1
        shown = _joint_form([name for name, _ in components.most_common()])
        parent, lead = 0, f"{shown} " if shown else ""
        if shown and len(tagged) > 1:
            parent, lead = len(pieces), " "
            pieces.append(Piece(shown, 0, 0, parent=0))
        for event in tagged:
            kinds = [f"kind {word} of {event.name}" for word in range(event.words)]
            told = (*kinds, f"event {event.name}")
            pieces.append(Piece(lead + event.text, 0, len(event.rows), told, parent))


def _add_lines(pieces: list[Piece], events: Sequence[KindSummary], whole: Lines) -> None:
    """Add the lines as they are."""
    event_of = {row: (f"event {event.name}",) for event in events for row in event.rows}
    for row, line in enumerate(whole):
        told = event_of.get(row, ())
        first, *rest = clauses(line, 2 * LONGEST) or [""]
        if first:
            at = len(pieces)
            pieces.append(Piece(first, row, 0, told))
            # the rest of a long line tells its event no better, and nothing without its beginning
            pieces += [Piece(part, row, 0, told, at, continues=True) for part in rest]
