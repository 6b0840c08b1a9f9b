"""What the vendors' own packages have in common: a name, a key, and errors to be told apart."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

from holdfast.kernel.errors import ConfigError, HoldfastError

from .faults import TransientError

Errors = type[Exception] | tuple[type[Exception], ...]


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
