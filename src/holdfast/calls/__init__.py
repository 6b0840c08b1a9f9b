"""How models and embedders are called: within limits, again where that helps, each call on record."""
