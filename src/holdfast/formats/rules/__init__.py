"""What vendors refuse: one class a reason, grouped by what it looks at; each has a case in ``tests/rejected/``."""
