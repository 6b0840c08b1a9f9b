"""What may go wrong at a vendor, beside what it refuses for good."""

from __future__ import annotations

from holdfast.kernel.errors import ModelError


class TransientError(ModelError):
    """A busy, broken or silent line: the same request may be answered later.

    ``retry_after`` is what the vendor asks to wait, in seconds, None if it does not say.
    """

    def __init__(self, problem: str, *, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(problem)
