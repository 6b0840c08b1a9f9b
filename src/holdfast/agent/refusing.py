"""A model that refuses for length: how it says so, and how much smaller the next view has to be."""

from __future__ import annotations

from holdfast.kernel.budget import Budget
from holdfast.kernel.errors import ContextOverflowError
from holdfast.providers.refusals import refusal
from holdfast.session import View

_HARDER = 0.6  # of the view that was refused, where the refusal does not say how long it may be
_MARGIN = 0.95  # of what it says


def overflow(fault: Exception) -> ContextOverflowError | None:
    """The fault as what it amounts to, if a model refuses for length; vendors say so in many ways."""
    if isinstance(fault, ContextOverflowError):
        return fault
    seen = refusal("the model", 400, str(fault), {})
    return seen if isinstance(seen, ContextOverflowError) else None


def harder(refused: ContextOverflowError, tokens: int, most: int | None) -> Budget:
    """What the model should take in the place of so many tokens, by its own figures where it gives them.

    Never more than ``most``.
    """
    share = _HARDER
    if refused.limit and refused.size and refused.size > refused.limit:
        share = _MARGIN * refused.limit / refused.size
    return Budget(limit=max(1, min(int(tokens * share), most or tokens)))


def given_up(view: View, refused: ContextOverflowError) -> ContextOverflowError:
    """The error for a view that was refused though it was fitted harder."""
    size, limit = refused.size or view.tokens, refused.limit or view.limit
    problem = (
        f"the model refuses for length even what was fitted harder: about {size:,} tokens of at most {limit:,}; "
        "lower the session's budget, or give a model with a larger window"
    )
    return ContextOverflowError(problem, limit=limit, size=size)
