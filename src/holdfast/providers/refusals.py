"""What a vendor's refusal means: too long, try again later and when, or no."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from holdfast.kernel.errors import ContextOverflowError, ModelError

from .faults import TransientError

Headers = Mapping[str, str]

_BUSY = frozenset({408, 409, 425, 429})  # beside these, everything from 500 on may pass
_SPENT = re.compile(r"insufficient_quota|billing|credit balance", re.IGNORECASE)
"""A 429 that no waiting helps."""

_TOO_LONG = re.compile(
    r"context[ _-](?:length|window|size|limit)|prompt is too long|token count.{0,40}exceeds|input tokens exceed"
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
        return ContextOverflowError(f"{vendor}: {line}", limit=_found(_LIMITS, seen), size=_found(_SIZES, seen))
    if status in _BUSY or status >= 500:
        if _SPENT.search(seen):
            return ModelError(f"{vendor} refused ({status}): {line}")
        wait = wait_told(headers, seen)
        asks = "" if wait is None else f"; it asks to wait {wait:.3g} s"
        return TransientError(f"{vendor} is busy or broken ({status}): {line}{asks}", retry_after=wait)
    return ModelError(f"{vendor} refused ({status}): {line}")


def _found(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    match = next((match for pattern in patterns if (match := pattern.search(text))), None)
    return int(re.sub(r"[,_]", "", match[1])) if match else None


def wait_told(headers: Headers, text: str = "", now: datetime | None = None) -> float | None:
    """Seconds that the vendor asks to wait: by its headers, else in its text (Google); None if it does not say."""
    now = now or datetime.now(UTC)
    low = {name.lower(): value for name, value in headers.items()}
    if "retry-after-ms" in low:
        return _number(low["retry-after-ms"], 1_000)
    if "retry-after" in low:
        value = low["retry-after"]
        return _until(value, parsedate_to_datetime, now) if _number(value) is None else _number(value)
    resets = [
        _duration(value) if name.startswith("x-ratelimit-reset") else _until(value, datetime.fromisoformat, now)
        for name, value in low.items()
        if name.startswith("x-ratelimit-reset") or (name.startswith("anthropic-ratelimit") and "-reset" in name)
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
