"""What is still there after compression: ``python -m benchmarks.quality DIR [PART...]``."""
