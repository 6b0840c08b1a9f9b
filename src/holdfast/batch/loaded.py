"""What every process of a batch begins with: loaded once, where they are forked from."""

import gc

from holdfast.api import compress
from holdfast.samples import sample

compress(sample(), 2_000)
gc.collect()
gc.freeze()  # so that no collection of theirs writes to memory that they share
