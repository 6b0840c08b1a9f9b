"""Doors of other frameworks: one file each, which loads the framework."""
