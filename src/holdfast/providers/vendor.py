"""What the vendors' models share: names, keys, clients, and the translation of errors."""

import os
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, ClassVar, ParamSpec, TypedDict, TypeVar, Unpack, cast

from holdfast.kernel.errors import ConfigError, ContextOverflowError, HoldfastError, ModelError
from holdfast.text.visible import fault_line
from holdfast.text.words import READ

from .prices import Price


class TransientError(ModelError):
    """The vendor is busy, unreachable or silent, so that the same request may succeed later.

    ``retry_after`` is the wait in seconds that the vendor asks for, or None.
    """

    def __init__(self, problem: str, *, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(problem)


Headers = Mapping[str, str]

REFUSED = frozenset({400, 413, 422})  # statuses with which vendors refuse a request for its length
# These and all from 500 on may be retried: those that the packages of OpenAI and Anthropic retry,
# and 425, Too Early (RFC 8470).
_BUSY = frozenset({408, 409, 425, 429})
_SPENT = re.compile(r"insufficient_quota|billing|credit balance", re.IGNORECASE)
"""A 429 status for which waiting does not help."""

_TOO_LONG = re.compile(
    r"context[ _-](?:length|window|size|limit)|(?:prompt|input) is too long"
    r"|token count.{0,40}exceeds|input tokens exceed"
    r"|too many (?:input )?tokens|request_too_large",
    re.IGNORECASE,
)
_NUMBER = r"(\d[\d,_]{0,14})"


def _numbers(*patterns: str) -> tuple[re.Pattern[str], ...]:
    """The patterns, with that of a number for each #."""
    return tuple(re.compile(each.replace("#", _NUMBER), re.IGNORECASE) for each in patterns)


_LIMITS = _numbers(
    r"(?:context length|context window|context limit|configured limit) (?:is|of) #",
    r"allowed \(#\)",
    r"context size \(#",
    r"> #",
)
_SIZES = _numbers(
    r"(?:resulted in|you requested|requested about|too long:|request \() ?#",
    r"token count \(#\)",
    r"limit: #",
)
# tokens that a model may think before it answers, which count as output: LiteLLM's budget for much
# effort
THOUGHT = 4_096


def refusal(vendor: str, status: int, text: str, headers: Headers) -> ModelError:
    """The error for a response with an error status, chosen by its text and headers."""
    seen = text[:READ]
    line = fault_line(seen)
    if status in REFUSED and _TOO_LONG.search(seen):
        return ContextOverflowError(
            f"{vendor}: {line}", limit=_found(_LIMITS, seen), size=_found(_SIZES, seen)
        )
    if (status in _BUSY or status >= 500) and not _SPENT.search(seen):
        wait = wait_told(headers, seen)
        asks = "" if wait is None else f"; it asks to wait {wait:.3g} s"
        return TransientError(
            f"{vendor} is busy or broken ({status}): {line}{asks}", retry_after=wait
        )
    return ModelError(f"{vendor} refused ({status}): {line}")


def _found(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    for pattern in patterns:
        if found := pattern.search(text):
            return int(re.sub(r"[,_]", "", found[1]))
    return None


def wait_told(headers: Headers, text: str = "", now: datetime | None = None) -> float | None:
    """The wait in seconds that the vendor asks for in its headers or (Google) text, or None."""
    low = {name.lower(): value for name, value in headers.items()}
    if "retry-after-ms" in low:
        return _number(low["retry-after-ms"], 1_000)
    if "retry-after" in low:
        value = low["retry-after"]
        if (seconds := _number(value)) is not None:
            return seconds
        try:
            moment = parsedate_to_datetime(value.strip())
        except ValueError:
            return None
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (aware - (now or datetime.now(UTC))).total_seconds())
    delay = re.search(r"retryDelay\W{1,6}(\d{1,6}(?:\.\d{1,9})?)s", text)
    return float(delay[1]) if delay else None


def _number(value: str, scale: float = 1) -> float | None:
    return float(value) / scale if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", value.strip()) else None


P = ParamSpec("P")
Client = TypeVar("Client")


TIMEOUT = 60.0  # seconds for a request, as ``CallLimits`` has it


class Access(TypedDict, total=False):
    """How a server is asked; by default as the vendor's variables of the environment say."""

    price: Price | None  # in place of the list price
    api_key: str | None
    base_url: str | None
    timeout: float
    """In seconds; by default 60."""


class VendorAccount:
    """A model or an embedder of a vendor; those with one address and key share a client.

    Clients are safe with threads. ``timeout`` is in seconds, and ``price`` replaces the list price.
    """

    vendor: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    """The variables of the environment that may hold the key."""

    address: ClassVar[str]
    """The variable with the address of another server."""

    key_elsewhere: ClassVar[str] = ""
    """The key for another server that needs none."""

    usual: ClassVar[str] = ""
    """The model of an empty name."""

    connected: Callable[..., Any]
    """Returns the client of a key and an address, with a timeout in seconds."""

    def __init__(self, name: str = "", **account: Unpack[Access]) -> None:
        self.name, self.price = name or self.usual, account.get("price")
        self._client = self._opened(account)

    def _opened(self, account: Access) -> Any:
        """The client, by this and the environment. Raises ConfigError without a key."""
        address = account.get("base_url") or os.environ.get(self.address)
        known = filter(None, (account.get("api_key"), *map(os.environ.get, self.keys)))
        key = next(known, self.key_elsewhere if address else "")
        if not key:
            raise ConfigError(
                f"there is no key for {self.vendor}",
                advice=f"set {self.keys[0]}, or in Python give api_key=",
            )
        timeout = account.get("timeout", TIMEOUT)
        return self.connected(api_key=key, base_url=address, timeout=timeout)


class VendorModel(VendorAccount):
    """A model of a vendor.

    ``window`` is the window in tokens, if the name does not tell it. ``thought`` is how many tokens
    the model may think beside its reply.
    """

    example: ClassVar[str]
    thinking: ClassVar[tuple[str, ...]] = ()
    """The beginnings of the names of models that think before they reply."""

    def __init__(
        self,
        name: str,
        *,
        window: int = 0,
        thought: int | None = None,
        **account: Unpack[Access],
    ) -> None:
        if not name:
            raise ConfigError(
                "the model has no name", place="llm", advice=f"write it as in {self.example!r}"
            )
        super().__init__(name, **account)
        self.window = window
        usual = THOUGHT if name.startswith(self.thinking) else 0
        self.thought = usual if thought is None else thought


@contextmanager
def reading(vendor: str, *broken: type[Exception]) -> Generator[None]:
    """Turn lost connections (``broken``) and unreadable answers into TransientError."""
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
def translated(vendor: str, package: Any, others: type[Exception]) -> Generator[None]:
    """Like ``reading``, and turn refusals and ``others`` of the package's errors into ours.

    The packages of OpenAI and Anthropic have the same names for their errors.
    """
    with reading(vendor, package.APIConnectionError):
        try:
            yield
        except package.APIStatusError as told:
            raise refusal(vendor, told.status_code, told.message, told.response.headers) from told
        except package.APIResponseValidationError as fault:
            raise ValueError(str(fault)) from fault
        except package.APIConnectionError:
            raise
        except others as fault:
            raise ModelError(f"{vendor} failed: {fault}") from fault


def shared(opened: Callable[P, Client]) -> Callable[P, Client]:
    """Keep the last few clients, and return one for calls with the same arguments.

    They are dropped after a fork: a child must not use its parent's connections.
    """
    kept = lru_cache(maxsize=16)(opened)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=kept.cache_clear)
    return cast("Callable[P, Client]", kept)
