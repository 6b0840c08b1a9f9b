"""What the vendors' packages share: a name, a key, a client, and what their errors mean."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

from holdfast.kernel.errors import ConfigError, ContextOverflowError, HoldfastError, ModelError


class TransientError(ModelError):
    """A busy, broken or silent line: the same request may be answered later.

    ``retry_after`` is what the vendor asks to wait, in seconds, None if it does not say.
    """

    def __init__(self, problem: str, *, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(problem)


Headers = Mapping[str, str]

_BUSY = frozenset({408, 409, 425, 429})  # beside these, everything from 500 on may pass
_SPENT = re.compile(r"insufficient_quota|billing|credit balance", re.IGNORECASE)
"""A 429 that no waiting helps."""

_TOO_LONG = re.compile(
    r"context[ _-](?:length|window|size|limit)|prompt is too long"
    r"|token count.{0,40}exceeds|input tokens exceed"
    r"|too many (?:input )?tokens|request_too_large",
    re.IGNORECASE,
)
_NUMBER = r"(\d[\d,_]{0,14})"
_LIMITS = tuple(
    re.compile(pattern.replace("#", _NUMBER), re.IGNORECASE)
    for pattern in (
        r"(?:context length|context window|context limit|configured limit) (?:is|of) #",
        r"allowed \(#\)",
        r"context size \(#",
        r"> #",
    )
)
_SIZES = tuple(
    re.compile(pattern.replace("#", _NUMBER), re.IGNORECASE)
    for pattern in (
        r"(?:resulted in|you requested|requested about|too long:|request \() ?#",
        r"token count \(#\)",
        r"limit: #",
    )
)
_LOOKED_AT = 2_000  # characters of a refusal
_TOLD = 300


def refusal(vendor: str, status: int, text: str, headers: Headers) -> ModelError:
    """The error that the refusal amounts to."""
    seen = text[:_LOOKED_AT]
    line = " ".join(seen.split())[:_TOLD]
    if status in {400, 413, 422} and _TOO_LONG.search(seen):
        return ContextOverflowError(
            f"{vendor}: {line}", limit=_found(_LIMITS, seen), size=_found(_SIZES, seen)
        )
    if status in _BUSY or status >= 500:
        if _SPENT.search(seen):
            return ModelError(f"{vendor} refused ({status}): {line}")
        wait = wait_told(headers, seen)
        asks = "" if wait is None else f"; it asks to wait {wait:.3g} s"
        return TransientError(
            f"{vendor} is busy or broken ({status}): {line}{asks}", retry_after=wait
        )
    return ModelError(f"{vendor} refused ({status}): {line}")


def _found(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    match = next((match for pattern in patterns if (match := pattern.search(text))), None)
    return int(re.sub(r"[,_]", "", match[1])) if match else None


def wait_told(headers: Headers, text: str = "", now: datetime | None = None) -> float | None:
    """Seconds that the vendor asks to wait: by its headers, else in its text (Google).

    None if it does not say.
    """
    now = now or datetime.now(UTC)
    low = {name.lower(): value for name, value in headers.items()}
    if "retry-after-ms" in low:
        return _number(low["retry-after-ms"], 1_000)
    if "retry-after" in low:
        value = low["retry-after"]
        return (
            _until(value, parsedate_to_datetime, now) if _number(value) is None else _number(value)
        )
    resets = [
        _duration(value)
        if name.startswith("x-ratelimit-reset")
        else _until(value, datetime.fromisoformat, now)
        for name, value in low.items()
        if name.startswith("x-ratelimit-reset")
        or (name.startswith("anthropic-ratelimit") and "-reset" in name)
        if _spent(low, name)
    ]
    told = [wait for wait in resets if wait is not None]
    if told:
        return max(told)
    delay = re.search(r"retryDelay\W{1,6}(\d{1,6}(?:\.\d{1,9})?)s", text)
    return float(delay[1]) if delay else None


def _spent(headers: Headers, reset: str) -> bool:
    """Whether the allowance that the header resets is used up."""
    return headers.get(reset.replace("reset", "remaining"), "0").strip() in {"0", "0.0", ""}


def _number(value: str, scale: float = 1) -> float | None:
    return float(value) / scale if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", value.strip()) else None


def _duration(value: str) -> float | None:
    """``6m0s``, ``20ms``, ``1.5s`` or plain seconds."""
    if _number(value) is not None:
        return _number(value)
    units = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
    pieces = re.findall(r"(\d{1,9}(?:\.\d{1,9})?)(ms|[dhms])", value[:40])
    return sum(float(number) * units[unit] for number, unit in pieces) if pieces else None


def _until(value: str, parse: Callable[[str], datetime], now: datetime) -> float | None:
    """Seconds until a date, 0 if it is over."""
    try:
        moment = parse(value.strip())
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - now).total_seconds())


P = ParamSpec("P")
Client = TypeVar("Client")

Errors = type[Exception] | tuple[type[Exception], ...]


class Faults(NamedTuple):
    """What a package that is generated from the description of an API raises, by what it means."""

    connection: type[Exception]
    refused: type[Exception]
    unreadable: type[Exception]
    anything: type[Exception]


def named(name: str, example: str) -> str:
    """The name of a model. Raises ConfigError where there is none."""
    if not name:
        raise ConfigError(
            "the model has no name", place="llm", advice=f"write it as in {example!r}"
        )
    return name


def key_of(vendor: str, given: str | None, *variables: str) -> str:
    """The key that was given, or that the environment has.

    Raises ConfigError where there is none.
    """
    found = given or next((value for name in variables if (value := os.environ.get(name))), None)
    if not found:
        advice = f"set {variables[0]} or give api_key="
        raise ConfigError(f"there is no key for {vendor}", place="llm", advice=advice)
    return found


@contextmanager
def reading(vendor: str, broken: Errors) -> Generator[None, None, None]:
    """A line that breaks (``broken``), or an unreadable answer, raises TransientError."""
    try:
        yield
    except HoldfastError:
        raise
    except broken as fault:
        cause = fault.__cause__ or fault
        raise TransientError(
            f"{vendor} could not be reached: {type(cause).__name__}: {cause}"
        ) from fault
    except (AttributeError, LookupError, TypeError, ValueError) as fault:
        raise TransientError(
            f"{vendor} answered in a form that cannot be read: {fault!r:.200}"
        ) from fault


@contextmanager
def translated(vendor: str, faults: Faults) -> Generator[None, None, None]:
    """As ``reading``; refusals and other faults of the package raise what they mean here."""
    with reading(vendor, faults.connection):
        try:
            yield
        except faults.refused as fault:
            told = cast("Any", fault)
            raise refusal(vendor, told.status_code, told.message, told.response.headers) from fault
        except faults.unreadable as fault:
            raise ValueError(str(fault)) from fault
        except faults.connection:
            raise
        except faults.anything as fault:
            raise ModelError(f"{vendor} failed: {fault}") from fault


def shared(opened: Callable[P, Client]) -> Callable[P, Client]:
    """The clients that were opened, kept for the next call of the same arguments.

    Few, and none after a fork.

    A child of this process must not speak on its parent's connections.
    """
    kept = lru_cache(maxsize=16)(opened)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=kept.cache_clear)
    return cast("Callable[P, Client]", kept)
