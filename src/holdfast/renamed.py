"""Old names of arguments, which work for one more release and warn."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast
from warnings import warn

F = TypeVar("F", bound=Callable[..., Any])


def renamed_argument(old: str, new: str) -> Callable[[F], F]:
    """Let a function accept an argument under its old name too."""

    def decorated(function: F) -> F:
        @wraps(function)
        def called(*given: Any, **named: Any) -> Any:
            if old in named:
                problem = f"{function.__name__}({old}=...) is deprecated: write {new}=..."
                warn(problem, DeprecationWarning, stacklevel=2)
                named[new] = named.pop(old)
            return function(*given, **named)

        return cast("F", called)

    return decorated
