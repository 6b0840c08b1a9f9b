"""Token counting for a call: a counter, its cache, its overhead per message, and media."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Protocol, cast, runtime_checkable

from holdfast.kernel.budget import Meter
from holdfast.kernel.errors import ConfigError, HoldfastError
from holdfast.kernel.ports import MessageCounter, Priced, Tariff, TokenCounter
from holdfast.text.memo import Memo
from holdfast.tokens import COUNTERS, MediaCounter, counter_for

_LONG = 2_000  # characters from which a text is looked up by line
_SAMPLE = 8  # lines that are tried before all are

Counter = str | TokenCounter | Callable[[str], int] | None


def meter_for(model: str | None = None, counter: Counter = None) -> Meter:
    """The meter of a model, or of a counter given by name, object or function.

    Counters that are equal share one cache, so that a text is counted once in a process. Raises
    ConfigError for a name that is neither a counter's nor a known model's.
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
    # a counter that cannot be hashed has a cache for this call only
    except TypeError:
        memo = count_memo(chosen)
    tariff = chosen.tariff if isinstance(chosen, Priced) else Tariff()
    whole = chosen.count_message if isinstance(chosen, MessageCounter) else None
    return Meter(chosen, memo.__getitem__, MediaCounter(model, memo), tariff, whole)


@lru_cache(maxsize=8)
def _memo(counter: Hashable) -> Memo[str, int]:
    """The cache of a counter, shared by equal counters.

    Few are kept, in case every call brings a new function.
    """
    return count_memo(cast("TokenCounter", counter))


@runtime_checkable
class CountsByLine(Protocol):
    """A counter that can split a text into parts whose counts add up."""

    def lines(self, text: str) -> Sequence[str]:
        """The text in parts whose counts add up to its own."""
        ...


def count_memo(counter: TokenCounter) -> Memo[str, int]:
    """A cache of counts by text.

    A long text most of whose lines are cached, or were in the last long text, such as notes that
    extend earlier ones, is counted by adding up its lines.
    """
    checked = _Checked(counter)
    if not isinstance(counter, CountsByLine):
        return Memo(checked.count)
    last: frozenset[str] = frozenset()

    def count(text: str) -> int:
        nonlocal last
        lines = counter.lines(text) if len(text) > _LONG else ()
        sample = lines[:: len(lines) // _SAMPLE] if len(lines) > _SAMPLE else ()
        known = sum(line in last or memo.knows(line) for line in sample)
        last = frozenset(lines) or last
        if 2 * known > len(sample):
            return sum([memo[line] for line in lines])
        return checked.count(text)

    memo: Memo[str, int] = Memo(count)
    return memo


class _Checked:
    """Raises ConfigError, naming the counter, if a counter fails or returns no token count."""

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
