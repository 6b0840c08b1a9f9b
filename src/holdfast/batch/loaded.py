"""Imported once in the server from which the processes of a batch are forked."""

import gc

from holdfast.api import compress, sample

compress(sample(), 2_000)
gc.collect()
gc.freeze()  # so that their garbage collectors do not write to shared memory
