"""Calls of models and embedders: limited, retried and recorded."""
