"""What the vendors' own packages have in common: a name, a key, and errors to be told apart."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

from holdfast.kernel.errors import ConfigError, HoldfastError, ModelError

from .faults import TransientError
from .refusals import refusal

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
        raise ConfigError("the model has no name", place="llm", advice=f"write it as in {example!r}")
    return name


def key_of(vendor: str, given: str | None, *variables: str) -> str:
    """The key that was given, or that the environment has. Raises ConfigError where there is none."""
    found = given or next((value for name in variables if (value := os.environ.get(name))), None)
    if not found:
        advice = f"set {variables[0]} or give api_key="
        raise ConfigError(f"there is no key for {vendor}", place="llm", advice=advice)
    return found


@contextmanager
def reading(vendor: str, broken: Errors) -> Generator[None, None, None]:
    """A line that breaks (``broken``), or an answer not of the vendor's own form, raises TransientError."""
    try:
        yield
    except HoldfastError:
        raise
    except broken as fault:
        cause = fault.__cause__ or fault
        raise TransientError(f"{vendor} could not be reached: {type(cause).__name__}: {cause}") from fault
    except (AttributeError, LookupError, TypeError, ValueError) as fault:
        raise TransientError(f"{vendor} answered in a form that cannot be read: {fault!r:.200}") from fault


@contextmanager
def translated(vendor: str, faults: Faults) -> Generator[None, None, None]:
    """As ``reading``; what the vendor refuses, and any other fault of its package, raise what they mean here."""
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
    """The clients that were opened, kept for the next call of the same arguments; few, and none after a fork.

    A child of this process must not speak on its parent's connections.
    """
    kept = lru_cache(maxsize=16)(opened)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=kept.cache_clear)
    return cast("Callable[P, Client]", kept)
