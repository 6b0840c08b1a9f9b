"""Published designs under their own names: profiles as data, and what only one design does."""
