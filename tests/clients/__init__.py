"""Clients that ``make test-doors`` installs, as they are, against the tests' own provider."""
