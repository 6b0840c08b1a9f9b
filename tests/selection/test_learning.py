"""The script that learns the weights reads conversations as ``select`` does."""

import numpy as np

from benchmarks.weights import SHAPES, case_of
from holdfast.selection import Use, features


def test_a_case_has_a_row_for_each_thing_that_may_go_and_knows_which_are_used():
    steps = [
        {"role": "user", "content": "Find the slow query of the shop."},
        {"role": "assistant", "content": "The log names the table orders_2031 first."},
        {"role": "user", "content": "And what else does it name? " * 20},
        {"role": "assistant", "content": "It names invoices_77 too. " * 20},
        {"role": "user", "content": "Look at the older one."},
    ]
    case = case_of({"task": "shop", "messages": steps, "budget": 60, "needs": ["orders_2031"]})
    assert case.kind == "shop"
    assert case.used.sum() == 1
    assert case.seen.shape == (
        len(case.used),
        len(SHAPES) + 1 + 2 * len(features(Use(1), 1, 1)),
    )
    assert np.isfinite(case.seen).all()
