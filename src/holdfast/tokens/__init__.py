"""Counting tokens: counters by the name of a model or a counter, or of your own.

``counter_for`` returns a counter, ``meter_for`` the meter that counts messages with it and keeps
the counts, ``family_of`` the vocabulary and accuracy for a model, ``window_of`` its context window.
Vocabularies are loaded when the first text is counted. Where tiktoken is not installed, an estimate
is used and its accuracy says so.
"""

import hashlib
import re
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Protocol, cast, runtime_checkable

from holdfast.kernel.budget import Meter, tokens_in
from holdfast.kernel.errors import ConfigError, HoldfastError, MissingExtraError, problem_of
from holdfast.kernel.messages import Media
from holdfast.kernel.ports import Accuracy, Count, MessageCounter, Priced, Tariff, TokenCounter
from holdfast.kernel.registry import Registry, imported
from holdfast.kernel.typed import check_type
from holdfast.text.memo import Memo

from .families import EXACT, STAND_INS, Family, family_of, window_of

Counter = str | TokenCounter | Count | None
"""A counter by its name or a model's, as an object, or as a function of a text."""

COUNTERS = Registry(
    "token counter",
    "counters",
    """
        o200k_base holdfast.tokens.bpe:O200K_BASE
        cl100k_base holdfast.tokens.bpe:CL100K_BASE
        estimate holdfast.tokens.estimate:ESTIMATE
        chars4_plus1 holdfast.tokens.formulas:CHARS4_PLUS1
        ceil4_plus2 holdfast.tokens.formulas:CEIL4_PLUS2
        floor4 holdfast.tokens.formulas:FLOOR4
        words holdfast.tokens.formulas:WORDS
        ceil4_overhead holdfast.tokens.formulas:CEIL4_OVERHEAD
    """,
)
"""The names of counters, besides ``fixed:N``, which counts N tokens for a message."""

BLOCK = 1 << 20
"""The longest text that is split into lines, in characters: a bound on memory."""

_LINES = re.compile(r"[^\n]*\n(?:[\s/][^\n]*(?:\n|\Z))*|[^\n]+\Z")
"""A line, with the lines after it that begin with white space or a slash.

No piece of either vocabulary reaches across any other line break, and none looks back over it.
"""

_ESTIMATE_ERROR = 0.1  # relative, as ``estimate`` measured it
_LONG = 2_000  # characters; shorter texts are counted in half a millisecond, without their lines


def counter_for(spec: Counter = None) -> TokenCounter:
    """The counter for the name of a counter or model, for a function of a text, or the one given.

    Any other name is taken for a model's, and the counter's ``accuracy`` says how well it fits.
    None gives o200k_base, approximately. Counters that count alike are equal. Raises ConfigError
    for anything else, and for ``fixed:`` without a number.
    """
    if spec is None or isinstance(spec, str):
        return _named(spec or "")
    return _counter(spec)


@lru_cache(maxsize=256)
def _named(name: str) -> TokenCounter:
    if name in ("o200k_base", "cl100k_base"):
        return _vocabulary(name, EXACT)
    if name in COUNTERS.table:
        return _counter(COUNTERS.load(name))
    kind, _, number = name.partition(":")
    if kind == "fixed":
        tokens = tokens_in(number)
        if tokens is None:
            raise ConfigError(
                f"{name!r:.40} names no number of tokens", place="counter", advice="write fixed:100"
            )
        return _counter(imported("holdfast.tokens.formulas:Fixed")(tokens))
    family = family_of(name)
    if family.own:
        with suppress(MissingExtraError):
            return _counter(imported(f"holdfast.tokens.claude:{family.own}"))
    if family.accuracy.kind == "unknown":
        with suppress(ConfigError):
            return _counter(COUNTERS.load(name))  # a counter of another package
    return _vocabulary(STAND_INS.get(family.vocabulary, family.vocabulary), family.accuracy)


def _vocabulary(name: str, accuracy: Accuracy) -> TokenCounter:
    """The counter of a vocabulary, or an estimate, with the accuracy that it has for a model."""
    with suppress(ImportError):
        imported("holdfast.tokens.rust")  # the extra ``bpe`` counts the same and loads sooner
        return RustBpe(name, accuracy)
    with suppress(ImportError):
        return _fitting(f"holdfast.tokens.bpe:{name.upper()}", accuracy)
    # neither rs-bpe nor tiktoken with its vocabularies is installed
    if accuracy.kind != "unknown":
        accuracy = Accuracy("approximate", round((accuracy.error or 0.0) + _ESTIMATE_ERROR, 2))
    return _fitting("holdfast.tokens.estimate:ESTIMATE", accuracy)


def _fitting(counter: str, accuracy: Accuracy) -> TokenCounter:
    """The counter at this place, with the accuracy that it has for a model."""
    found: TokenCounter = replace(imported(counter), accuracy=accuracy)
    return found


def _counter(found: object) -> TokenCounter:
    try:
        made = found() if isinstance(found, type) else found
    except TypeError as fault:
        raise ConfigError(
            f"{found!r:.60} cannot be made from nothing ({fault})",
            place="counter",
            advice="give an object of it, with what it needs",
        ) from fault
    if isinstance(made, TokenCounter):
        return made
    if callable(made):
        return _counter(imported("holdfast.tokens.formulas:of_function")(made))
    raise ConfigError(
        f"{type(made).__name__} is not a token counter",
        place="counter",
        advice="give a model's or a counter's name, a function of a text, "
        "or an object with name, accuracy and count",
    )


def meter_for(model: str | None = None, counter: Counter = None) -> Meter:
    """The meter of a model, or of a counter given by name, object or function.

    Counters that are equal share one cache, so that a text is counted once in a process. Raises
    ConfigError for a name that is neither a counter's nor a known model's.
    """
    check_type(model, str | None, "model")
    chosen = counter_for(model if counter is None else counter)
    if (
        isinstance(counter, str)
        and chosen.accuracy.kind == "unknown"
        and not counter.startswith("fixed:")
    ):
        COUNTERS.load(counter)
    try:
        return _known_meter(cast("Hashable", chosen), model, chosen.accuracy)
    # a counter that cannot be hashed has a cache for this call only
    except TypeError:
        return _meter(chosen, model, count_memo(chosen))


def _meter(chosen: TokenCounter, model: str | None, memo: Memo[str, int]) -> Meter:
    tariff = chosen.tariff if isinstance(chosen, Priced) else Tariff()
    whole = chosen.count_message if isinstance(chosen, MessageCounter) else None

    def media(medium: Media) -> int:  # few conversations have media
        counted: int = imported("holdfast.tokens.media:media_tokens")(medium, model, memo)
        return counted

    return Meter(chosen, memo.__getitem__, media, tariff, whole)


def lines(text: str) -> list[str]:
    """The text in lines, some of them together; one part if it is longer than ``BLOCK``."""
    return _LINES.findall(text) if len(text) <= BLOCK else [text]


_PROBE = (
    "It's HTTPServer's turn, don't PANIC:\r\n\r\n\tx_1 = camelCase['k'] // 12345.678e-9  \n\n"
    " naïve Straße, Ελλάδα, Жизнь, 中文字符。あいう、한국어 العربية עברית ไทย हिन्दी "
    "😀👨‍👩‍👧 <|endoftext|>   "
)
"""A text with every kind of piece that the patterns of the vocabularies distinguish."""

_EXPECTED = {
    "o200k_base": "782424cbcdb327bd6827e17e4bea9406f98c05a0cbc1bdc2f6a88d9e3897fdd1",
    "cl100k_base": "63fbbab8c56087247f459b34a4f2b5de3a96b50c919a078ea15b334aff871c60",
}
"""The SHA-256 of ``repr`` of the tokens that tiktoken 0.14 makes of the probe."""


@dataclass(frozen=True)
class RustBpe:
    """Counts tokens of one vocabulary by rs-bpe: as tiktoken does, loaded in a fifth of the time.

    Counters of one vocabulary are equal, whatever their accuracy. Text that spells a special token
    is text. A pair of surrogates is its character, a lone one U+FFFD, as in tiktoken.
    """

    name: str
    accuracy: Accuracy = field(default=EXACT, compare=False)

    def count(self, text: str) -> int:
        """Tokens of the text.

        Raises ConfigError if the installed package does not produce the tokens of tiktoken.
        """
        tokenizer = _tokenizer(self.name)
        try:
            tokens: int = tokenizer.count(text)
        except UnicodeEncodeError:
            whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            tokens = tokenizer.count(whole)
        return tokens

    lines = staticmethod(lines)


@cache
def _tokenizer(name: str) -> Any:
    tokenizer = getattr(imported("holdfast.tokens.rust:VOCABULARIES"), name)()
    tokens = repr(tokenizer.encode(_PROBE)).encode()
    if hashlib.sha256(tokens).hexdigest() != _EXPECTED[name]:
        raise ConfigError(
            f"rs-bpe does not make the tokens of {name}",
            place="counter",
            advice="install rs-bpe 0.1.0, or remove it",
        )
    return tokenizer


@runtime_checkable
class CountsByLine(Protocol):
    """A counter that can split a text into parts whose counts add up."""

    def lines(self, text: str) -> Sequence[str]:
        """The text in parts whose counts add up to its own."""
        ...


def count_memo(counter: TokenCounter) -> Memo[str, int]:
    """A cache of counts by text.

    A long text most of whose lines are cached, or were in the last long text with fewer lines, such
    as notes that extend earlier ones, is counted by adding up its lines. Raises ConfigError, naming
    the counter, if it fails or returns no token count.
    """
    advice = "a counter gives an int of 0 or more for any text"

    def checked(text: str) -> int:
        try:
            tokens = cast("object", counter.count(text))
        except HoldfastError:
            raise
        except (Exception, GeneratorExit) as fault:
            raise ConfigError(
                f"{counter.name} failed: {problem_of(fault)}", place="counter", advice=advice
            ) from fault
        if not isinstance(tokens, int) or tokens < 0:
            raise ConfigError(f"{counter.name} gave {tokens!r:.40}", place="counter", advice=advice)
        return tokens

    if not isinstance(counter, CountsByLine):
        return Memo(checked)
    last: frozenset[str] = frozenset()

    def count(text: str) -> int:
        nonlocal last
        if len(text) <= _LONG:
            return checked(text)
        lines = counter.lines(text)
        grown = last if len(lines) > len(last) else ()
        known = sum(line in grown or memo.knows(line) for line in lines)
        last = frozenset(lines)
        if 2 * known > len(lines) > 1:
            return sum([memo[line] for line in lines])
        return checked(text)

    memo: Memo[str, int] = Memo(count)
    return memo


_memo = lru_cache(maxsize=8)(count_memo)  # few: every call may bring a new function


@lru_cache(maxsize=8)
def _known_meter(counter: Any, model: str | None, accuracy: Accuracy) -> Meter:
    """The same meter for the same counter and model, by which a message knows its size.

    Equal counters may differ in their accuracy.
    """
    del accuracy  # it only tells apart what is kept
    return _meter(counter, model, _memo(counter))


__all__ = [
    "COUNTERS",
    "Counter",
    "Family",
    "count_memo",
    "counter_for",
    "family_of",
    "meter_for",
    "window_of",
]
