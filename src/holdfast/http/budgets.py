"""Budgets of requests: in tokens, as a share of the model's window, or by the name of the model."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import cast

from holdfast.formats.payloads import Object, is_object
from holdfast.kernel.budget import Budget, is_whole, tokens_in
from holdfast.kernel.errors import ConfigError
from holdfast.tokens import counter_for, window_of
from holdfast.tokens.families import GUESSED

Size = int | str | Budget | None
"""``32_000``, ``"32k"``, ``"80%"`` of the model's window, a Budget, or None for the whole
window.
"""

TARGET = 0.75
"""The share of the room besides the fixed parts (system messages, tools) that a new view fills.

The rest lets the view grow at its end for several requests, during which the provider's cache stays
valid. In sixty recorded runs a request in four has a new view, and .85 of what is used later is
kept; with 0.5, one in six and .78, and with 0.875 two in five and .89.
"""


@dataclass(frozen=True)
class Budgets:
    """Budgets by model name: that of the first matching pattern, else ``default``.

    ``target`` is a share like ``TARGET``, for budgets that have none. If a model's tokens can only
    be estimated, the error of the estimate is left free, unless a budget states a headroom.
    """

    default: Size = None
    by_model: Mapping[str, Size] = field(default_factory=dict[str, Size])
    target: float = TARGET

    def __post_init__(self) -> None:
        for size in (self.default, *self.by_model.values()):
            stated(size)

    def of(self, model: str, body: Object) -> Budget | None:
        """The budget of a request; None if none is given and the model's window is not known."""
        found = (
            size for pattern, size in self.by_model.items() if fnmatchcase(model.lower(), pattern)
        )
        budget = stated(next(found, self.default))
        if not isinstance(budget, Budget):
            window = window_of(model)
            if window is None:
                return None
            answer = min(answer_of(body), window // 2) if budget is None else 0
            budget = Budget(limit=int(window * (budget or 1)), reserve=answer)
        if not budget.headroom and model:
            accuracy = counter_for(model).accuracy
            accuracy = GUESSED if accuracy.kind == "unknown" else accuracy
            budget = replace(budget, headroom=accuracy.error or 0.0)
        return budget


def stated(size: Size) -> Budget | float | None:
    """The budget of a size, or its share of the model's window; None for the whole window.

    Raises ConfigError for anything else.
    """
    if size is None:
        return None
    if isinstance(size, int | Budget):
        return Budget.of(size)
    text = cast("object", size)  # callers pass anything
    if isinstance(text, str):
        if limit := tokens_in(text):
            return Budget.of(limit)
        number = text.strip().removesuffix("%")
        if number != text.strip() and number.isdecimal() and 0 < int(number) <= 100:
            return int(number) / 100
    raise ConfigError(
        f"{size!r:.40} is not a budget",
        place="budget",
        advice="give one such as 32k, or 80% of the model's window",
    )


def answer_of(body: Object) -> int:
    """Tokens that the request reserves for the answer, under any vendor's field name."""
    config: object = body.get("generationConfig")
    named = {**config, **body} if is_object(config) else body
    for name in ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"):
        value: object = named.get(name)
        if is_whole(value, 1):
            return value
    return 0
