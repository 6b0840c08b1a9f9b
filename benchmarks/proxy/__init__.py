"""The proxy beside direct calls, and under load with a provider that fails."""
