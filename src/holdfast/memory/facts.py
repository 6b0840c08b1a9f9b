"""Durable facts in messages: who, what, and when it was said.

A fact is a plain statement by the speaker, not a question, wish, condition or reported speech. The
newest fact of its kind is current; facts that it contradicts are kept with their dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from holdfast.text.sentences import sentences
from holdfast.text.visible import GLANCE
from holdfast.text.words import STOP_WORDS, words

from .messages import Remembered

_I = (
    r"\b(?:i|we)(?:['’](?:m|re|ve|d|ll)| am| are| have| had| will)?"
    r"(?: (?:now|just|recently|also|really|always|still|all|both|finally))?"
)
_NOT = r"(?P<no> (?:do|does|did|can|ca|wo|am|are)(?:n['’]t| not)| never| no longer| cannot)?"
_NOUN = r"(?P<noun>[^\W\d_][\w-]{1,30}(?: [\w-]{2,30}){0,3}?)"
_TASTE = (
    r"(?: also| really)? (?P<noun>like|love|enjoy|prefer|hate|dislike|avoid|need|use|own|eat|drink)"
)
_CAPITAL = (
    r"(?-i:[^\W\d_a-zß-öø-ÿ][\w'’-]{1,30}"
    r"(?: [^\W\d_a-zß-öø-ÿ][\w'’-]{1,30}){0,2})"
)
_CHANGES = (
    r"(?:moved|changed|shifted|switched|pushed|postponed|rescheduled|brought|raised|lowered"
    r"|increased|reduced|renamed"
    r"|extended|bumped)"
)
_TO = r"(?: (?:forward|back|up|down|out))?(?: from [^,;\n]{1,60}?)? to"
_STILL = rf"(?! (?:now |just |been )*{_CHANGES}\b)"
_WHOM = r"(?=$|[.,;!]| (?:while|when|whenever|until|till|from|for|at|in|and|since|now|as|during)\b)"


class _Form(NamedTuple):
    """A pattern for one kind of fact, and the name of its relation.

    Of a ``single`` fact only the newest value is current. An ``exact`` one needs a name or a number
    in its value: "my job is tough" is not a durable fact.
    """

    said: str
    relation: str
    single: bool = True
    exact: bool = False


_FORMS = (
    _Form(r"\b(?:my name is|i am called|i['’]m called)", "name"),
    _Form(rf"(?<!not )(?<!n['’]t )(?<!never )\bcall me (?P<value>{_CAPITAL})", "name"),
    _Form(
        rf"^(?:\w+[,!]? )?(?:i['’]m|i am) (?P<value>{_CAPITAL})"
        r"(?=$|[.,!]| from\b| and i\b)",
        "name",
    ),
    _Form(rf"{_I} (?:live|living|moved|relocated|based) (?:in|to|at)", "lives in"),
    _Form(rf"{_I} (?:work|working|employed) (?P<noun>as|at|for|in|with)", "works {noun}"),
    _Form(
        rf"\b(?:my|our) {_NOUN} (?:is|are|was|will be){_STILL}(?: called| named| now)?",
        "{noun}",
        exact=True,
    ),
    _Form(
        rf"^(?:the|this) {_NOUN} (?:is|are|will be)(?: now| set to| due on| due)?",
        "{noun}",
        exact=True,
    ),
    _Form(
        rf"\b(?:my|our|the|this) {_NOUN}(?: (?:has|have|had|is|are|was|been|just|now)){{0,3}} "
        rf"{_CHANGES}{_TO}",
        "{noun}",
        exact=True,
    ),
    _Form(rf"{_I} {_CHANGES} (?:my|our|the|this) {_NOUN}{_TO}", "{noun}", exact=True),
    _Form(rf"\b(?P<value>{_CAPITAL}) (?:is|will be) (?:my|our) {_NOUN}{_WHOM}", "{noun}"),
    _Form(
        rf"{_I} (?:on (?:holiday|vacation|leave)|away|out of (?:the )?office)", "away", exact=True
    ),
    _Form(
        rf"{_I} (?:upgraded|updated|migrated|switched)(?: [^,;\n]{{1,40}}?)?(?: from "
        rf"[^,;\n]{{1,40}}?)? to",
        "use",
        single=False,
        exact=True,
    ),
    _Form(
        rf"{_I} (?:stay|staying|stick|sticking|go|going|went) with",
        "decided",
        single=False,
        exact=True,
    ),
    _Form(rf"{_I} allergic to", "allergic to", single=False),
    _Form(rf"{_I}{_NOT}{_TASTE}", "{noun}", single=False),
    _Form(
        rf"{_I} (?:decided|agreed|chose|chosen|picked|settled)(?: (?:on|to|for|that))?",
        "decided",
        single=False,
    ),
)
_VALUE = r" (?P<value>[^\n]{1,160})"
_PATTERNS = [
    (re.compile(form.said + ("" if "(?P<value>" in form.said else _VALUE), re.IGNORECASE), form)
    for form in _FORMS
]
_QUOTED = re.compile(
    r"^[ \t]{0,3}```.*?(?:^[ \t]{0,3}```|\Z)|^[ \t]*>[^\n]*"
    r"|\"(?:[^\"\s]+\s+){2}[^\"]*\"|“(?:[^“”\s]+\s+){2}[^“”]*”"
    r"|«(?:[^«»\s]+\s+){2}[^«»]*»"
    r"|(?<!\w)['‘](?:[^'‘’\n]+ ){2}[^'‘’\n]*['’](?!\w)",
    re.MULTILINE | re.DOTALL,
)
"""Quotations of three words or more, and code. A shorter quotation is a title or a name."""

_REPORTED = re.compile(
    r"\b(?!(?:i|we|i['’]ve|we['’]ve|just|already|to|can|must|let)\b)[\w'’.-]+"
    r" (?:(?:has|have|had|also|just|once|always|often) )?"
    r"(?:said|says?|told|tells?|claims?|claimed|wrote|writes?|mentions?|mentioned|thinks?|thought"
    r"|believes?|believed"
    r"|reports|reported|states|stated|argues?|argued|insists?|insisted)\b|\baccording to\b",
    re.IGNORECASE,
)
_VERSION = re.compile(r"[ @-]?(?:(?:at|to|on|version) )?v?\d[\w.]*$")
_VERSIONED = frozenset({"use", "decided"})
_NO_NAMES = frozenset(  # descriptions of people, and other words with a capital
    """
    american arab argentinian australian austrian belgian brazilian british canadian chinese
    colombian
    croatian czech danish dutch egyptian english european finnish french german greek hungarian
    indian iranian
    irish israeli italian japanese korean mexican moroccan nigerian norwegian polish portuguese
    romanian
    russian scottish serbian slovak spanish swedish swiss syrian turkish ukrainian vietnamese welsh
    catholic
    christian jewish muslim buddhist hindu monday tuesday wednesday thursday friday saturday sunday
    january
    february march april june july august september october november december back done here late
    new ok ready
    sick sorry sure
    """.split()
)
_EXACT = re.compile(r"[A-Z\d_/@]")
_UNSURE = re.compile(
    r"\b(?:[Ii]f|unless|[Mm]aybe|[Pp]erhaps|might|may|could|would|should|wonder|wish|hope|guess"
    r"|suppose|imagine|whether"
    r"|[Pp]robably|think|almost)\b|\?"  # "May" is a month
)
_END = re.compile(
    r"[,;:!](?:\s|$)|\.(?:\s|$)|\s(?:and|but|so|because|since|which|who|when|while|although"
    r"|though)\s"
    r"| (?:now|yesterday|today|(?:last|this|next) (?:week|month|year|night|weekend|summer|winter)"
    r"|\w+ ago)\b",
    re.IGNORECASE,
)
# words of a value; a longer one is a clause. In dialogues, half found 38 facts instead of 45, and
# double 49
_MOST_WORDS = 12
_EMPTY = STOP_WORDS.union(
    "way lot bit kind sort thing things stuff one ones going trying getting best".split()
)
_CLAUSE = frozenset("that how what when where why is are was were has have had it this".split())
_EVALUATED = frozenset(
    "thing problem point question idea rest same only best worst first last next other".split()
)


_NEGATED = "not "
"""The beginning of the relation of a fact that is denied."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement by ``subject``, its speaker; ``text`` is the sentence that states it."""

    subject: str
    relation: str
    value: str
    position: int
    said: float | None = None
    text: str = ""
    single: bool = True
    """Whether a newer value replaces it; preferences and decisions may have several values."""

    @property
    def key(self) -> tuple[str, ...]:
        """What it is about, by which it is deleted: a newer fact with the key replaces it."""
        kind, value = (self.subject.lower(), self.relation.lower()), self.value.lower()
        if self.single:
            return kind
        return (*kind, _VERSION.sub("", value) or value if self.relation in _VERSIONED else value)

    @property
    def statement(self) -> tuple[str, str, str]:
        """What it states or denies: of "I like tea" and "I don't like tea" the newer holds."""
        relation = self.relation.removeprefix(_NEGATED)
        return self.subject.lower(), relation.lower(), self.value.lower()


def facts_in(message: Remembered) -> list[Fact]:
    """The durable facts in a message; none for a tool's output."""
    if message.role in {"tool", "system"}:
        return []
    subject = message.speaker or message.role
    plain = (
        sentence.strip()
        for sentence in sentences(_QUOTED.sub("…", message.body))
        if len(sentence) <= GLANCE  # a longer one says several things
        and not _UNSURE.search(sentence)
        and not _REPORTED.search(sentence)
    )
    return [
        Fact(subject, relation, value, message.position, message.said, sentence, single)
        for sentence in plain
        for relation, value, single in dict.fromkeys(_stated(sentence))
    ]


def _stated(sentence: str) -> Iterator[tuple[str, str, bool]]:
    """Each pattern's matches: relation, value, and whether it is single; with repeats."""
    for pattern, form in _PATTERNS:
        match = pattern.search(sentence)
        if match is None:
            continue
        groups = match.groupdict()
        noun = (groups.get("noun") or "").lower()
        end = _END.search(match["value"])
        value = match["value"][: end.start() if end else None].strip(" \t\"'.")
        spoken = words(value)
        if (
            1 <= len(spoken) <= _MOST_WORDS
            and spoken[0] not in _CLAUSE
            and not _EMPTY.issuperset(spoken)
            and _EVALUATED.isdisjoint(noun.split())
            and not (_CAPITAL in form.said and value.lower() in _NO_NAMES)
            and (not form.exact or _EXACT.search(value))
        ):
            relation = form.relation.replace("{noun}", noun)
            yield (f"{_NEGATED}{relation}" if groups.get("no") else relation), value, form.single


@dataclass(frozen=True, slots=True)
class Ledger:
    """All facts, oldest first."""

    facts: tuple[Fact, ...] = ()

    def adding(self, facts: Iterable[Fact]) -> Ledger:
        """The ledger with these facts; repetitions of current facts are left out."""
        held = list(self.facts)
        holding = {fact.key: fact.statement for fact in held}
        stated = {fact.statement: fact.key for fact in held}
        for fact in facts:
            key, says = fact.key, fact.statement
            if (holding.get(key), stated.get(says)) != (says, key):
                held.append(fact)
                holding[key], stated[says] = says, key
        return Ledger(tuple(held))

    def current(self) -> list[Fact]:
        """The current facts: the newest of each kind."""
        stated = {fact.statement: fact.key for fact in self.facts}
        newest = {fact.key: fact for fact in self.facts}.values()
        return [fact for fact in newest if stated[fact.statement] == fact.key]

    def contradicted(self) -> list[Fact]:
        """The facts that newer ones contradict."""
        holding = {id(fact) for fact in self.current()}
        return [fact for fact in self.facts if id(fact) not in holding]
