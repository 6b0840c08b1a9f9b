"""All errors that Holdfast raises on purpose.

::

    HoldfastError
    ├── InputError           a payload, a file or an argument is wrong
    │   ├── FormatError      the messages have no known format, or not the one that was named
    │   └── ConfigError      a profile, a strategy, a store URL or an option is wrong
    ├── BudgetError          the budget cannot be met (only with ``Budget(..., hard=True)``)
    ├── IntegrityError       an edit would make the conversation invalid; nothing was applied
    ├── StrategyError        a strategy failed (only with ``on_failure="raise"``)
    ├── StoreError           a store could not answer
    │   ├── LockedError      the store is encrypted, and was opened without its key
    │   ├── NotFoundError    nothing is stored under this key
    │   └── CorruptError     what is stored does not match the hash in its key
    ├── ModelError           a model or an embedder could not answer
    │   └── ContextOverflowError  the request is larger than the model's window
    └── MissingExtraError    an optional dependency is not installed

The message of each is one line; its facts are attributes.
"""

from typing import Self


def problem_of(fault: BaseException) -> str:
    """The type and the text of any exception, on one line; its type alone if it has no text."""
    try:
        text = str(fault)
    except Exception:  # noqa: BLE001 - anyone's exception
        text = ""
    return " ".join(f"{type(fault).__name__}: {text}".split()).removesuffix(":")


class HoldfastError(Exception):
    """The base class. Can be pickled with its message and its attributes."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self).__new__, (type(self), *self.args), self.__dict__


class InputError(HoldfastError):
    """A payload, a file or an argument is wrong.

    ``place`` says where (``messages[3].content``, a file, an option), ``advice`` what to do.
    """

    def __init__(self, problem: str, *, place: str = "", advice: str = "") -> None:
        self.problem, self.place, self.advice = problem, place, advice
        line = f"{place}: {problem}" if place else problem
        super().__init__(f"{line}; {advice}" if advice else line)

    def at(self, place: str) -> Self:
        """The same error with another place."""
        return type(self)(self.problem, place=place, advice=self.advice)


class FormatError(InputError):
    """The messages have no known format, or not the one that was named."""


class ConfigError(InputError):
    """A profile, a strategy, a store URL or an option is wrong."""


class BudgetError(HoldfastError):
    """The budget cannot be met; ``smallest`` is the smallest that can. All are in tokens."""

    def __init__(self, *, limit: int, tokens: int, smallest: int, reason: str) -> None:
        self.limit, self.tokens, self.smallest, self.reason = limit, tokens, smallest, reason
        super().__init__(
            f"the budget of {limit:,} tokens cannot be met: {reason}; "
            f"the smallest budget that would do is {smallest:,}"
        )


class IntegrityError(HoldfastError):
    """An edit would make the conversation invalid: it breaks ``rule`` at message ``index``."""

    def __init__(self, problem: str, *, rule: str, index: int) -> None:
        self.problem, self.rule, self.index = problem, rule, index
        super().__init__(f"message {index}: {problem} ({rule})")


class StrategyError(HoldfastError):
    """A strategy failed with ``on_failure="raise"``; ``__cause__`` is its exception."""

    def __init__(self, strategy: str, problem: str) -> None:
        self.strategy = strategy
        super().__init__(f"strategy {strategy} failed: {problem}")


class StoreError(HoldfastError):
    """A store could not answer."""


class LockedError(StoreError):
    """The store is encrypted, and was opened without its key."""

    def __init__(self) -> None:
        super().__init__(
            "this store is encrypted; give its key: --store-key FILE, or EncryptedStore.unlock"
        )


class NotFoundError(StoreError):
    """Nothing is stored under ``key``."""

    def __init__(
        self, key: str, *, where: str = "this store; check the key and the thread"
    ) -> None:
        self.key = key
        super().__init__(f"there is no {key!r:.80} in {where}")


class CorruptError(StoreError):
    """What is stored under ``key`` does not match the hash in the key."""

    def __init__(
        self, key: str, problem: str = "its bytes do not have the hash of the key"
    ) -> None:
        self.key = key
        super().__init__(f"the artifact {key!r} is damaged: {problem}")


class ModelError(HoldfastError):
    """A model or an embedder could not answer."""


class ContextOverflowError(ModelError):
    """The request exceeds the model's window; ``limit`` and ``size`` in tokens, or None."""

    def __init__(self, problem: str, *, limit: int | None = None, size: int | None = None) -> None:
        self.limit, self.size = limit, size
        super().__init__(problem)


class MissingExtraError(HoldfastError):
    """A dependency is not installed; an empty ``extra`` means one of a plain installation."""

    def __init__(self, need: str, extra: str = "") -> None:
        self.extra = extra
        package = f"'holdfast[{extra}]'" if extra else "holdfast"
        super().__init__(f"{need} needs an optional dependency: pip install {package}")
