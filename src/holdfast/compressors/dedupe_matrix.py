"""Clustering with products of matrices, a block of vectors at a time."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.kernel.errors import MissingExtraError

try:
    import numpy as np
except ImportError as missing:
    raise MissingExtraError("clustering by matrices", "local") from missing

_BLOCK = 512  # rows that are compared at once: bounds the memory of a product


def leaders(units: Sequence[Sequence[float]], cosine: float) -> list[int]:
    """For each vector, the index of the first leader that is similar enough."""
    rows = np.asarray(units, np.float64)
    found: list[int] = []
    heads: list[int] = []
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        known = np.array(heads, np.intp)
        near, inside = block @ rows[known].T >= cosine, block @ block.T >= cosine
        fresh: list[int] = []
        for k in range(len(block)):
            if near[k].any():
                found.append(int(known[near[k].argmax()]))
                continue
            hits = inside[k, fresh]
            if hits.any():
                found.append(start + fresh[int(hits.argmax())])
            else:
                fresh.append(k)
                found.append(start + k)
        heads += (start + k for k in fresh)
    return found
