"""Splitting text into sentences, and telling lines from prose.

The pieces joined are the text. A full stop ends a sentence unless it belongs to an abbreviation, an
initial, a number, a name or a URL. A line break ends one before a list item, heading, quotation,
table or blank line, and after a line that is too short to have been wrapped.
"""

import re
from itertools import pairwise

from .words import fences

_ABBREVIATIONS = """
a.m adj al approx apr art assn assoc aug ave bd bldg blvd bros ca capt cf ch chap cmdr co col corp
cpl dec
dept det dist div dr e.g ed eds eq est etc ex ext feb fed ff fig figs fn fr fri ft gen gov hon i.e
ibid inc
incl jan jr jul jun lat lt ltd maj mar max messrs min misc mon mr mrs ms mt n.b nat no nos nov oct
op p p.m
par pg ph pl pp prof pt pub ref refs rep resp rev sat sec sect sen sep sept ser sgt sr st stat ste
suppl tab
tel temp thu thur thurs tue tues u.k u.s univ v ver viz vol vols vs wed wt yr yrs
abs abschn allg anm art aufl bd beisp best betr bez bspw bzgl bzw d.h evtl f geb gem ggf hl hrsg
inkl insb kap
lfd mind mio mrd n.chr nr o.ä s s.o s.u sog std str tsd u.a u.ä usw v.a v.chr vgl z.b z.t zt zzgl av
c.-à-d
cie éd éds env m mlle mm mme n.d p.ex tél
d dª dña pág ra sra srta ud uds
dott ecc ing on sig sigg
"""
_KNOWN = frozenset(_ABBREVIATIONS.split())
_CLOSING_TOO = frozenset("etc al a.m p.m inc ltd co corp jr sr usw ecc on no so sat art".split())
"""Abbreviations that end a sentence if a capital follows, and those that are words too."""

_QUOTES = "\"'”’»)\\]}*_"
_STOPS = ".!?…"
_UNSPACED_STOPS = "。！？｡"  # followed by no space
_BREAK = re.compile(  # begins with one set, so that the search can skip to it
    rf"[\n{_STOPS}{_UNSPACED_STOPS}।؟۔](?:(?<!\n)[{_STOPS}{_UNSPACED_STOPS}]*+[{_QUOTES}」』）】]*+)?"
)
_SPACE = re.compile(r"\s+")
_BLANK_LINES = re.compile(r"(?:[ \t\r]*+\n)++")
_WORD = re.compile(r"[^\s(\[{\"'“‘«]*$")
# characters before a full stop that are looked at; abbreviations are shorter. Half and double read
# real texts alike
_LONGEST_WORD = 24
_INITIAL = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
ITEM = re.compile(
    r"[ \t]{0,12}(?:[-*+•‣▪–—][ \t]|\(?(?:\d{1,3}|[a-z])[.)][ \t]|#{1,6}[ \t]|[>|\r\n])"
)
"""How an item of a list, a heading, a quotation, a row of a table or a blank line begins."""
_INDENT = "    "
# characters from which a line may have been wrapped; shorter ones are of lists. Of 309 facts in
# real texts, half kept one less, and double two more
_WRAPPED = 45


def sentences(text: str) -> list[str]:
    """The sentences, each with the white space after it; a fenced block of code is one piece."""
    pieces: list[str] = []
    at = 0
    marks = fences(text)
    for start, close in zip(marks[::2], marks[1::2], strict=False):
        end = text.find("\n", close) + 1 or len(text)
        pieces += [*_split(text[at:start]), text[start:end]]
        at = end
    return pieces + _split(text[at:])


def _split(text: str) -> list[str]:
    cuts = [0]
    line = 0
    for found in _BREAK.finditer(text):
        start, end = found.span()
        broken = text[start:end] == "\n"
        if start >= cuts[-1] and (
            _line_ends(text, line, start) if broken else _sentence_ends(text, start, end)
        ):
            behind = (_BLANK_LINES if broken else _SPACE).match(text, end)
            cuts.append(behind.end() if behind else end)
        if broken:
            line = end
    return [text[one:other] for one, other in pairwise((*cuts, len(text))) if one < other]


def _line_ends(text: str, line: int, end: int) -> bool:
    if end - line < _WRAPPED or text[end - 1] in ":|" or ITEM.match(text, end + 1):
        return True
    return text.startswith(_INDENT, end + 1) and not text.startswith(_INDENT, line)


def _sentence_ends(text: str, start: int, end: int) -> bool:
    """Whether the stop from ``start`` to ``end`` ends a sentence."""
    stop = text[start]
    if stop in _UNSPACED_STOPS:
        return True
    space = _SPACE.match(text, end)
    if space is None:
        return False
    follows = text[space.end() : space.end() + 1]
    if stop != ".":
        return not follows.islower()
    word = _WORD.findall(text, max(0, start - _LONGEST_WORD), start)[0].lower()
    if word in _KNOWN:
        return word in _CLOSING_TOO and follows.isupper()
    at = start - len(word)
    in_line = text[max(0, at - _LONGEST_WORD) : at].rpartition("\n")[2].strip()
    if _INITIAL.fullmatch(word) or (word.isdigit() and not in_line):
        return False
    return not follows.islower() or (len(word) > 3 and word.isalpha())


_SAMPLE = 300  # lines that are looked at: the share of a kind among so many errs by 0.03
_FEWEST = 4  # lines, of which ends show the kind of text; half and double read real outputs alike
_ENDS = tuple(".!?…。！？;,\"'”’»")  # the ends of lines that end with their sentence
# least share of such lines in prose that is not wrapped: with half or double of it, 7% and 24% of
# real outputs are parted in other ways
_CLOSED = 0.35
# least share of lines in wrapped prose that have no room for the next word; half of it read real
# outputs alike
_WRAPPED_SHARE = 0.65
# characters of the longest line of wrapped prose: the widest usual margin; double read real texts
# alike
_WIDEST = 120
# least mean number of words in a line of prose; lists of paths have one or two. Half kept two facts
# fewer of real texts, and double as many
_FEWEST_WORDS = 4
# characters of the next word at most; longer ones are often paths. Double kept one fact fewer of
# real texts, and half as many
_NEXT_WORD = 12
GUTTER = re.compile(r"\S(?: {2,}|\t)\S")
"""A gap between columns."""


def is_of_lines(text: str) -> bool:
    """Whether each line is a separate statement, and the text is not running prose."""
    lines = [line.rstrip() for line in text.split("\n", _SAMPLE)[:_SAMPLE]]
    said = [line for line in lines if line]
    if len(said) < _FEWEST:
        return False
    if 2 * sum(GUTTER.search(line.lstrip()) is not None for line in said) >= len(said):
        return True
    closed = sum(line.endswith(_ENDS) for line in said)
    return closed < _CLOSED * len(said) and not _is_wrapped(lines)


def _is_wrapped(lines: list[str]) -> bool:
    """Whether most lines end where the next word would have been too long."""
    lengths = sorted(len(line) for line in lines if line)
    width = lengths[len(lengths) * 9 // 10]
    if width > _WIDEST or sum(len(line.split()) for line in lines) < _FEWEST_WORDS * len(lengths):
        return False
    full = [  # whether a line had no room for the next word
        len(one) + 1 + min(len(other.split(None, 1)[0]), _NEXT_WORD) > width
        for one, other in pairwise(lines)
        if one and other
    ]
    return bool(full) and sum(full) >= _WRAPPED_SHARE * len(full)
