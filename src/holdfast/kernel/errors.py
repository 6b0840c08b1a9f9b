"""Everything that Holdfast raises on purpose.

::

    HoldfastError
    ├── InputError           a payload, a file or an argument is wrong: says where, and what to do
    │   ├── FormatError      the messages are of no known form, or not of the form that was named
    │   └── ConfigError      a profile, a strategy, a store URL or an option is not understood
    ├── BudgetError          the budget cannot be met (only with ``Budget(..., hard=True)``)
    ├── IntegrityError       an edit would make the conversation invalid; nothing was applied
    ├── StrategyError        a strategy failed, and the caller asked for ``on_failure="raise"``
    ├── StoreError           a store could not answer
    │   ├── NotFoundError    nothing is kept under this key
    │   └── CorruptError     what is kept does not have the hash of its key
    ├── ModelError           a model or an embedder could not answer
    │   └── ContextOverflowError  the request is larger than the model's window
    └── MissingExtraError    an optional dependency is not installed: names the pip command

Each carries its facts as attributes; the text is one line.
"""

from __future__ import annotations


class HoldfastError(Exception):
    """The root of the tree. Goes from process to process with its line and its facts."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self).__new__, (type(self), *self.args), self.__dict__


class InputError(HoldfastError):
    """A payload, a file or an argument is wrong.

    ``place`` says where (``messages[3].content``, a file, an option); ``advice`` says what to do.
    """

    def __init__(self, problem: str, *, place: str = "", advice: str = "") -> None:
        self.problem, self.place, self.advice = problem, place, advice
        line = f"{place}: {problem}" if place else problem
        super().__init__(f"{line}; {advice}" if advice else line)


class FormatError(InputError):
    """The messages are of no known form, or not of the form that was named."""


class ConfigError(InputError):
    """A profile, a strategy, a store URL or an option is not understood."""


class BudgetError(HoldfastError):
    """The budget cannot be met; ``smallest`` is the least limit that can be. All are in tokens."""

    def __init__(self, *, limit: int, tokens: int, smallest: int, reason: str) -> None:
        self.limit, self.tokens, self.smallest, self.reason = limit, tokens, smallest, reason
        super().__init__(
            f"the budget of {limit:,} tokens cannot be met: {reason}; "
            f"the smallest budget that would do is {smallest:,}"
        )


class IntegrityError(HoldfastError):
    """An edit would make the conversation invalid: it breaks ``rule`` at ``index``."""

    def __init__(self, problem: str, *, rule: str, index: int) -> None:
        self.problem, self.rule, self.index = problem, rule, index
        super().__init__(f"message {index}: {problem} ({rule})")


class StrategyError(HoldfastError):
    """A strategy failed and the caller asked to be told; ``__cause__`` holds the fault."""

    def __init__(self, strategy: str, problem: str) -> None:
        self.strategy = strategy
        super().__init__(f"strategy {strategy} failed: {problem}")


class StoreError(HoldfastError):
    """A store could not answer."""


class NotFoundError(StoreError):
    """Nothing is kept under ``key``."""

    def __init__(self, key: str, *, where: str = "this store") -> None:
        self.key = key
        super().__init__(f"nothing is kept under {key!r} in {where}")


class CorruptError(StoreError):
    """What is kept under ``key`` does not have the hash that the key promises."""

    def __init__(
        self, key: str, problem: str = "its bytes do not have the hash of the key"
    ) -> None:
        self.key = key
        super().__init__(f"the artifact {key!r} is damaged: {problem}")


class ModelError(HoldfastError):
    """A model or an embedder could not answer."""


class ContextOverflowError(ModelError):
    """The request exceeds the model's window; ``limit`` and ``size`` in tokens, None if unknown."""

    def __init__(self, problem: str, *, limit: int | None = None, size: int | None = None) -> None:
        self.limit, self.size = limit, size
        super().__init__(problem)


class MissingExtraError(HoldfastError):
    """A dependency is not installed; without an ``extra`` it belongs to a plain installation."""

    def __init__(self, need: str, extra: str = "") -> None:
        self.extra = extra
        package = f"'holdfast[{extra}]'" if extra else "holdfast"
        super().__init__(f"{need} needs an optional dependency: pip install {package}")
