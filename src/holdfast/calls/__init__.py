"""How models and embedders are called.

Within limits, again where that helps, each call on record.
"""
