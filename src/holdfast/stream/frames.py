"""What a program adds to outputs: openings with the name of what was called, and edges.

In an opening such as ``Command search returned:`` each tool has its own name, so that most openings
are seen once or twice: they are compared without the name.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile, zip_longest
from math import ceil
from os.path import commonprefix
from string import punctuation
from typing import NamedTuple

from holdfast.kernel.messages import Messages, Text
from holdfast.text.words import (
    is_heading,
    is_sentence,
    is_worded_line,
    masked,
    may_be_said,
    reads_as_words,
    unwrapped,
)

# times that a regularity must appear, and in half of the messages that could show it; in recorded
# runs 1 and 6 kept less
FEWEST = 3
# share of the texts in which a regularity is that of all; half kept as much of recorded runs
NEARLY_ALL = 0.9
_LINES = 6  # at the end of outputs, which bounds time: shells and editors put up to three there
OPENING = 60  # characters at the start of outputs that are compared
# characters; a shorter opening needs a closed sign where no acts are known. In recorded runs half
# and double kept less
LONG = 12
PICTURE = r"[^\w\s\x00-\x7f“”„«»‘’…¿¡•–—]"  # a symbol that opens no quotation, item or sentence
SIGN = re.compile(rf"[][<>(){{}}=\\|$%`:;_：【】]|\A{PICTURE}.{{{LONG - 1}}}", re.DOTALL)
"""What a program puts into the opening of its outputs, and few people into theirs: they mention
somebody with @, and begin a command with / or a list with a sign. A long opening may begin with a
symbol that no keyboard has."""
_CLOSING = ":>)]}：】"
"""Signs with which such an opening ends."""


class CalledName(NamedTuple):
    """What openings of outputs have around the name of what was called, and the names, if any."""

    before: str = ""
    behind: str = ""
    names: frozenset[str] = frozenset()

    @property
    def opening(self) -> str:
        """The opening without a name; empty if it is one sign, as before a person's words too."""
        bare = self.before + self.behind
        return bare if bare.strip() not in _CLOSING else ""

    def left_out(self, text: str) -> str:
        """A text without white space at its start, and without the name in its opening."""
        text = text.lstrip()
        if not self.behind or not text.startswith(self.before):
            return text
        start = len(self.before)
        name = text[start:OPENING].partition(self.behind)[0]
        return text[:start] + text[start + len(name) :] if name in self.names else text


UNNAMED = CalledName()


def named_in(exchanges: Sequence[tuple[str, str]]) -> CalledName:
    """What half of the answers have around a word of the act that they answer, which differs."""
    found = defaultdict[tuple[str, str], list[str]](list)
    for act, answer in exchanges:
        line = answer.lstrip()[:OPENING].partition("\n")[0]
        for name in {word.strip(punctuation) for word in line.split()} - {""}:
            before, _, behind = line.partition(name)
            end = next((at for at, sign in enumerate(behind, 1) if sign in _CLOSING), 0)
            if end and name in act:
                found[before, behind[:end]].append(name)
    around = max(found, key=lambda each: len(found[each]), default=("", ""))
    names = found[around]
    is_regular = len(names) >= max(FEWEST, len(exchanges) / 2) and len({*names}) > 1
    return CalledName(*around, frozenset(names)) if is_regular else UNNAMED


def closings_of(alike: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """The lines of a program's form, backwards, with which several answers end.

    Of a long line its end is enough. ``alike`` are ends, backwards, each with the answers that have
    it.
    """
    found: list[str] = []
    for closing, group in alike:
        if found and closing.startswith(found[-1]):
            continue
        line, line_break, _ = closing.partition("\n")
        has_sign = SIGN.search(line) and any(map(str.isalnum, line))
        rests = [text.rstrip().rpartition("\n")[0] for text in group]
        is_whole = line_break or len(closing) == OPENING
        is_programs = is_whole and has_sign and not reads_as_words(line[::-1])
        if is_programs and 2 * sum(map(may_be_said, rests)) <= len(group):
            found.append(line + line_break)
    return tuple(found)


def frames_words(opening: str, group: Sequence[str]) -> bool:
    """Whether most of these texts are what a person may say, within or behind their opening."""
    pattern = re.escape(opening).replace("0", r"\d+")
    rests = [re.sub(pattern, "", text, count=1).strip() for text in group]
    both = zip(map(unwrapped, group), group, rests, strict=True)
    within = [rest and (rest if inner == text else inner) for inner, text, rest in both]
    said = [bool(text) and (is_worded_line(text) or may_be_said(text)) for text in within]
    return 2 * sum(said) > len(group)


class Edges(NamedTuple):
    """What a program tells of each act in the first line and in the last ones of its output."""

    words: frozenset[str] = frozenset()
    """The last words of nearly all first lines, if they are few, as of ``Result (failed):``."""
    endings: tuple[str, ...] = ()
    """How the last lines of nearly all outputs begin, from the last one up."""

    def parted(self, output: str) -> tuple[str, str]:
        """An output without the lines that end all, and what only this one has at its edges."""
        own = [word for word in self.words if word == _last_word(output.strip().partition("\n")[0])]
        for ending in self.endings:
            above, line_break, line = output.rstrip().rpartition("\n")
            if not line_break or not masked(line).startswith(ending):
                break
            if masked(line) != ending:
                own.append(masked(line)[ending.rfind(" ") + 1 :])
            output = above
        return output, "\n".join(own)


def edges_of(exchanges: Sequence[tuple[str, str]]) -> Edges:
    """The edges that nearly all of these outputs have, each behind its act, which it may repeat."""
    firsts = [(act, *text.strip().partition("\n")[::2]) for act, text in exchanges]
    lasts = [(_last_word(line), act) for act, line, rest in firsts if rest]
    words = Counter((word, word.strip(punctuation) in act) for word, act in lasts)
    if words.total() < FEWEST:
        return Edges()
    few = [(word, times) for (word, is_acts), times in words.most_common(FEWEST) if not is_acts]
    are_few = sum(times for _, times in few) >= NEARLY_ALL * words.total()
    most, endings = ceil(NEARLY_ALL * len(exchanges)), list[str]()
    below = zip_longest(*(_from_below(text) for _, text in exchanges), fillvalue="")
    for lines in islice(below, _LINES):
        starts = sorted(lines)
        pairs = zip(starts, starts[most - 1 :], strict=False)
        begun = max(map(commonprefix, pairs), key=len)
        if not any(map(str.isalpha, begun)):
            break
        endings.append(begun)
    return Edges(frozenset(word for word, _ in few if are_few), tuple(endings))


def beside_results(messages: Messages) -> list[str]:
    """The texts of the user's role beside tool results, or in the message after them."""
    found: list[str] = []
    is_behind = False
    for message in messages:
        if message.role == "user" and (is_behind or message.results):
            found += [part.text for part in message.parts if isinstance(part, Text)]
        is_behind = bool(message.results)
    return found


def reminders_of(exchanges: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The sentences that stand below nearly all of these outputs, from the last one up."""
    endings = edges_of(exchanges).endings
    return tuple(takewhile(lambda each: is_sentence(each) and not is_heading(each), endings))


def text_above(reminders: Sequence[str], text: str) -> str:
    """The text without these lines at its end."""
    for reminder in reminders:
        above, line_break, line = text.rstrip().rpartition("\n")
        if not line_break or masked(line) != reminder:
            break
        text = above
    return text


def _last_word(line: str) -> str:
    return masked(line).rpartition(" ")[2]


def _from_below(text: str) -> Iterator[str]:
    """The lines below the first, masked, from the last one up."""
    while "\n" in (text := text.rstrip()):
        text, _, line = text.rpartition("\n")
        yield masked(line)
