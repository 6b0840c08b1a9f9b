"""Subjective edits by named rules; each edit is kept only if it saves tokens.

Rules for prose remove fillers, phrases that only refer back, and repeated sentences, and shorten
verbose texts. Code, JSON, quotations and tables are never changed. ``like`` and ``well`` are
ordinary words, so except for ``um`` and ``uh`` only a word between commas counts as a filler.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Annotated, Literal

from holdfast.kernel.budget import Allowance, Meter
from holdfast.kernel.compressor import Configured, Flow, Plan, Planner
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.messages import Message, Role
from holdfast.kernel.transcript import Transcript
from holdfast.kernel.typed import Only
from holdfast.text.sentences import ITEM, sentences
from holdfast.text.words import FENCES

from .pipeline import Function, Pipeline
from .tool_outputs import role_of

Span = tuple[int, int]

# A quotation ends at the next mark of its kind on the same line, which bounds the search.
_QUOTED = re.compile(
    r"`[^`\n]*`|\"[^\"\n]*\"|“[^“”\n]*”|„[^„“\n]*“|«[^«»\n]*»|「[^「」\n]*」"
    r"|(?<!\w)'[^'\n]*'(?!\w)|(?<!\w)‘[^‘’\n]*’"
)
_INDENTS = ("    ", "\t")
_OPENERS = (">", "|", "[", "$ ")  # a quotation, a table, a list of values, a command
_CODE = frozenset("{}<>=;\\")
_REPORTS = ("error:", "exception")


def standing(text: str) -> list[Span]:
    """The spans that are never changed, in order: code, JSON, quotations, tables, error reports."""
    spans: list[Span] = []
    at, fence = 0, ""
    for line in text.split("\n"):
        end = at + len(line)
        bare = line.lstrip(" ")
        mark = next((mark for mark in FENCES if bare.startswith(mark)), "")
        is_marked = line.startswith(_INDENTS) or bare.startswith(_OPENERS)
        if fence or mark or is_marked or not _CODE.isdisjoint(line) or _reports(line):
            spans.append((at, end + 1))
        else:
            spans.extend(found.span() for found in _QUOTED.finditer(text, at, end))
        if mark and fence in ("", mark):
            fence = "" if fence else mark
        at = end + 1
    return spans


def _reports(text: str) -> bool:
    """Whether a text reports an error."""
    low = text.lower()
    return any(word in low for word in _REPORTS)


def overlaps(spans: Sequence[Span], start: int, end: int) -> bool:
    """Whether one of the spans, which are in order, overlaps the range."""
    k = bisect_right(spans, (start, end))
    return (k < len(spans) and spans[k][0] < end) or (k > 0 and spans[k - 1][1] > start)


def rewritten(pattern: re.Pattern[str], text: str) -> str:
    """The text without the matches that do not overlap an unchangeable span."""
    spans = standing(text)
    return pattern.sub(lambda m: m.group() if overlaps(spans, *m.span()) else _left(m), text)


# A sentence begins at the start of a line, after the mark of a list item, or after a stop.
OPENING = r"(?P<lead>^[ \t]{0,3}(?:(?:[-*+•]|\d{1,3}[.)])[ \t])?|(?<=[.!?…:])[ \t]{1,3})"


def _left(match: re.Match[str]) -> str:
    """What is left in the place of a match.

    At the start of a sentence it is the word in the match's group ``next``, capitalised if what is
    removed was.
    """
    word, between = match["next"], match["between"]
    if word:
        opens = match["run"][:1].isupper() and word.islower()
        return match["lead"] + (word.capitalize() if opens else word)
    if not between:
        return ""
    # in "nuts, um, bolts" the comma may separate a list
    return ", " if _PAUSES.fullmatch(between) else " "


_SAID = r"(?:mentioned|said|stated|noted)(?: (?:before|earlier|above|previously))?"
_PHRASE = (
    rf"(?:[Aa]s (?:I|we)(?: have|'ve)? (?:already |previously )?{_SAID}"
    rf"|[Aa]s (?:previously|already) {_SAID}"
    r"|[Ll]ike (?:I|we) said(?: before| earlier)?|[Tt]o (?:reiterate|repeat))"
)
_BARE = r"(?:[Aa]gain|[Oo]nce more)"
"""Only at the start of a sentence; elsewhere these words have a meaning, as in "run it again"."""

_POINTERS = re.compile(
    rf"{OPENING}(?P<run>{_PHRASE}|{_BARE}), (?P<next>\w[\w'-]*)"
    rf"|, {_PHRASE}(?=[.!?…]|$)"
    rf"|, (?P<between>{_PHRASE}), (?=\S)",
    re.MULTILINE,
)


def without_phrases(text: str) -> str:
    """The text without phrases that only refer back, such as "as I said before"."""
    return rewritten(_POINTERS, text)


# The list of fillers, and the distinction of spoken from precise texts, are from the llm4s design.
_PAUSE = r"[Uu][mh]"
_FILLER = rf"(?:{_PAUSE}|[Ww]ell|[Yy]ou know|[Ll]ike|[Aa]ctually|[Bb]asically)"
_RUN = rf"(?:(?:{_FILLER},|{_PAUSE}) ){{0,9}}{_FILLER}"
_SPOKEN = re.compile(
    r"(?<![\w'-])(?:um|uh)(?![\w'-])"
    r"|(?:^|(?<=[.!?…:]\s)|(?<=, ))(?:well|you know|like)(?=,)"
    r"|(?<=, )(?:well|you know|like)(?=[.!?…])",
    re.MULTILINE,
)
_PHRASES = ("let me think", "so basically", "i mean")
_FEWEST_FILLERS = 2  # one alone may be meant (L.17)
_MOST_BRACES, _MOST_QUOTES = 2, 4  # a text with more is code or data (L.17)

_REMOVED = re.compile(
    rf"{OPENING}(?P<run>(?:(?:{_FILLER},|{_PAUSE}) ){{1,9}})(?P<next>\w[\w'-]*)"
    rf"|(?P<closing>, {_RUN})(?=[.!?…]|$)"
    rf"|, (?P<between>{_RUN}), (?=\S)"
    rf"|(?<=\w) {_PAUSE}(?: {_PAUSE}){{0,9}}(?= \w)",
    re.MULTILINE,
)
_PAUSES = re.compile(rf"{_PAUSE}(?:, {_PAUSE})*")


def without_fillers(text: str) -> str:
    """The text without its fillers, if it is spoken language and nothing in it is precise."""
    if (
        any(mark in text for mark in FENCES)
        or ("=" in text and ":" in text)
        or text.count("{") + text.count("}") > _MOST_BRACES
        or text.count('"') > _MOST_QUOTES
        or _reports(text)
    ):
        return text
    low = text.lower()
    fillers = set(_SPOKEN.findall(low))
    is_spoken = len(fillers) >= _FEWEST_FILLERS or any(phrase in low for phrase in _PHRASES)
    return rewritten(_REMOVED, text) if is_spoken else text


_TIMES = re.compile(r"\[×\d{1,9}\]\s?")
_EDGES = ".!?…,;: \t\r\n"
_FEWEST_WORDS = 2  # a sentence of one word, such as "Yes.", may be repeated


def without_repeats(text: str) -> str:
    """The text with each sentence once, at its first place.

    Case, white space and the final stop are ignored. List items and headings are left alone, since
    the same words mean something else under another heading.
    """
    pieces = sentences(text)
    places = accumulate(map(len, pieces), initial=0)
    spans = standing(text)
    keys = [
        "" if overlaps(spans, at, at + len(piece)) else _key(piece)
        for at, piece in zip(places, pieces, strict=False)
    ]
    times = Counter(keys)
    kept: list[str] = []
    for key, piece in zip(keys, pieces, strict=True):
        if not key:
            kept.append(piece)
        elif count := times.pop(key, 0):  # else it was said before
            bare = piece.rstrip()
            mark = f" [×{count}]" if count > 1 else ""
            kept.append(f"{bare}{mark}{piece[len(bare) :]}")
    if len(kept) == len(pieces):
        return text
    joined = "".join(kept)
    return joined if text[-1:].isspace() else joined.rstrip()


def _key(piece: str) -> str:
    """The normalised sentence for comparison; empty for a piece that is left alone."""
    if ITEM.match(piece):
        return ""
    words = _TIMES.sub("", piece).casefold().strip(_EDGES).split()
    return " ".join(words) if len(words) >= _FEWEST_WORDS else ""


# The numbers are from the llm4s design (L.18).
_CHARACTERS_A_TOKEN = 3.5
_VERBOSE = 600  # tokens: twice the minimum of 300
_LONGEST_SENTENCE = 1_600  # characters, where a single sentence is cut: 400 tokens of 4
_FEWEST_SENTENCES = 4  # the first, the last, and at least two that are left out
_OPENING, _CAPPED = " ...[summarized ", "...[content capped for length]"


def shortened(text: str) -> str:
    """The first and the last sentence of a verbose text, and the number of sentences left out.

    The text stays whole if code or a quotation would be lost.
    """
    if len(text) / _CHARACTERS_A_TOKEN < _VERBOSE or _OPENING in text or _CAPPED in text:
        return text
    pieces = sentences(text)
    spans = standing(text)
    if len(pieces) == 1:
        cut = text.rfind(" ", 0, _LONGEST_SENTENCE + 1)
        return (
            text if cut <= 0 or overlaps(spans, cut, len(text)) else text[:cut].rstrip() + _CAPPED
        )
    last = len(text) - len(pieces[-1])
    if len(pieces) < _FEWEST_SENTENCES or overlaps(spans, len(pieces[0]), last):
        return text
    return f"{pieces[0].rstrip()}{_OPENING}{len(pieces) - 2} sentences]... {pieces[-1]}"


# an edit can make another one possible; a text that still changes after this many is left alone.
# Half and double change the texts of the tests alike
_MOST_PASSES = 4


@dataclass(frozen=True, slots=True)
class TextRule:
    """A rule that rewrites each text of assistants and tools separately."""

    name: str
    """The name of the rule, such as ``drop_fillers``."""

    rewrite: Callable[[str], str] = field(repr=False)
    """Returns the new text, or the same text if nothing is to change."""

    def edits(
        self, transcript: Transcript, meter: Meter, roles: Collection[Role]
    ) -> Iterator[Edit]:
        """A Replace for each text that the rule makes shorter, repeated until nothing changes."""
        for i, message in enumerate(transcript.messages):
            if i in transcript.pinned or message.ours:
                continue
            for at, part in enumerate(message.parts):
                if role_of(message, part) in roles:
                    text = self._settled(part.text)
                    if text.strip() and meter.text(text) < meter.text(part.text):
                        yield Replace(i, at, text, self.name)

    def _settled(self, text: str) -> str:
        before = text
        for _ in range(_MOST_PASSES):
            now = self.rewrite(before)
            if now == before:
                return now
            before = now
        return text


_EXAMPLES = "consolidate_examples"
_TELLING = ("example", "for instance")
_MARK = "...[+ "


def fewer_examples(transcript: Transcript, meter: Meter, roles: Collection[Role]) -> Iterator[Edit]:
    """Of neighbouring messages that give examples, keep the first and the last.

    For each run of three or more: a Replace of the second by a line that says how many there were,
    and a Drop of the others between.
    """
    del meter
    runs: list[list[int]] = [[]]
    for i, message in enumerate(transcript.messages):
        is_example = message.role in roles and _is_example(message)
        if is_example:
            runs[-1].append(i)
        if not is_example or i in transcript.protected:
            runs.append([])
    for second, *others in filter(None, (run[1:-1] for run in runs)):
        text = f"{_MARK}{len(others) + 1} additional examples]..."
        yield Replace(second, 0, text, _EXAMPLES)
        if others:
            yield Drop(tuple(others), _EXAMPLES)


def _is_example(message: Message) -> bool:
    text = message.plain or ""
    if not message.is_speech or text.startswith(_MARK) or message.ours:
        return False
    low = text.lower()
    return any(word in low for word in _TELLING) and not standing(text)


_REWRITES = {
    "filler_words": without_fillers,
    "dedupe_sentences": without_repeats,
    "truncate_verbose": shortened,
    "redundant_phrases": without_phrases,
}
RULES = (*_REWRITES, _EXAMPLES)
"""The names of the built-in rules."""

RuleName = Annotated[str, Only(f"one of {', '.join(RULES)}", RULES.__contains__)]


@dataclass(frozen=True, slots=True)
class Rules(Configured):
    """Apply rules in turn until the target is met, and keep the edits of each that saves tokens.

    No profile uses this by itself. User and system messages, code, JSON and quotations are never
    changed.
    """

    rules: tuple[RuleName | TextRule, ...] = RULES[:3]
    """The rules in order: names of built-in rules, or rules of your own."""

    roles: tuple[Literal["assistant", "tool"], ...] = ("assistant",)
    """The roles whose texts the built-in rules may change."""

    name = "rules"

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan | Flow:
        """A step for each rule, as in any pipeline."""
        return Pipeline(tuple(map(self._step, self.rules))).plan(transcript, allowance)

    def _step(self, given: str | TextRule) -> Planner:
        """The rule as a strategy."""
        if given == _EXAMPLES:
            name, edits_of = _EXAMPLES, fewer_examples
        else:
            rule = TextRule(given, _REWRITES[given]) if isinstance(given, str) else given
            name, edits_of = rule.name, rule.edits

        def plan(transcript: Transcript, allowance: Allowance) -> Plan:
            edits = tuple(edits_of(transcript, allowance.meter, self.roles))
            return Plan(edits) if edits else Plan.skip("nothing_saved", "the rule saves no tokens")

        return Function(name, plan)
