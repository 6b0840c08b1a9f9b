"""Integrations with other frameworks: one file each, which imports the framework."""
