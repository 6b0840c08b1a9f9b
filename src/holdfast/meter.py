"""Meters: a counter with its memo, its tariff and its way with media."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Protocol, cast, runtime_checkable

from holdfast.kernel.budget import Meter
from holdfast.kernel.errors import ConfigError, HoldfastError
from holdfast.kernel.ports import MessageCounter, Priced, Tariff, TokenCounter
from holdfast.text.memo import Memo
from holdfast.tokens import COUNTERS, MediaCounter, counter_for

_LONG = 2_000  # characters of a text whose lines may be known already
_SAMPLE = 8  # lines by which that is seen

Counter = str | TokenCounter | Callable[[str], int] | None


def meter_for(model: str | None = None, counter: Counter = None) -> Meter:
    """The meter of a model, or of a counter that is named, given as an object or as a callable.

    Counters of one name are one object, and each has one memo, so that a text is counted once in a
    process. Raises ConfigError for the name of a counter that is neither one's nor that of a model
    that is known.
    """
    chosen = counter_for(model if counter is None else counter)
    if (
        isinstance(counter, str)
        and chosen.accuracy.kind == "unknown"
        and not counter.startswith("fixed:")
    ):
        COUNTERS.load(counter)
    try:
        memo = _memo(cast("Hashable", chosen))
    # a caller's counter that cannot be hashed is counted with for this call alone
    except TypeError:
        memo = count_memo(chosen)
    tariff = chosen.tariff if isinstance(chosen, Priced) else Tariff()
    whole = chosen.count_message if isinstance(chosen, MessageCounter) else None
    return Meter(chosen, memo.__getitem__, MediaCounter(model, memo), tariff, whole)


@lru_cache(maxsize=8)
def _memo(counter: Hashable) -> Memo[str, int]:
    """The memo of a counter; what counts alike is equal.

    Few are kept, should every call bring a new callable.
    """
    return count_memo(cast("TokenCounter", counter))


@runtime_checkable
class CountsByLine(Protocol):
    """A counter that knows where a text can be parted so that the counts of its parts add up."""

    def lines(self, text: str) -> Sequence[str]:
        """The text in lines, some of them together, whose counts add up to its own."""
        ...


def count_memo(counter: TokenCounter, characters: int = 64_000_000) -> Memo[str, int]:
    """Counts of texts by the text itself; ``characters`` bounds the text that is held.

    A long text most of whose lines have been counted, as notes that go on from others, is their
    sum.
    """
    checked = _Checked(counter)
    if not isinstance(counter, CountsByLine):
        return Memo(checked.count, _length, characters)

    def count(text: str) -> int:
        lines = counter.lines(text) if len(text) > _LONG else ()
        sample = lines[:: len(lines) // _SAMPLE] if len(lines) > _SAMPLE else ()
        if 2 * sum(map(memo.knows, sample)) > len(sample):
            return sum([memo[line] for line in lines])
        return checked.count(text)

    memo: Memo[str, int] = Memo(count, _length, characters)
    return memo


def _length(text: str, tokens: int) -> int:
    del tokens
    return len(text)


class _Checked:
    """A counter that may be anyone's.

    What it gives is a number of tokens, or an error that names it.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self.name, self.accuracy, self._count = counter.name, counter.accuracy, counter.count

    def count(self, text: str) -> int:
        try:
            tokens = cast("object", self._count(text))
        except HoldfastError:
            raise
        except Exception as fault:
            advice = "a counter gives an int of 0 or more for any text"
            told = " ".join(f"{type(fault).__name__}: {fault}".split())
            raise ConfigError(
                f"{self.name} failed: {told}", place="counter", advice=advice
            ) from fault
        if not isinstance(tokens, int) or tokens < 0:
            advice = "a counter gives an int of 0 or more for any text"
            raise ConfigError(f"{self.name} gave {tokens!r:.40}", place="counter", advice=advice)
        return tokens
