"""What providers refuse: one class for each rule, with a refused request in ``tests/rejected/``."""
