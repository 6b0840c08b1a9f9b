import copy
import pickle

import pytest

from holdfast.kernel import errors
from holdfast.kernel.errors import (
    BudgetError,
    ConfigError,
    ContextOverflowError,
    CorruptError,
    FormatError,
    HoldfastError,
    InputError,
    IntegrityError,
    LockedError,
    MissingExtraError,
    ModelError,
    NotFoundError,
    StoreError,
    StrategyError,
)

TREE = {
    HoldfastError: Exception,
    InputError: HoldfastError,
    FormatError: InputError,
    ConfigError: InputError,
    BudgetError: HoldfastError,
    IntegrityError: HoldfastError,
    StrategyError: HoldfastError,
    StoreError: HoldfastError,
    LockedError: StoreError,
    NotFoundError: StoreError,
    CorruptError: StoreError,
    ModelError: HoldfastError,
    ContextOverflowError: ModelError,
    MissingExtraError: HoldfastError,
}


def test_every_error_stands_in_the_tree_where_the_docstring_draws_it():
    assert {error: error.__base__ for error in TREE} == TREE
    drawn = errors.__doc__ or ""
    assert [error.__name__ for error in TREE if error.__name__ not in drawn] == []


@pytest.mark.parametrize(
    "fault",
    [
        InputError("x", place="y", advice="z"),
        ConfigError("x", place="y"),
        BudgetError(limit=1, tokens=3, smallest=2, reason="why"),
        IntegrityError("gone", rule="newest_stays", index=3),
        StrategyError("prune", "out of luck"),
        LockedError(),
        NotFoundError("a1b2"),
        CorruptError("a1b2"),
        ContextOverflowError("too long", limit=8_000, size=9_000),
        MissingExtraError("YAML", "yaml"),
    ],
    ids=lambda fault: type(fault).__name__,
)
def test_an_error_goes_to_another_process_as_it_is(fault):
    for again in (pickle.loads(pickle.dumps(fault)), copy.copy(fault)):
        assert (type(again), str(again), vars(again)) == (type(fault), str(fault), vars(fault))


def test_no_error_is_left_out_of_the_tree():
    defined = {value for value in vars(errors).values() if isinstance(value, type)}
    assert defined == TREE.keys()


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (InputError("it is empty"), "it is empty"),
        (InputError("it is empty", place="chat.json"), "chat.json: it is empty"),
        (InputError("it is empty", advice="fill it"), "it is empty; fill it"),
        (ConfigError("x", place="pin", advice="y"), "pin: x; y"),
        (
            BudgetError(
                limit=1_000, tokens=9_000, smallest=1_234, reason="the system prompt is long"
            ),
            (
                "the budget of 1,000 tokens cannot be met: the system prompt is long; "
                "the smallest budget that would do is 1,234"
            ),
        ),
        (
            IntegrityError("it is gone", rule="newest_stays", index=3),
            "message 3: it is gone (newest_stays)",
        ),
        (StrategyError("prune", "out of luck"), "strategy prune failed: out of luck"),
        (NotFoundError("a1b2"), "there is no 'a1b2' in this store; check the key and the thread"),
        (
            CorruptError("a1b2"),
            "the artifact 'a1b2' is damaged: its bytes do not have the hash of the key",
        ),
        (
            MissingExtraError("a key", "encrypt"),
            "a key needs an optional dependency: pip install 'holdfast[encrypt]'",
        ),
        (
            MissingExtraError("counting"),
            "counting needs an optional dependency: pip install holdfast",
        ),
    ],
)
def test_an_error_is_one_line(fault, line):
    assert str(fault) == line


def test_an_error_carries_its_facts():
    fault = BudgetError(limit=1, tokens=3, smallest=2, reason="why")
    assert (fault.limit, fault.tokens, fault.smallest, fault.reason) == (1, 3, 2, "why")
    where = IntegrityError("it is gone", rule="newest_stays", index=3)
    assert (where.problem, where.rule, where.index) == ("it is gone", "newest_stays", 3)
