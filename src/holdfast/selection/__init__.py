"""Decides what to keep: pieces of texts, the things in them, and their order of value."""
