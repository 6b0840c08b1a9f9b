"""Words of a text in any script, their stems, stop words, and what reads as words."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, groupby, pairwise
from operator import itemgetter

from .memo import Memo

# Scripts without spaces, in which each pair of neighbouring characters counts as a word.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u0670"
    "\u0900-\u0963\u0966-\u0eff\u0f71-\u109f\u1780-\u17ff"
)
"""Accents and points beside letters, and scripts with vowels that are no letters for ``re``."""
DIGITS = re.compile(r"\d+")
READ = 20_000
"""Characters of one text that are read closely, since a tool may return a book."""
# ASCII letters in lower case and digits, with spaces for the rest: the same words, three times as
# fast
_ASCII_PIECES = bytes(
    ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 32 for code in range(256)
)


Finder = Callable[[str], list[str]]
"""Returns all that a pattern matches in a text."""


def in_any_script(pattern: Callable[[str], str], beyond: str) -> Callable[[str], Finder]:
    """A function that returns the finder for a text, which serves for any part of the text too.

    ``pattern`` makes the pattern with these characters in its sets: none, or those ``beyond``
    ASCII. The second pattern is compiled for the first text that needs it: wide ranges of
    characters take milliseconds, and most texts have none.
    """
    in_ascii = re.compile(pattern("")).findall

    @cache
    def in_any() -> Finder:
        return re.compile(pattern(beyond)).findall

    return lambda text: in_ascii if text.isascii() else in_any()


@cache
def _in_scripts() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Words of any script, and a character of one without spaces.

    They are compiled for the first text that is not ASCII, since that takes 10 ms.
    """
    letter = rf"[^\W_{UNSPACED}]"
    word = rf"[{UNSPACED}]+|{letter}+(?:(?![{UNSPACED}])[{MARKS}]{letter}*)*"
    return re.compile(word), re.compile(rf"[{UNSPACED}]")


_ENGLISH = """
a about above after again against all also although always am an and another any anybody anyone
anything are as at be because been before being below between both but by can cannot could did do
does doing done down during each either else ever every everyone everything few for from further get
gets getting give given gives go goes going gone got had has have having he her here hers herself
him himself his how however i if in into is it its itself just kind let lets like made make makes
many may maybe me might mine more most much must my myself need needs neither never no nor not now
of off often on once one only onto or other others our ours ourselves out over own per perhaps
please quite rather really said same say says see seem seems shall she should since so some somebody
someone something still such tell than thank thanks that the their theirs them themselves then there
these they thing things this those though through thus to together too toward towards under until up
upon us use used uses using very want wants was way we well were what whatever when whenever where
wherever whether which while who whoever whole whom whose why will with within without would yes yet
you your yours yourself yourselves ll ve re don didn doesn isn wasn aren weren won couldn shouldn
wouldn hasn haven hadn
"""
# Articles, pronouns, prepositions and forms of "to be" and "to have", in this order of languages:
# German, French, Spanish, Portuguese, Italian, Dutch.
_OTHERS = """
aber als auch auf aus bei bin bis bist da dann dass dem den der des die dies diese dieser dieses
doch du durch ein eine einem einen einer eines er es für hat hatte ich ihr im ist ja kann kein keine
man mit nach nicht noch nur oder ob sein sich sie sind so über um und uns vom von vor war warum was
wenn wer werden wie wir wird wo zu zum zur
au aux avec ce ces cette comme dans de des donc du elle elles en est et être eux il ils je la le les
leur lui ma mais mes moi mon ne nos notre nous ou où par pas plus pour pourquoi qu que quel quelle
qui sa sans ses son sont sur ta te tes toi ton tu un une vos votre vous
al algo como con cual cuando del desde donde el ella ellas ellos entre era eran es esa ese eso esta
está este esto fue ha hay la las lo los más muy nada ni nos nosotros os para pero poco por porque
qué quien se ser si sí sin sobre son su sus también tan te tiene todo tu una unas uno unos ya yo
ao aos às com da das dele dela do dos ela ele eles em essa esse eu foi isso isto mas me mesmo meu
minha muito na nas não no nos num numa ou pela pelo por quando são seu sua também tem um uma você
alla alle anche che chi ci come cosa dai dal dalla degli dei della delle di gli ha hanno ho il io
loro lui ma mi mio ne nei nel nella non perché più quale quando questa questo sono sua suo sul sulla
tra tutto un una
aan bij dan dat deze dit door een geen haar heb hebben heeft het hij hoe hun ik jij jullie kan maar
meer met mijn naar niet nog onder ook op te tot uit van veel voor waarom wat werd wie wij worden zal
ze zich zij zijn zo
"""
STOP_WORDS = frozenset(f"{_ENGLISH} {_OTHERS}".split())

NEGATIONS = frozenset(
    """
    not no never none nothing nobody without neither nor cannot unable unless until except t
    nicht kein keine keinen nie ohne pas jamais sans nunca sin não sem mai senza niet geen
    не нет без
    """.split()
)
"""Words that negate a statement; "don't" is split into ``don`` and ``t``."""

_VOWELS = frozenset("aeiouy")
_KEPT_DOUBLE = frozenset(
    "lsz"
)  # fall, pass and buzz keep both letters; stopp, runn and plann lose one
_SHORTEST = 3  # letters of the shortest stem; of two letters, most are endings or articles
_LONGEST = 40  # letters of a word that is stemmed; longer ones are identifiers or data


def lowered(text: str) -> str:
    """The text in lower case, each letter one character with its accent, however it was written."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text.lower())


def words(text: str) -> list[str]:
    """Words and numbers in lower case; pairs of characters in scripts without spaces."""
    if text.isascii():
        return text.encode("ascii").translate(_ASCII_PIECES).decode("ascii").split()
    low = lowered(text)
    pieces = _in_scripts()[0].findall(low)
    return [word for piece in pieces for word in _pairs(piece)] if has_unspaced(low) else pieces


def unspaced_pairs(text: str) -> tuple[list[str], str]:
    """The pairs of neighbouring characters in Chinese and Japanese, and the text without them."""
    if text.isascii() or not (runs := _unspaced().findall(text)):
        return [], text
    return [pair for run in runs for pair in words(run)], _unspaced().sub(" ", text)


def _pairs(piece: str) -> Iterable[str]:
    return map("".join, pairwise(piece)) if len(piece) > 1 and has_unspaced(piece[0]) else (piece,)


def terms(text: str) -> list[str]:
    """The stems of the text's words without stop words, in order, with repeats."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def places(text: str, word: str) -> Iterator[int]:
    """Where the text has the word, also inside of longer ones."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def stands(thing: str, text: str) -> bool:
    """Whether the text names exactly this thing, not only a longer one that contains it."""
    return any(is_whole(text, at, at + len(thing)) for at in places(text, thing))


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether this part of the text does not begin or end inside of a word."""
    begins_inside = text[start].isalnum() and text[max(0, start - 1) : start].isalnum()
    return not begins_inside and not (text[end - 1].isalnum() and text[end : end + 1].isalnum())


def has_unspaced(text: str) -> bool:
    """Whether the text contains a script without spaces between words."""
    return not text.isascii() and _in_scripts()[1].search(text) is not None


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """The common beginning of the forms of a lower-case English word.

    ``error`` and ``errors`` share one, as do ``fail``, ``failing`` and ``failure``. Words with
    digits or of other scripts are their own stem.
    """
    if len(word) <= _SHORTEST or len(word) > _LONGEST or not word.isascii() or not word.isalpha():
        return word
    word = _without_inflection(word)
    for suffix, least in (("ation", 4), ("ment", 4), ("ion", 5), ("at", 5), ("al", 5)):
        if word.endswith(suffix) and len(word) - len(suffix) >= least:
            word = word[: -len(suffix)]
            break
    return word[:-2] if word.endswith("ur") and len(word) > 5 else word


def _without_inflection(word: str) -> str:
    if word.endswith(("ies", "ied")):
        return word[:-3] if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix in ("ing", "ed"):
        trunk = word[: -len(suffix)]
        if word.endswith(suffix) and len(trunk) >= _SHORTEST and _VOWELS.intersection(trunk):
            pair = trunk[-1] == trunk[-2] and trunk[-1] not in _KEPT_DOUBLE
            word = trunk[:-1] if pair else trunk
            break
    if word.endswith(("e", "y")) and len(word) > _SHORTEST and word[-2] not in "aeo":
        return word[:-1]
    return word


# what a person says, and material within it

FENCES = ("```", "~~~")
"""The marks of a fenced block in Markdown."""

_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)

_OPENING = re.compile(r"\s*<([A-Za-z][\w.-]*)((?:[=\s][^<>]{0,200})?)>")
_NAMED = re.compile(r"(?:\s+name)?\s*=\s*[\"']?([^\"'\s]+)[\"']?\s*\Z")

_SENTENCE_ENDS = tuple(".!?:,。！？：؟۔।")
# before a mark that is part of a command: ``ls -la .``, ``cd ..``, ``echo $?``
_NO_ENDS = (" ", "/", "=", "$", " .", "/.")
_OPENING_MARKS = "¿¡\"'(„“‘«"
_TYPED = 800  # characters; few people type more. Half and double kept as much of recorded runs
_SAYING = 5  # words; fewer say little beside what they open with. Half and double kept as much
_SPOKEN = in_any_script(  # the ranges are nearly [^\W\d_], in half the time
    lambda beyond: rf"\s[A-Za-z{beyond}]{{2,}}+(?:['’][a-z]+)?[,.!?;:]?(?!\S)",
    r"À-ÖØ-öø-\u1fff\u3040-\ud7ff",
)
# share of words in a line from which it reads as a sentence; in recorded runs .3 and .8 kept less
_SENTENCE = 0.6
_GAP = "   "  # between columns; people type two behind a sentence, and more behind a list's sign
_LISTED = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
# characters that lines of a log have in common at their start; half kept as much of recorded runs
_LOG_OPENING = 12
# lines in a row that are not sentences; fewer may be a list, an address, a poem. In recorded runs
# half and double kept less
_RUN = 6
_TYPED_START = re.compile(r"[\w#*-]")  # of a sentence, a heading, an item of a list


@cache
def _unspaced() -> re.Pattern[str]:
    """Chinese and Japanese with their punctuation, which have no spaces between words."""
    return re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\uffef]+")


def fences(text: str) -> list[int]:
    """Where the lines with the marks of fenced blocks begin."""
    has_marks = any(map(text.__contains__, FENCES))
    return [mark.start() for mark in _FENCE.finditer(text)] if has_marks else []


def elements(text: str) -> list[tuple[str, str]]:
    """The names and contents of the elements in a row that a text consists of, or none."""
    found: list[tuple[str, str]] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        opening = _OPENING.match(text, at)
        if opening is None:
            return []
        close = f"</{opening[1]}>"
        stop = text.find(close, opening.end())
        if stop < 0:
            return []
        named = _NAMED.match(opening[2])
        name = named[1] if named else f"{opening[1]}{opening[2]}"
        found.append((name, text[opening.end() : stop].strip()))
        at = stop + len(close)
    return found


def unwrapped(text: str) -> str:
    """The text within the one element, or the one fence, that a text consists of."""
    within = elements(text)
    if len(within) == 1:
        return within[0][1]
    return unfenced(text) if len(fences(text)) == 2 else text


def unfenced(text: str) -> str:
    """The text between a first and a last line that are marks of a fence; else the text itself."""
    bare = text.strip()
    lines = bare.split("\n") if bare.startswith(FENCES) else []
    is_fenced = len(lines) > 1 and lines[-1].startswith(FENCES) and not lines[-1].strip("`~")
    return "\n".join(lines[1:-1]) if is_fenced else text


def reads_as_words(line: str) -> bool:
    """Whether most tokens of the line are plain words, and do not stand in columns.

    Of unspaced script, two characters are one: so many have most words of Chinese and Japanese.
    """
    if _GAP in line and _GAP in _LISTED.sub("", line, count=1).strip():
        return False
    unspaced = 0
    if not line.isascii():
        unspaced = sum((len(run) + 1) // 2 for run in _unspaced().findall(line))
        line = _unspaced().sub(" ", line)
    spoken, tokens = len(_SPOKEN(line)(f" {line}")), len(line.split())
    return spoken + unspaced >= _SENTENCE * (tokens + unspaced)


def is_worded_line(text: str) -> bool:
    """Whether a text is one line, and some token of it is a plain word."""
    line = text.strip()
    return "\n" not in line and (bool(_SPOKEN(line)(f" {line}")) or has_unspaced(line))


def is_all_words(text: str) -> bool:
    """Whether each line reads as words."""
    return all(reads_as_words(line) for line in text.split("\n") if line)


def has_unworded_ends(text: str) -> bool:
    """Whether neither the first nor the last line reads as words, as a person's would."""
    lines = text.strip().split("\n")
    return not reads_as_words(lines[0]) and not reads_as_words(lines[-1])


def may_be_typed(text: str) -> bool:
    """Whether a person may have typed a text: some words, or anything and a last sentence.

    What is pasted within it is not typed.
    """
    last = text.strip().rpartition("\n")[2]
    if not (is_sentence(last) or is_all_words(text)):
        return False  # as most outputs, which is soon known
    typed = "\n".join(passage for is_material, passage in passages_of(text) if not is_material)
    said = max(len(text.split()), len(unspaced_pairs(text)[0]))
    return len(typed) <= _TYPED and said >= _SAYING


def may_be_said(text: str) -> bool:
    """Whether a person may have written a text, however short it is."""
    return is_all_words(text) or may_be_typed(text)


def wraps_words(text: str) -> bool:
    """Whether what a person may have written stands in one element or fence."""
    within = unwrapped(text)
    return within != text and may_be_said(within)


def ends_like_sentence(text: str) -> bool:
    """Whether a text ends with a mark of sentences behind a word."""
    return text.endswith(_SENTENCE_ENDS) and not text[:-1].endswith(_NO_ENDS)


def is_heading(line: str) -> bool:
    """Whether a line ends with a colon."""
    return line.rstrip().endswith((":", "："))


def is_sentence(line: str) -> bool:
    """Whether a line of several words begins and ends like a sentence."""
    ends = ends_like_sentence(line.rstrip())
    has_words = has_unspaced(line) or len(line.split()) > 1
    return ends and line.lstrip(_OPENING_MARKS)[:1].isalpha() and has_words and reads_as_words(line)


@Memo  # since a growing conversation is read at each call
def passages_of(text: str) -> Sequence[tuple[bool, str]]:
    """The passages of a text in order, and whether each is material."""
    groups = groupby(_lines(text), itemgetter(0))
    return [(kind, "\n".join([line for _, line in lines])) for kind, lines in groups]


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it is in a fence, a quotation or a long run that no person types.

    Many lines that all begin with the same characters and a number, as in a log, are such a run.
    Between two runs, lines that read as words are part of them, unless a person may begin so.
    """
    lines = text.split("\n")
    is_worded = cache(reads_as_words)  # equal lines are read once
    opening = cache(_log_opening)
    material = set(_fenced(lines))
    material |= {number for number, line in enumerate(lines) if line.lstrip().startswith(">")}
    bare = [n for n, line in enumerate(lines) if n not in material and line.strip()]
    by_words = groupby(bare, lambda number: is_worded(lines[number]))
    by_opening = groupby(bare, lambda number: opening(lines[number]))
    runs = [list(run) for are_worded, run in by_words if not are_worded]
    runs += [list(run) for start, run in by_opening if "0" in start]
    pasted = sorted(set(chain.from_iterable(run for run in runs if len(run) >= _RUN)))
    material.update(pasted)
    for above, below in pairwise(pasted):
        between = range(above + 1, below)  # most have none
        is_typed = between and any(map(_TYPED_START.match, lines[above + 1 : below]))
        if between and not is_typed and material.isdisjoint(between):
            material.update(between)
    return ((number in material, line) for number, line in enumerate(lines))


def _log_opening(line: str) -> str:
    """What lines of a log have in common at their start, each number as 0."""
    return DIGITS.sub("0", line.lstrip()[:_LOG_OPENING])


def _fenced(lines: Sequence[str]) -> Iterator[int]:
    """The numbers of the lines of each fenced block.

    A mark with the name of a language begins a block, which ends with a mark alone that is at least
    as long, or with the text. A mark alone also begins a block, unless a mark with a name comes
    next: then it was the end of a block whose beginning was cut off.
    """
    opened, length, is_named = -1, 0, False
    for number, line in enumerate(lines):
        mark = line.strip()
        if not mark.startswith(FENCES):
            continue
        own = len(mark) - len(mark.lstrip(mark[0]))
        names = own < len(mark)
        if opened >= 0 and own >= length and not names:
            yield from range(opened, number + 1)
            opened = -1
        elif opened < 0 or not is_named:
            opened, length, is_named = number, own, names
    if opened >= 0 and is_named:
        yield from range(opened, len(lines))


def masked(line: str) -> str:
    """A line without the space around it, each number as 0."""
    return DIGITS.sub("0", line.strip())
