"""Doors: real clients over real HTTP, to a provider of the tests on loopback."""
