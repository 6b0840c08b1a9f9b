"""Plain functions over text that content kinds, compressors and memory share.

No protocol, no state.
"""
